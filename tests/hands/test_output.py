"""Output stays text: nothing that a file says is obeyed by a terminal."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import networkx as nx  # type: ignore[import-untyped]
import pytest
from rdflib import Graph
from rdflib.namespace import SKOS

from strod.cli.console import guard_streams, one_line
from strod.store.schema import replace
from strod.wording import escaped, harmless, line, numbered
from strod.workspace.workspace import Workspace
from tests.conftest import Outcome, json_lines, names, strod, strod_process
from tests.hands.conftest import BAD
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

CONTROL = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]"
)


def check_text(outcome: Outcome, code: int = 0) -> None:
    assert outcome.code == code, outcome.err
    for text in (outcome.out, outcome.err):
        assert CONTROL.findall(text) == [], text[:2000]


COMMANDS: dict[str, list[Any]] = {
    "show": ["show"],
    "ids": ["show", "--ids", "--words", 3],
    "documents": ["show", "o/1", "--documents", 2],
    "json": ["show", "--json", "--documents", 1],
    "history": ["history"],
    "assign": ["assign"],
    "check": ["check"],
    "evaluate": ["evaluate", "--labels", "kind"],
    "evaluate json": ["evaluate", "--json"],
    "compact": ["compact", "--dry-run"],
    "rename": ["rename", "o/2", f"other{BAD}", "--dry-run"],
    "undo": ["undo", "--dry-run"],
    "merge": ["merge", "o/1", "o/2", "--dry-run"],
    "expand": ["expand", "o", "--children", 2, "--dry-run"],
    "collapse": ["collapse", "o/1", "--dry-run"],
    "move": ["move", "o/1/1", "o/2", "--dry-run"],
    "exported json": ["export", "--to", "json", "--documents", 1],
    "exported markdown": ["export", "--to", "markdown"],
    "exported graphml": ["export", "--to", "graphml"],
    "exported skos": ["export", "--to", "skos"],
    "exported html": ["export", "--to", "html"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands(hostile: Path, name: str) -> None:
    verb, *arguments = COMMANDS[name]
    check_text(strod(verb, hostile, *arguments))


REFUSED: dict[str, list[Any]] = {
    "no such topic": ["show", f"o/1{BAD}"],
    "no such child": ["show", "o/9"],
    "no such field": ["evaluate", "--labels", f"kind{BAD}"],
    "no such format": ["export", "--to", BAD],
    "nothing to redo": ["redo"],
    "no such source": ["assign", f"none{BAD}.jsonl"],
    "a name that is taken": ["rename", "o/2", f"name{BAD}"],
    "wrong number": ["expand", "o/1", "--children", BAD],
    "unknown option": ["show", f"--{BAD}"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors(hostile: Path, name: str) -> None:
    verb, *arguments = REFUSED[name]
    outcome = strod(verb, hostile, *arguments)
    check_text(outcome, 2)
    assert len(outcome.err.splitlines()) == 1


def test_other_errors(hostile: Path, tmp_path: Path) -> None:
    check_text(strod("show", tmp_path / f"none{BAD}.strod"), 2)
    check_text(strod(f"sho{BAD}"), 2)
    copy = shutil.copytree(hostile, tmp_path / f"w{BAD}.strod")
    report = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps(report | {"version": 99, "writer": BAD}))
    check_text(strod("show", copy), 1)


def test_building_and_adding(tmp_path: Path) -> None:
    texts = planted_texts(60)
    records = [{"id": f"{i}{BAD}", "text": text, BAD: "x"} for i, text in enumerate(texts)]
    bad = [{"id": f"x{BAD}", "text": ""}, {"id": "y", "other": ""}] * 20
    source = tmp_path / f"t{BAD}.jsonl"
    source.write_bytes(json_lines(*records, *bad))
    out = tmp_path / f"w{BAD}.strod"
    built = strod("build", source, "--out", out, "--meta", f"{BAD}:category", "--children", 3)
    check_text(built)
    assert "left out" in built.err
    check_text(strod("add", out, source), 2)  # it names ids
    check_text(strod("add", out, source, "--replace", "--note", BAD))
    check_text(strod("assign", out, source))
    check_text(strod("build", source, "--out", out), 2)


def test_a_study(hostile: Path, tmp_path: Path) -> None:
    page = tmp_path / f"s{BAD}.html"
    check_text(strod("intrusion", "make", hostile, "--out", page, "--questions", 2))
    [key] = [path for path in tmp_path.iterdir() if path.name.endswith(".key.json")]
    study = json.loads(key.read_text())["study"]
    answers = tmp_path / "a.json"
    answers.write_text(json.dumps({"study": study, "judge": BAD, "answers": {}}))
    for arguments in ([], ["--json"]):
        scored = strod("intrusion", "score", answers, "--key", key, *arguments)
        check_text(scored, scored.code)


def test_colours_on_a_terminal_are_strods_own(hostile: Path) -> None:
    environment = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "200"}
    shown = strod_process("show", hostile, "--documents", 1, environment=environment)
    assert "\x1b[1m" in shown.out  # a path in bold
    for payload in ("\x1b]0;", "\x1b[31m", "\x9b", "\u202e", "\u2066", "\x07"):
        assert payload not in shown.out


def test_a_name_of_two_lines_is_shown_in_one(hostile: Path) -> None:
    lines = strod("show", hostile).out.splitlines()
    assert len(lines) == 1 + len(Workspace(hostile).tree)
    assert any("name␛]0;owned" in line and "␊" in line for line in lines)


def test_data_stays_what_it_was(hostile: Path, tmp_path: Path) -> None:
    """JSON gives by their numbers what a terminal would obey."""
    assert strod("export", hostile, "--to", "json", "--out", tmp_path / "t.json").code == 0
    topics = json.loads((tmp_path / "t.json").read_text())["topics"]
    assert f"name{BAD}" in [topic["label"] for topic in topics]
    rows = [json.loads(line) for line in strod("assign", hostile).out.splitlines()]
    assert rows[7]["id"] == f"7{BAD}"
    assert rows[7]["meta"] == {"kind": f"{BAD}1"}


def test_turtle(hostile: Path) -> None:
    text = Workspace(hostile).export("skos")
    assert text is not None
    labels = {
        str(one) for one in Graph().parse(data=text, format="turtle").objects(None, SKOS.prefLabel)
    }
    assert f"name{BAD}" in labels


@pytest.mark.parametrize(
    "language", ['en . <urn:evil> a <urn:Pwned> . <urn:x> <urn:y> "z"@en', "x_"]
)
def test_a_language_that_is_none(workspace: Workspace, language: str) -> None:
    about = workspace.manifest.corpus
    settings = replace(about.settings, language=language)
    corpus = replace(about, settings=settings)
    workspace.snapshot.manifest = replace(workspace.manifest, corpus=corpus)
    text = workspace.export("skos")
    assert text is not None
    graph = Graph().parse(data=text, format="turtle")
    assert "urn:evil" not in {str(subject) for subject in graph.subjects()}
    assert len(set(graph.subjects())) == len(workspace.tree) + 1


def test_ids_that_break_out(workspace: Workspace, tmp_path: Path) -> None:
    evil = workspace.tree["o/1"]
    evil.id = "x> a <urn:Evil> . <urn:z\x01"
    text = workspace.export("skos")
    assert text is not None
    graph = Graph().parse(data=text, format="turtle")
    assert "urn:Evil" not in {str(one) for one in graph.objects()}
    (tmp_path / "g.graphml").write_text(str(workspace.export("graphml")))
    assert len(nx.read_graphml(tmp_path / "g.graphml")) == len(workspace.tree)


def test_markdown_is_clean_in_a_file(hostile: Path, tmp_path: Path) -> None:
    assert strod("export", hostile, "--to", "markdown", "--out", tmp_path / "t.md").code == 0
    assert CONTROL.findall((tmp_path / "t.md").read_text()) == []


def test_wording() -> None:
    assert line("a\x1b\n\x7f\x9b\u202eb") == "a␛␊␡\ufffd\ufffdb"
    assert harmless("a\n\x1bb\n") == "a\n␛b\n"
    assert json.loads(escaped(json.dumps(BAD, ensure_ascii=False))) == BAD
    assert numbered("é\n\x9b") == r"é\u000a\u009b"
    persian = "می\u200cخواهم"  # written with a mark that is part of the word
    assert line(persian) == persian
    assert one_line(7) == 7


def test_the_door_is_for_both_streams(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    import sys  # noqa: PLC0415

    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    guard_streams()
    print("\x1b[31m")
    print("\x9b", file=sys.stderr)
    monkeypatch.undo()
    found = capsys.readouterr()
    assert (found.out, found.err) == ("␛[31m\n", "\ufffd\n")


# -- where exports go --------------------------------------------------------------------


def test_an_export_replaces_regular_files_only(workspace: Workspace, tmp_path: Path) -> None:
    import os  # noqa: PLC0415

    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    before = names(tmp_path)
    for name in ("pipe", "link"):
        arguments = ["--to", "json", "--out", tmp_path / name, "--overwrite"]
        refused = strod("export", workspace.path, *arguments)
        assert (refused.code, "pipe: is no regular file" in refused.err) == (2, True)
    assert (tmp_path / "pipe").is_fifo()
    assert names(tmp_path) == before


def test_a_link_is_named_with_what_is_behind_it(workspace: Workspace, tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("precious")
    link.symlink_to(real)
    arguments = ["export", workspace.path, "--to", "json", "--out", link]
    refused = strod(*arguments)
    assert refused.code == 2
    assert f"{link} (a link to {real.resolve()}): exists already" in refused.err
    done = strod(*arguments, "--overwrite", "-q")
    assert done.code == 0
    assert link.is_symlink()
    assert real.read_text().startswith("{")
    told = strod(*arguments, "--overwrite")
    assert told.out.startswith(f"{link} (a link to {real.resolve()}): ")


def test_tables_of_ones_own_are_not_replaced(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    arguments = ["export", workspace.path, "--to", "csv", "--out", folder, "--overwrite", "-q"]
    assert strod(*arguments).code == 0
    assert strod(*arguments).code == 0  # its own
    (folder / "topics.csv").write_text("mine,alone\n1,2\n")
    refused = strod(*arguments)
    assert (refused.code, "not a folder that an export made" in refused.err) == (2, True)
    assert (folder / "topics.csv").read_text() == "mine,alone\n1,2\n"
