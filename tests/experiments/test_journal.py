"""The journal: what is done stays done, whatever happens to the run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strod import DamagedError, UsageError
from strod.experiments.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

KEY = {"method": "strod", "documents": 5}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scalability.jsonl"


def test_what_was_added_is_found_by_the_next_run(path: Path) -> None:
    first = Journal(path, "code")
    assert first.find(KEY) is None
    first.add(KEY, {"seconds": 1.5})
    first.add(KEY | {"documents": 6}, {"seconds": 2.5})
    again = Journal(path, "code")
    assert len(again) == 2
    assert again.find(dict(reversed(KEY.items()))) == {"seconds": 1.5}  # whatever the order
    assert again.find(KEY | {"documents": 7}) is None
    assert again.older == 0
    lines = path.read_text().splitlines()
    assert [json.loads(line)["values"]["seconds"] for line in lines] == [1.5, 2.5]


def test_other_code_is_counted(path: Path) -> None:
    Journal(path, "old").add(KEY, {"seconds": 1})
    journal = Journal(path, "new")
    assert journal.find(KEY) == journal.find(KEY) == {"seconds": 1}
    assert journal.older == 1  # however often it is asked for


def test_a_line_that_was_being_written_is_dropped(path: Path) -> None:
    Journal(path, "code").add(KEY, {"seconds": 1})
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:20])
    journal = Journal(path, "code")
    assert len(journal) == 1
    journal.add(KEY | {"documents": 6}, {"seconds": 2})
    assert len(Journal(path, "code")) == 2
    assert path.read_bytes().startswith(whole)


def test_a_later_line_for_the_same_key_counts(path: Path) -> None:
    journal = Journal(path, "code")
    journal.add(KEY, {"seconds": 1})
    journal.add(KEY, {"seconds": 2})
    assert Journal(path, "code").find(KEY) == {"seconds": 2}


@pytest.mark.parametrize("line", [b"[1]", b"nonsense", b'{"key": {}}', b'{"key": 1, "values": {}}'])
def test_what_is_no_measurement_is_refused(path: Path, line: bytes) -> None:
    Journal(path, "code").add(KEY, {"seconds": 1})
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(DamagedError, match=r"scalability.jsonl:2: is no measurement"):
        Journal(path, "code")


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


@pytest.mark.parametrize("end", [b"", b'{"key": '])
def test_fresh_mends_a_damaged_journal(path: Path, end: bytes) -> None:
    Journal(path, "code").add(KEY, {"seconds": 1})
    path.write_bytes(b"nonsense\n" + path.read_bytes() + end)
    Journal(path, "code", fresh=True).add({"n": 2}, {"seconds": 2})
    after = Journal(path, "code")
    assert (after.find(KEY), after.find({"n": 2})) == ({"seconds": 1}, {"seconds": 2})


def test_a_folder_that_is_gone(path: Path) -> None:
    journal = Journal(path / "missing" / "x.jsonl", "code")
    with pytest.raises(UsageError, match="cannot be written"):
        journal.add(KEY, {})
