"""The journal: what is done stays done, whatever happens to the run."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from strod import DamagedError, UsageError
from strod.experiments.journal import Journal
from tests.conftest import names

if TYPE_CHECKING:
    from pathlib import Path

KEY = {"method": "strod", "documents": 5}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scalability.sqlite"


def ask(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """What the last of some statements gives."""
    with closing(sqlite3.connect(path)) as database, database:
        return [database.execute(statement).fetchall() for statement in statements][-1]


def test_what_was_added_is_found_by_the_next_run(path: Path) -> None:
    first = Journal(path, "code")
    assert first.find(KEY) is None
    assert names(path.parent) == []
    first.add(KEY, {"seconds": 1.5})
    first.add(KEY | {"documents": 6}, {"seconds": 2.5})
    again = Journal(path, "code")
    assert len(again) == 2
    assert again.find(dict(reversed(KEY.items()))) == {"seconds": 1.5}  # whatever the order
    assert again.find(KEY | {"documents": 7}) is None
    assert again.older == 0
    found = ask(path, "SELECT key, measured, code FROM cell ORDER BY number")
    assert [json.loads(str(measured))["seconds"] for _, measured, _ in found] == [1.5, 2.5]
    assert names(path.parent) == [path.name]  # one file, which can be sent to somebody


def test_texts_of_any_kind_are_found(path: Path) -> None:
    key, values = {"corpus": "é\0\ud800'\"; --"}, {"note": "\u2028\udfff", "seconds": float("inf")}
    Journal(path, "code").add(key, values)
    assert Journal(path, "code").find(key) == values


def test_other_code_is_counted(path: Path) -> None:
    Journal(path, "old").add(KEY, {"seconds": 1})
    journal = Journal(path, "new")
    assert journal.find(KEY) == journal.find(KEY) == {"seconds": 1}
    assert journal.older == 1  # however often it is asked for


def test_a_later_row_for_the_same_key_counts(path: Path) -> None:
    journal = Journal(path, "code")
    journal.add(KEY, {"seconds": 1})
    journal.add(KEY, {"seconds": 2})
    assert Journal(path, "code").find(KEY) == journal.find(KEY) == {"seconds": 2}


def test_fresh_measures_again_and_loses_nothing(path: Path) -> None:
    other = KEY | {"corpus": "other"}
    journal = Journal(path, "code")
    journal.add(KEY, {"seconds": 1})
    journal.add(other, {"seconds": 3000})
    fresh = Journal(path, "code", fresh=True)
    assert fresh.find(KEY) is None
    fresh.add(KEY, {"seconds": 2})
    assert fresh.find(KEY) == {"seconds": 2}
    assert fresh.find(other) is None
    after = Journal(path, "code")
    assert (after.find(KEY), after.find(other)) == ({"seconds": 2}, {"seconds": 3000})
    assert ask(path, "SELECT count(*) FROM cell") == [(3,)]  # what was measured before, too


def test_a_killed_run_loses_nothing_that_was_added(path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from strod.experiments.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]), 'code')\n"
        "for n in range(10**9): journal.add({'n': n}, {'value': n}); print(n, flush=True)"
    )
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(20):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        said = 20 + len(process.stdout.readlines())
    journal = Journal(path, "code")
    assert [journal.find({"n": n}) for n in range(said)] == [{"value": n} for n in range(said)]
    assert len(journal) in {said, said + 1}
    journal.add({"n": -1}, {"value": -1})
    assert names(path.parent) == [path.name]


def test_a_transaction_that_was_being_written_is_undone(path: Path) -> None:
    """As if killed in the middle: the database half written, beside it what was there before."""
    Journal(path, "code").add(KEY, {"seconds": 1})
    program = (
        "import os, signal, sqlite3, sys; database = sqlite3.connect(sys.argv[1])\n"
        "database.execute('PRAGMA cache_spill = 1'); database.execute('PRAGMA cache_size = 1')\n"
        "for n in range(2000): database.execute('INSERT INTO cell (key, measured, code) '\n"
        "    'VALUES (?, ?, ?)', (str(n) * 99, '{}', ''))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert names(path.parent) == [path.name, f"{path.name}-journal"]
    assert path.stat().st_size > 100_000
    journal = Journal(path, "code")
    assert (len(journal), journal.find(KEY)) == (1, {"seconds": 1})
    assert names(path.parent) == [path.name]


@pytest.mark.parametrize(
    "value", ["'[1]'", "'nonsense'", "''", "5", "x'7b7d'", "'" + "[" * 100_000 + "'"]
)
@pytest.mark.parametrize("fresh", [False, True])
def test_what_is_no_measurement_is_refused(path: Path, value: str, fresh: bool) -> None:
    Journal(path, "code").add(KEY, {"seconds": 1})
    ask(path, f"INSERT INTO cell (key, measured, code) VALUES ('k', {value}, 'c')")
    with pytest.raises(DamagedError, match=r"scalability.sqlite: row 2 is no measurement; move"):
        Journal(path, "code", fresh=fresh)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE other (x)",
        "CREATE TRIGGER t AFTER INSERT ON cell BEGIN DELETE FROM cell; END",
        "CREATE INDEX i ON cell (abs(number))",
        "CREATE VIEW v AS SELECT 1",
        "ALTER TABLE cell ADD COLUMN x AS (abs(number))",
    ],
)
def test_a_database_with_more_in_it_is_refused(path: Path, statement: str) -> None:
    """What is called when a row is read or written is ours."""
    journal = Journal(path, "code")
    journal.add(KEY, {"seconds": 1})
    ask(path, statement)
    for touch in (lambda: Journal(path, "code"), lambda: journal.add(KEY, {})):
        with pytest.raises(DamagedError, match="is no journal of experiments; move it away"):
            touch()
    assert ask(path, "SELECT count(*) FROM cell") == [(1,)]


def test_a_view_in_place_of_the_table_is_refused(path: Path) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x number FROM n"
    ask(path, f"CREATE VIEW cell AS {endless}")
    with pytest.raises(DamagedError, match="is no journal of experiments"):
        Journal(path, "code")


@pytest.mark.parametrize("end", [b"nonsense", b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_of_another_kind_is_refused(path: Path, end: bytes) -> None:
    path.write_bytes(end)
    with pytest.raises(DamagedError, match=r"scalability.sqlite: .*; move it away, and its cells"):
        Journal(path, "code", fresh=True)
    assert path.read_bytes() == end


def test_an_empty_file_is_a_journal_that_was_begun(path: Path) -> None:
    path.touch()
    journal = Journal(path, "code")
    assert len(journal) == 0
    journal.add(KEY, {"seconds": 1})
    assert len(Journal(path, "code")) == 1


def test_the_journal_of_an_older_version_is_named(path: Path) -> None:
    old = path.with_suffix(".jsonl")
    old.write_text('{"key": {}, "values": {}, "code": "c"}\n')
    with pytest.raises(UsageError, match=r"scalability.jsonl: is a journal of an older version"):
        Journal(path, "code", fresh=True)
    old.rename(path.with_name("old"))
    Journal(path, "code").add(KEY, {})
    path.with_name("old").rename(old)
    assert len(Journal(path, "code")) == 1  # there is a new one: the old one does not matter


def test_a_folder_that_is_gone(path: Path) -> None:
    journal = Journal(path / "missing" / "x.sqlite", "code")
    with pytest.raises(UsageError, match="cannot be read and written: unable to open"):
        journal.add(KEY, {})
