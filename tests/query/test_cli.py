"""Asking as a person does: on the command line."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from strod import build
from strod.cli import slice as sliced
from strod.plots import draw
from strod.workspace.workspace import Workspace
from tests.conftest import check_error, strod
from tests.hands.conftest import BAD
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path


def asked(*arguments: object) -> dict[str, object]:
    outcome = strod(*arguments, "--json", "--quiet")
    assert outcome.code == 0, outcome.err
    found: dict[str, object] = json.loads(outcome.out)
    return found


def nasty(folder: Path) -> Path:
    """Texts that a spreadsheet would run, and numbers below 0."""
    records = [
        {"text": text, "k": ["=1+1", "-1"][n % 2], "-n": [-10, -20][n % 2]}
        for n, text in enumerate(planted_texts(60))
    ]
    meta = {"k": "category", "-n": "number"}
    return build(records, out=folder / "n.strod", meta=meta, children=2, height=1).path


def test_slice_in_json_csv_and_for_people(kept: Path, tmp_path: Path) -> None:
    found = asked("slice", kept, "--by", "year", "--level", 1)
    assert list(found) == ["by", "measure", "rows"]
    rows = found["rows"]
    assert isinstance(rows, list)
    assert list(rows[0]) == ["topic", "year", "documents", "share", "lift"]
    assert {row["topic"] for row in rows} == {"o/1", "o/2", "o/3"}
    outcome = strod("slice", kept, "--by", "year", "--level", 1, "--csv", "-q")
    table = list(csv.DictReader(io.StringIO(outcome.out)))
    assert [int(row["documents"]) for row in table] == [row["documents"] for row in rows]
    formulas = strod("slice", nasty(tmp_path), "--by", "k", "--by", "-n:10", "--csv", "-q").out
    head, *lines = csv.reader(io.StringIO(formulas))
    assert head == ["topic", "k", "'-n:10", "documents", "share", "lift"]
    assert {(line[1], line[2]) for line in lines} == {("'=1+1", "-10"), ("'-1", "-20")}
    shown = strod("slice", kept, "--by", "year", "--level", 1, "--measure", "documents", "-q").out
    assert shown.splitlines()[0].split() == ["1995", "1996", "1997", "1998", "1999", "2000"]
    assert len(shown.splitlines()) == 4
    several = strod("slice", kept, "--by", "year", "--by", "venue", "--topic", "o/1", "-q").out
    assert "o/1 (none)" in several


def test_a_long_expression(kept: Path) -> None:
    where = f"year IN ({','.join(map(str, range(1996, 3600)))})"
    found = asked("slice", kept, "--by", "year", "--level", 1, "--where", where)
    assert found == asked("slice", kept, "--by", "year", "--level", 1, "--where", "year >= 1996")


def test_an_index_with_the_build(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(planted_texts(100)))
    arguments = ["--children", 2, "--height", 1, "--out", tmp_path / "w.strod", "--index", "-q"]
    assert strod("build", tmp_path / "t.txt", *arguments).code == 0
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "w.strod/index").rglob("*.*")}
    assert {path.suffix for path in made} >= {".bin", ".json"}
    assert asked("search", tmp_path / "w.strod", "riveroaka")["total"]
    assert {path: path.stat().st_mtime_ns for path in made} == made


def test_slice_below_a_topic(kept: Path) -> None:
    rows = asked("slice", kept, "--by", "venue", "--topic", "o/2")["rows"]
    assert rows == asked("slice", kept, "o/2", "--by", "venue")["rows"]
    assert isinstance(rows, list)
    assert {row["topic"] for row in rows} == {"o/2", "o/2/1", "o/2/2", "o/2/3"}
    for more in ([], ["--json"], ["--csv"]):
        nothing = strod("slice", kept, "--by", "venue", "--where", "year = 1900", *more)
        check_error(nothing, "no document is meant", "fields: ", "venue")
    assert Workspace(kept).slice("venue", where="year = 1900").num_rows == 0


def test_trends(kept: Path) -> None:
    found = asked("trends", kept, "--field", "when:year")
    assert found["field"] == "when:year"
    rows = found["rows"]
    assert isinstance(rows, list)
    assert list(rows[0]) == ["topic", "slope", "low", "high", "series"]
    assert len(rows) == 12
    shown = strod("trends", kept, "--field", "year", "--phrases", 2, "-q").out.splitlines()
    assert shown[0] == "change of the odds a year, by year, 1995 to 2000"
    assert "phrases at their time:" in shown
    assert shown[1].split() == ["topic", "in", "2000", "change", "a", "year", "name"]
    assert len(shown) == 2 + 12 + 1 + 2
    below = asked("trends", kept, "o/2", "--field", "year")
    assert below == asked("trends", kept, "--topic", "o/2", "--field", "year")
    twice = strod("trends", kept, "o/2", "--topic", "o/1", "--field", "year")
    check_error(twice, "--topic is given twice")
    bins = strod("trends", kept, "--field", "price:25", "--phrases", 0, "-q").out
    assert bins.startswith("change of the odds a step of 25, by price:25, ")


def test_times_are_to_scale(kept: Path) -> None:
    where = "year != 1997 AND year != 1998"
    shown = strod("trends", kept, "--field", "year", "--where", where, "--phrases", 0, "-q").out
    lines = shown.splitlines()[2:]
    assert all(re.search(r"^o/\S+ +[▁-█]{2}  [▁-█]{2} ", line) for line in lines)
    figure = Workspace(kept).plot.trends("year", where=where)
    for axis in figure.axes[:12]:
        assert axis.lines[0].get_xdata().tolist() == [1995, 1996, 1999, 2000]
    long = strod("trends", kept, "--field", "when:month", "--phrases", 0, "-q").out.splitlines()
    assert long[0].endswith("; bars: the last 16")


def test_entities(kept: Path) -> None:
    outcome = strod("show", kept, "o/1", "--entities", "people", "--json")
    topics = json.loads(outcome.out)["topics"]
    assert all(0 < len(topic["entities"]) < 5 for topic in topics)  # those that stand for it
    assert all(score > 0 for topic in topics for _, score, _ in topic["entities"])
    name, score, documents = topics[0]["entities"][0]
    assert isinstance(name, str)
    assert isinstance(score, float)
    assert documents > 0
    assert f"{name} ({documents:,})" in strod("show", kept, "o/1", "--entities", "people").out
    found = asked("entity", kept, "people", "Ada")
    assert list(found) == ["field", "name", "documents", "topics"]
    assert "Ada: " in strod("entity", kept, "people", "Ada", "-q").out


@pytest.mark.parametrize("kind", ["tree", "trends", "heatmap"])
def test_plots(kept: Path, tmp_path: Path, kind: str) -> None:
    by = {"trends": ["--by", "when"], "heatmap": ["--by", "venue"]}.get(kind, [])
    for suffix, head in ((".svg", b"<?xml"), (".png", b"\x89PNG")):
        out = tmp_path / f"{kind}{suffix}"
        assert strod("plot", kept, kind, "--out", out, *by, "-q").code == 0
        first = out.read_bytes()
        assert first.startswith(head)
        assert strod("plot", kept, kind, "--out", out, *by, "-q").code == 0
        assert out.read_bytes() == first  # the same data, the same bytes
    topics = ["o/1", "o/2", "o/3"]
    assert all(path in (tmp_path / f"{kind}.svg").read_text() for path in topics)


def test_plots_beside_answers(kept: Path, tmp_path: Path) -> None:
    for command in (["slice", kept, "--by", "venue"], ["trends", kept, "--field", "when"]):
        outcome = strod(*command, "--plot", tmp_path / "x.svg", "-q")
        assert outcome.code == 0
        assert outcome.out == f"{tmp_path / 'x.svg'}: written\n"


@pytest.mark.parametrize(
    "arguments",
    [["plot", "--by", "year", "trends", "--out"], ["trends", "--field", "year", "--plot"]],
)
def test_topics_without_a_panel_are_said(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    verb, *more = arguments
    out, note = tmp_path / "x.svg", "5 of 12 topics, those whose direction is surest"
    assert not strod(verb, kept, *more, out, "-q").err
    assert "share of documents by year<" in out.read_text()
    monkeypatch.setattr(draw, "PANELS", 5)
    outcome = strod(verb, kept, *more, out, "-q")
    assert (outcome.code, outcome.out) == (0, f"{out}: written\n")
    assert outcome.err == f"{out}: {note}; --topic, --level or --where choose others\n"
    assert f"share of documents by year; {note}<" in out.read_text()


def test_as_many_columns_as_fit(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Workspace(kept).snapshot.index

    def shown(top: int | None, *, terminal: bool = True, by: str = "when:year") -> list[str]:
        console = Console(file=io.StringIO(), width=70, force_terminal=terminal, color_system=None)
        monkeypatch.setattr(sliced, "output", lambda: console)
        sliced._print(index, Workspace(kept).slice(by, level=1), [by], sliced.Shown(top=top))
        return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]

    table = Workspace(kept).slice("when:year", level=0).to_pylist()
    most = sorted(table, key=lambda row: -row["documents"])
    lines = shown(None)
    assert len(lines) == 5
    assert max(map(len, lines[:4])) <= 70
    names = lines[0].split()
    assert 0 < len(names) < len(table)
    assert lines[4] == f"… {len(table) - len(names)} more (--csv has all, --top N shows others)"
    counts = {str(row["when:year"] or "(none)"): row["documents"] for row in table}
    assert min(counts[name] for name in names) >= most[len(names)]["documents"]
    assert shown(2)[0].split() == [one for one in counts if one in shown(2)[0].split()]
    assert len(shown(2)[0].split()) == 2
    assert len(shown(None, terminal=False)) == 4
    assert len(shown(0)) > 5  # columns that do not fit go below
    assert shown(None, by="venue")[-1].startswith("o/3")


def test_searches_for_people(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path / "w.strod")
    strod("rename", tmp_path / "w.strod", "o/1", "the riveroaka of it", "-q")
    lines = strod("search", tmp_path / "w.strod", "riveroaka", "--limit", 1, "-q").out.splitlines()
    assert lines[1].split() == ["topic", "hits", "lift", "name"]
    assert any(line.startswith("by name or phrase: o/1 the riveroaka of it") for line in lines)
    for query, more in (("the", []), ("riveroaka", ["--where", "year = 1900"])):
        assert "by name" not in strod("search", tmp_path / "w.strod", query, *more, "-q").out
    assert strod("search", kept, "riverokaa", "-q").out.startswith(
        "0 documents\nriverokaa: no document has it; do you mean riveroaka"
    )
    assert strod("search", kept, "qqqq", "-q").out == "0 documents\n"
    help_text = " ".join(strod("search", "--help").out.split())
    assert "Lift is how many times as many hits" in help_text


REFUSED = {
    ("slice", "--by", "nobody"): "nobody: no such field; fields: people, price, venue, when, year",
    ("slice", "--by", "year", "--by", "year"): "--by takes one field or more, each once",
    ("slice", "--by", "year", "--level", "9"): "no topic has level 9; the deepest is 2",
    ("slice", "--by", "year", "--topic", "o/1", "--level", "0"): "no topic of o/1 has level 0, "
    "counted from the root; it has levels 1 to 2",
    ("slice", "--by", "year", "--topic", "o/9"): "o/9: no such topic; o has o/1",
    ("slice", "--by", "year", "--measure", "x"): "--measure must be one of documents, share, lift",
    ("slice", "--by", "people:3"): "people is a list, which has no parts",
    ("slice", "--by", "year", "--where", "people >= 3"): "--where: people is a list, which >=",
    ("slice", "--by", "year", "--by", "venue", "--plot", "x.svg"): "give --by once",
    ("slice", "--by", "year", "--plot", "x.txt"): "x.txt: give a name that ends in .png",
    ("trends", "--field", "venue"): "venue: is a category; trends go by a date or a number",
    ("entity", "people", "Nobody"): "Nobody: no document has it in people",
    ("entity", "year", "1999"): "entities are members of a list or a category; fields of names: ",
    ("plot", "circle", "--out", "x.svg"): "circle: no such plot; there are tree, trends, heatmap",
    ("plot", "tree", "--out", "x.jpg"): "x.jpg: give a name that ends in",
    ("plot", "tree", "--out", "x.svg", "--level", "1"): "the tree is drawn whole",
    ("show", "--entities", "when"): "when: is a date; entities are members of a list",
}  # fmt: skip


@pytest.mark.parametrize("arguments", REFUSED)
def test_bad_questions_are_refused_in_a_line(kept: Path, arguments: tuple[str, ...]) -> None:
    before = sorted(path.name for path in kept.iterdir())
    outcome = strod(arguments[0], kept, *arguments[1:])
    assert outcome.code == 2
    assert REFUSED[arguments] in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert not outcome.out
    assert sorted(path.name for path in kept.iterdir()) == before


def test_nothing_that_a_text_says_is_obeyed(tmp_path: Path) -> None:
    source = tmp_path / "s.jsonl"
    records = [
        {"id": f"{i}{BAD}", "text": f"{text} {BAD}", "k": f"{BAD}{i % 2}",
         "d": f"20{10 + i % 5}-01-01"}
        for i, text in enumerate(planted_texts(200))
    ]  # fmt: skip
    source.write_text("\n".join(map(json.dumps, records)))
    out = tmp_path / "w.strod"
    build = strod(
        "build", source, "--meta", "k", "--meta", "d", "--children", 2, "--out", out, "-q"
    )
    assert build.code == 0, build.err
    for command in (
        ["slice", out, "--by", "k"],
        ["slice", out, "--by", "k", "--csv"],
        ["slice", out, "--by", "k", "--json"],
        ["trends", out],
        ["entity", out, "k", f"{BAD}1"],
        ["entity", out, "k", f"{BAD}none"],
        ["show", out, "--entities", "k"],
        ["search", out, "riveroaka"],
        ["search", out, "riveroaka", "--json"],
        ["search", out, f"{BAD}"],
        ["search", out, f'"{BAD}'],
        ["slice", out, "--by", f"{BAD}"],
        ["slice", out, "--by", "k", "--where", f"{BAD} = 3"],
    ):
        outcome = strod(*command)
        assert outcome.code in (0, 2), outcome.err
        for letter in {one for one in BAD if not one.isprintable()} - {"\n"}:
            assert letter not in outcome.out + outcome.err, command


def test_python_says_the_same(workspace: Workspace) -> None:
    found = asked("slice", workspace.path, "--by", "venue")
    assert found["rows"] == workspace.slice("venue").to_pylist()
    assert found["rows"] == workspace.slice(["venue"]).to_pylist()
    frame = workspace.documents("o/1").to_pandas()
    assert list(frame.columns)[:4] == ["number", "id", "share", "leaf"]
    assert workspace.plot.tree().axes
    assert workspace.plot.heatmap("venue", "share", level=1).axes
    assert workspace.plot.trends("when", level=1).axes
