"""What verbs promise, read as a person reads it: line by line on the command line.

`test_promises_python.py` has the same in Python; the numbers behind it are tested elsewhere.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from strod.workspace.workspace import Workspace
from tests.conftest import check_error, json_lines
from tests.conftest import strod as run
from tests.planted_text import planted_texts
from tests.revise.seen import files_of
from tests.revise.test_preview import parsed, said

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # nobody pulls the plug here


def share(weight: float) -> str:
    return f"{100 * weight:.1f}%"


def warnings_of(*arguments: object) -> list[str]:
    """Warnings, without the word."""
    lines = said(*arguments, "--dry-run")
    return [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")]


def shown(path: Path) -> dict[str, str]:
    """Lines of `show` by path."""
    lines = run("show", path).out.splitlines()[1:]
    found = (re.search(r"o(?:/\d+)*", line) for line in lines)
    return {match[0]: match.string[match.end() :] for match in found if match}


# -- one preview for all verbs -----------------------------------------------------------


def test_what_is_new_changed_and_gone(planted: Path) -> None:
    tree = Workspace(planted).tree
    lines = said("remove", planted, "o/1/1", "--dry-run")
    assert lines[0] == "would remove o/1/1: 2 changed, 1 gone"
    assert lines[1] == "9 other topics compared: all would stay as they are"
    for line, path in zip(lines[2:], ("o/1/2", "o/1/3"), strict=False):
        topic = tree[path]
        assert re.match(rf"{path} {share(topic.weight)} -> \d+\.\d% {topic.id}  cloud", line)
    assert f"gone: o/1/1 ({tree['o/1/1'].label})" in lines


def test_all_may_change(workspace: Workspace) -> None:
    lines = said("remove", workspace.path, "o/2", "--dry-run")
    assert lines[1] == "no other topic would stay as it is"
    assert said("remove", workspace.path, "o/2")[1] == "no other topic is as it was"


def test_what_is_joined(planted: Path) -> None:
    first, second = (Workspace(planted).tree[path] for path in ("o/1/1", "o/1/2"))
    parts = " + ".join(f"{one.label} ({one.path}, {share(one.weight)})" for one in (first, second))
    assert f"o/1/4 = {parts}" in said("merge", planted, "o/1/1", "o/1/2", "--dry-run")


def test_what_is_moved(planted: Path) -> None:
    tree = Workspace(planted).tree
    lines = said("move", planted, "o/1", "o/2", "--dry-run")
    moved = [line for line in lines if " is now " in line]
    assert moved == [
        f"{path} is now o/2/4{path.removeprefix('o/1')}  {tree[path].label}"
        for path in ("o/1", "o/1/1", "o/1/2", "o/1/3")
    ]


def test_what_is_lost_below(planted: Path) -> None:
    tree = Workspace(planted).tree
    below = [f"o/2/{number} ({tree[f'o/2/{number}'].label})" for number in (1, 2, 3)]
    assert f"gone: o/2 ({tree['o/2'].label})" in said("remove", planted, "o/2", "--dry-run")
    assert f"lost below: {', '.join(below)}" in said("remove", planted, "o/2", "--dry-run")
    assert f"gone: {', '.join(below)}" in said("collapse", planted, "o/2", "--dry-run")


def test_warnings_are_lines(workspace: Workspace) -> None:
    """Of each kind one."""
    path, tree = workspace.path, workspace.tree
    said("rename", path, "o/1/2", "mine")
    [double] = warnings_of("remove", path, "o/1/1", "--into", "o/1/3")
    assert re.fullmatch(r"o/1/3 \(.+\) more than doubles: 10\.\d% -> 24\.\d%", double)
    lost, *small = warnings_of("expand", path, "o/1", "--children", 6, "--force")
    assert lost == "o/1/2 (mine) was named by somebody, and goes"
    assert re.fullmatch(r"o/1/6 \(.+\) has \d+ effective documents only", small[0])
    names = warnings_of("move", path, "o/3", "o/1/2")
    assert any(re.match(r"o/1/2 \(mine\) no longer fits its name: it says \w+", n) for n in names)
    said("move", path, "o/1/1", "o/2")
    found = warnings_of("move", path, "o/1/2", "o/2")
    assert re.fullmatch(r"o/1 \(.+\) loses more than half: \d+\.\d% -> \d+\.\d%", found[0])
    assert re.fullmatch(r"o/1/3 \(.+\) has 100\.0% of its parent", found[1])
    assert tree["o/1/2"].id in {one["topic"] for one in _json_warnings(path)}


def _json_warnings(path: Path) -> list[dict[str, str]]:
    warnings: list[dict[str, str]] = parsed("move", path, "o/3", "o/1/2", "--dry-run")["warnings"]
    return warnings


def test_undo_and_redo_say_what_they_give_back(workspace: Workspace, tmp_path: Path) -> None:
    more = tmp_path / "more.jsonl"
    more.write_bytes(
        json_lines(*({"id": f"n{i}", "text": t} for i, t in enumerate(planted_texts(30))))
    )
    said("add", workspace.path, more)
    assert said("undo", workspace.path, "--dry-run")[0] == (
        "would undo (add 30 documents): 30 documents are out again"
    )
    assert parsed("undo", workspace.path)["documents"] == -30
    assert said("redo", workspace.path)[0] == "redo (add 30 documents): 30 documents are back"
    weight = share(workspace.tree["o/1/2"].weight)
    said("remove", workspace.path, "o/1/1")
    lines = said("undo", workspace.path)
    assert lines[0] == "undo (remove o/1/1): 1 new, 2 changed"
    assert any(re.match(rf"o/1/2 \d+\.\d% -> {weight} ", line) for line in lines)
    [rest] = [line for line in lines if line.endswith("% -> 0.0% in none of its children")]
    assert "o/1 (" in rest
    assert any(re.match(r"o/1/\d is called .+ now; it was .+", line) for line in lines)


def test_an_addition_for_programs(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "new.jsonl"
    source.write_bytes(json_lines({"id": "x", "text": "unheardof words"}))
    planned = parsed("add", workspace.path, source, "--dry-run")
    done = parsed("add", workspace.path, source)
    assert (planned.pop("applied"), done.pop("applied")) == (False, True)
    assert planned == done
    assert (done["documents"], done["strangers"], done["unknown"]) == (1, ["x"], 1.0)
    names = {topic.id for topic in workspace.tree.values()}
    assert done["growth"].keys() == done["intervals"].keys() == names


# -- expand, move ------------------------------------------------------------------------


def test_expand_keeps_the_height(planted: Path) -> None:
    lines = said("expand", planted, "o", "--children", 2, "--dry-run")
    assert lines[0] == "would expand o --children 2: 1 new, 2 gone"
    assert not [line for line in lines if line.startswith(("gone", "lost"))]
    assert any(line.startswith("o/2/1 is now o/4/") for line in lines)
    told = f"strod expand {planted} o --children 2 --fresh learns anew"
    assert lines[-1] == f"children are joined; {told}"
    flat = said("expand", planted, "o", "--children", 2, "--height", 1, "--dry-run")
    assert flat[0] == "would expand o --children 2 --height 1: 1 new, 11 gone"
    fresh = said("expand", planted, "o", "--children", 2, "--fresh", "--dry-run")
    assert not any(" = " in line or "joined" in line for line in fresh)
    assert any(re.match(r"o/\d+/\d+ ", line) for line in fresh)


def test_a_leaf_says_what_becomes_of_it(planted: Path) -> None:
    leaf, moved = (Workspace(planted).tree[path] for path in ("o/2/2", "o/1/1"))
    lines = said("move", planted, "o/1/1", "o/2/2", "--dry-run")
    [own] = [line.split()[0] for line in lines if line.startswith("o/2/2/") and " is what " in line]
    assert f"{own} is what o/2/2 ({leaf.label}) was" in lines
    [former] = parsed("move", planted, "o/1/1", "o/2/2", "--dry-run")["former_leaves"]
    assert (former["path"], former["of"]["id"]) == (own, leaf.id)
    [other] = {"o/2/2/1", "o/2/2/2"} - {own}
    assert f"o/1/1 is now {other}  {moved.label}" in lines


# -- show --------------------------------------------------------------------------------


def test_names_are_beside_the_phrases(workspace: Workspace) -> None:
    """Where a name is not how the phrases begin: one that was given, or that siblings forced."""
    said("rename", workspace.path, "o/1", "Clouds")
    lines = shown(workspace.path)
    tree = workspace.refresh().tree
    for path, line in lines.items():
        topic = tree[path]
        texts = ", ".join(text for text, _ in topic.phrases[:8])
        begins = topic.label is None or texts.startswith(f"{topic.label}, ")
        assert line.split("  ", 1)[1] == (texts if begins else f"{topic.label}: {texts}")
    assert lines["o/1"].split("  ", 1)[1].startswith("Clouds: cloud")
    few = run("show", workspace.path, "o/2", "--depth", 0, "--phrases", 1).out.splitlines()[1]
    assert few.endswith(f"  {tree['o/2'].label}: {tree['o/2'].phrases[0][0]}")
    words = run("show", workspace.path, "o/2", "--depth", 0, "--words", 1).out.splitlines()[1]
    assert words.endswith(f"%  {tree['o/2'].words[0][0]}")


def test_a_preview_names_topics_as_show_does(workspace: Workspace) -> None:
    lines = said("expand", workspace.path, "o", "--children", 2)
    line = next(line for line in lines if line.startswith("o/4 6"))
    topic = workspace.refresh().tree["o/4"]
    name = shown(workspace.path)["o/4"].split("  ", 1)[1]
    assert line == f"o/4 {share(topic.weight)} {topic.id}  {name}"


def test_as_show_is_for_programs(planted: Path) -> None:
    topics = json.loads(run("show", planted, "--json").out)["topics"]
    assert [one["label"] for one in topics[1:]] == [
        topic.label for topic in Workspace(planted).tree.values() if topic.level
    ]


# -- shapes, metadata --------------------------------------------------------------------


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sales") / "sales.csv"
    lines = [
        f'{text};{i % 28 + 1}.02.1999;{i},50;a|b{i % 3};"x, y"'
        for i, text in enumerate(planted_texts(60))
    ]
    path.write_text("\n".join(["text;day;price;tags;more", *lines]))
    return path


def test_lists_that_are_texts_are_said(sales: Path, tmp_path: Path) -> None:
    meta = ["--meta", "tags:list", "--meta", "more:list", "--height", 1]
    lines = run("build", sales, "-o", tmp_path / "w.strod", *meta).out.splitlines()
    assert "tags: 'a|b0' is a list of one; to have it split: --meta tags:list:|" in lines
    assert "more: 'x, y' is a list of one; to have it split: --meta more:list:," in lines
    meta = ["--meta", "tags:list:|", "--meta", "more", "--height", 1]
    out = run("build", sales, "-o", tmp_path / "v.strod", *meta).out
    assert "tags" not in out
    assert "more" not in out


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("day:date:x", "--meta day:date:x: x is no form of dates with a year; write it as %d"),
        ("tags:list:", "--meta 'tags:list:' has no form after tags:list; types are"),
        ("day:", "--meta 'day:' has no type; types are"),
    ],
)
def test_forms_that_are_none(sales: Path, tmp_path: Path, entry: str, told: str) -> None:
    check_error(run("build", sales, "-o", tmp_path / "w.strod", "--meta", entry), told)


def test_nothing_is_written_by_any_of_them(workspace: Workspace) -> None:
    before = files_of(workspace)
    for verb in (["collapse", "o/1"], ["remove", "o/1/1"], ["move", "o/1", "o/2"]):
        said(verb[0], workspace.path, *verb[1:], "--dry-run")
        parsed(verb[0], workspace.path, *verb[1:], "--dry-run")
    assert files_of(workspace) == before
