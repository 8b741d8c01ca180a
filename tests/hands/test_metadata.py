"""Metadata that was kept comes out again, and is not taken for labels that it is not."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

from strod.workspace.workspace import Workspace
from tests.conftest import check_error, strod

if TYPE_CHECKING:
    from pathlib import Path

FIRST = {"date": "2020-01-01", "n": 0.0, "label": "art", "tags": ["x", "y"], "way": ["a"]}


def expected(number: int) -> dict[str, Any]:
    return {
        "date": f"2020-01-{1 + number % 28:02d}",
        "n": float(number),
        "label": ["art", "law", None][number % 3],
        "tags": [["x", "y"], ["y", "z", "x"], ["z"]][number % 3],
        "way": [["a"], ["a", "b"], ["c", "d"]][number % 3],
    }


def test_assign(kept: Path) -> None:
    rows = [json.loads(line) for line in strod("assign", kept).out.splitlines()]
    assert len(rows) == 300
    for number, row in enumerate(rows):
        assert list(row) == ["id", "leaf", "known", "fit", "topics", "meta"]
        assert row["meta"] == expected(number)
    new = json.loads(strod("assign", kept, "-", stdin=b"clouda cloudb\n").out)
    assert list(new) == ["id", "leaf", "known", "fit", "topics"]  # nothing is kept of new text


def test_assign_without_metadata(tree_workspace: Path) -> None:
    row = json.loads(strod("assign", tree_workspace).out.splitlines()[0])
    assert list(row) == ["id", "leaf", "known", "fit", "topics"]


def test_show(kept: Path) -> None:
    lines = strod("show", kept, "o/1", "--depth", 0, "--documents", 3).out.splitlines()[2:]
    assert len(lines) == 3
    for line in lines:
        number = int(line.split()[1].removeprefix("d"))
        assert f"[date: {expected(number)['date']}; " in line
        assert f"n: {number}; tags: {', '.join(expected(number)['tags'])}; " in line
        assert ("label: " in line) == (number % 3 != 2)  # what is not there is not shown
    shown = json.loads(strod("show", kept, "--documents", 1, "--json").out)
    [example] = shown["topics"][1]["examples"]
    assert example["meta"] == expected(int(example["id"].removeprefix("d")))


def test_tables(kept: Path, tmp_path: Path) -> None:
    assert strod("export", kept, "--to", "csv", "--out", tmp_path / "t", "-q").code == 0
    with (tmp_path / "t" / "documents.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    tree = Workspace(kept).tree
    for row in rows:
        meta = expected(int(row["id"].removeprefix("d")))
        assert row["label"] == tree[row["path"]].label  # the topic's
        assert row["meta.label"] == (meta["label"] or "")  # the document's
        assert row["meta.date"] == meta["date"]
        assert float(row["meta.n"]) == meta["n"]
        assert row["meta.tags"] == ", ".join(meta["tags"])


def test_page_and_json(kept: Path, tmp_path: Path) -> None:
    page = Workspace(kept).export("html", documents=2)
    assert page is not None
    assert '<span class="meta" dir="auto">date: 2020-01-' in page
    out = tmp_path / "t.json"
    assert strod("export", kept, "--to", "json", "--documents", 2, "--out", out, "-q").code == 0
    topics = json.loads(out.read_text())["topics"]
    assert [len(topic["examples"]) for topic in topics] == [0, *[2] * (len(topics) - 1)]
    one = topics[1]["examples"][0]
    assert one["meta"] == expected(int(one["id"].removeprefix("d")))
    assert "examples" not in json.loads(str(Workspace(kept).export("json")))["topics"][1]


@pytest.mark.parametrize(
    ("field", "phrase"),
    [
        ("date", "--labels date: dates are no labels"),
        ("tags", "--labels tags: its lists are no paths"),
    ],
)
def test_what_is_no_label(kept: Path, field: str, phrase: str) -> None:
    check_error(strod("evaluate", kept, "--labels", field, "-q"), phrase, "give a field")


@pytest.mark.parametrize("field", ["label", "way"])
def test_labels_and_paths(kept: Path, field: str) -> None:
    outcome = strod("evaluate", kept, "--labels", field, "-q")
    assert outcome.code == 0, outcome.err
    assert f"depth of {field}" in outcome.out
