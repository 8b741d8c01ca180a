"""What `add` and `assign` say of documents that fit no topic, in Python and on the command line."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from scipy.stats import binom

from strod.errors import UsageError
from strod.export.assigned import assigned_table, write_table
from strod.workspace.drift import growth_interval
from tests.conftest import check_error, json_lines
from tests.conftest import strod as run
from tests.drift.conftest import NEW, own_texts, records, strange_texts

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.workspace import Workspace


def test_add_says_which_fit_no_topic(workspace: Workspace) -> None:
    new = [*records(own_texts(), "own"), *records(strange_texts(), "new")]
    expected = [row["id"] for row in workspace.assign(new) if row["fit"] < 0.04]
    found = workspace.add(new)
    assert found.strangers == expected
    assert sum(name.startswith("new") for name in found.strangers) >= 0.9 * NEW
    assert sum(name.startswith("own") for name in found.strangers) <= 0.1 * NEW
    assert found.usual == 0.04
    assert found.words
    assert all(word.startswith(("iron", "copper", "gold")) for word in found.words)


def test_added_documents_are_told_as_before(workspace: Workspace) -> None:
    """Unknown words are known to be unknown after they were added, too."""
    new = records(strange_texts(), "new")
    before = list(workspace.assign(new))
    workspace.add(new)
    assert list(workspace.assign())[-NEW:] == before


def test_add_on_the_command_line(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "new.jsonl"
    source.write_bytes(json_lines(*records(strange_texts(), "new")))
    told = run("add", workspace.path, source, "--dry-run", "-q").out
    assert f" of {NEW} fit no topic (new" in told
    assert "; usual is 4%; they speak of " in told
    assert run("add", workspace.path, source, "-q").out == told.replace("would add", "added")
    source.write_bytes(json_lines(*records(own_texts(4)[1:], "own")))
    assert "\nall of them fit\n" in run("add", workspace.path, source, "--dry-run", "-q").out


def test_one_document_is_no_growth(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "new.jsonl"
    source.write_bytes(json_lines({"id": "x", "text": "riveroaka riveroakb riverc riverd"}))
    found = workspace.add(str(source), dry_run=True)
    assert max(found.growth.values()) > 3
    assert all(low <= 1 <= high for low, high in found.intervals.values())
    assert "grows" not in run("add", workspace.path, source, "--dry-run", "-q").out
    many = [{"id": f"x{i}", "text": "riveroaka riveroakb riverc riverd"} for i in range(40)]
    source.write_bytes(json_lines(*many))
    found = workspace.add(many, dry_run=True)
    for name, (low, high) in found.intervals.items():
        assert low <= found.growth[name] <= high
    assert "grows: o/" in run("add", workspace.path, source, "--dry-run", "-q").out


@pytest.mark.parametrize(("hits", "size"), [(0, 5), (1, 1), (3, 40), (40, 40)])
def test_intervals_are_those_of_the_binomial(hits: int, size: int) -> None:
    """At its ends what was seen, or more extreme, has half the chance of doubt."""
    low, high = growth_interval(hits / size, 1.0, size, 10)
    doubt = 0.05 / 10 / 2
    if hits:
        assert binom.sf(hits - 1, size, low) == pytest.approx(doubt, rel=1e-6)
    else:
        assert low == 0
    if hits < size:
        assert binom.cdf(hits, size, high) == pytest.approx(doubt, rel=1e-6)
    else:
        assert high == 1


def test_empty_lines_keep_their_place(workspace: Workspace) -> None:
    text = "rivera riverb\n\n  \nunheardof\nstonea stoneb\n"
    outcome = run("assign", workspace.path, "-", "-q", stdin=text.encode())
    rows = [json.loads(line) for line in outcome.out.splitlines()]
    assert [row["id"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row["known"] for row in rows] == [2, 0, 0, 0, 2]
    assert [row["leaf"] is None for row in rows] == [False, True, True, True, False]
    assert [row["fit"] for row in rows][1:3] == [0, 0]
    assert "no word of the model in 3 documents: they have no leaf" in outcome.err
    assert list(workspace.assign(text.splitlines())) == rows


def test_assign_says_how_many_fit_no_topic(workspace: Workspace) -> None:
    text = "\n".join(strange_texts(20)).encode()
    told = run("assign", workspace.path, "-", "-q", stdin=text).err
    assert "20 of 20 documents fit no topic (1, 2, 3, …), fit below 0.04; usual is 4%" in told
    own = "\n".join(own_texts(6)[1:]).encode()  # the first is one of the 4%
    assert run("assign", workspace.path, "-", "-q", stdin=own).err == ""


def test_least_and_top(workspace: Workspace) -> None:
    every = list(workspace.assign(own_texts()))
    some = list(workspace.assign(own_texts(), least=0.2))
    for all_of_it, row in zip(every, some, strict=True):
        kept = {path: share for path, share in all_of_it["topics"].items() if share >= 0.2}
        assert row == all_of_it | {"topics": kept}
    best = list(workspace.assign(own_texts(), top=1))
    for all_of_it, row in zip(every, best, strict=True):
        for level in (1, 2):
            here = {p: s for p, s in all_of_it["topics"].items() if p.count("/") == level}
            told = {p: s for p, s in row["topics"].items() if p.count("/") == level}
            assert told == dict([max(here.items(), key=lambda pair: pair[1])])
    corpus = list(workspace.assign(least=0.05, top=2))
    assert all(min(row["topics"].values()) >= 0.05 for row in corpus)
    line = run("assign", workspace.path, "--least", 0.05, "--top", 2, "-q").out.splitlines()[3]
    assert json.loads(line) == corpus[3]
    with pytest.raises(UsageError, match="least must be a share from 0 to 1"):
        workspace.assign(own_texts(), least=2)
    check_error(run("assign", workspace.path, "--top", -1, "-q"), "--top must be 0 (all) or more")


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_tables(workspace: Workspace, tmp_path: Path, to: str, wide: bool) -> None:
    out, texts = tmp_path / f"t.{to}", ["rivera riverb", "unheardof", "stoneoaka clouda"]
    (tmp_path / "a.txt").write_text("\n".join(texts))
    given = ["--wide"] if wide else []
    arguments = ["assign", workspace.path, tmp_path / "a.txt", "--to", to, "--out", out, "-q"]
    assert run(*arguments, *given).out == ""
    rows = list(workspace.assign(texts))
    if to == "csv":
        with out.open(newline="") as file:
            table = list(csv.DictReader(file))
    else:
        table = pq.read_table(out).to_pylist()
    paths = [path for path in workspace.tree if path != "o"]
    if wide:
        assert len(table) == len(rows)
        for line, row in zip(table, rows, strict=True):
            shares = {path: float(line[path]) for path in paths}
            assert shares == dict.fromkeys(paths, 0.0) | row["topics"]
    else:
        found = [(line["id"], line["topic"], float(line["share"])) for line in table]
        assert found == [(r["id"], path, s) for r in rows for path, s in r["topics"].items()]
    first = table[0]
    assert (first["leaf"], int(first["known"])) == (rows[0]["leaf"], 2)
    assert float(first["fit"]) == rows[0]["fit"]
    check_error(run(*arguments, *given), "exists already")
    assert run(*arguments, *given, "--overwrite").code == 0


def test_what_cannot_be_written(workspace: Workspace, tmp_path: Path) -> None:
    check_error(run("assign", workspace.path, "--to", "xlsx", "-q"), "jsonl, csv, parquet")
    check_error(run("assign", workspace.path, "--to", "csv", "-q"), "give --out")
    check_error(run("assign", workspace.path, "--wide", "-q"), "--wide is for csv and parquet")
    with pytest.raises(UsageError, match="csv or parquet, not xlsx"):
        write_table(assigned_table(workspace, iter(())), tmp_path / "t", "xlsx")
    out = tmp_path / "t.jsonl"
    assert run("assign", workspace.path, "--out", out, "-q").out == ""
    assert out.read_text() == run("assign", workspace.path, "-q").out
