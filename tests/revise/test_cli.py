"""The verbs on the command line: help, dry runs, one-line errors, history."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console

from strod.cli.preview import _branch
from strod.values.topic import ROOT, Node
from strod.workspace.change import Change
from tests.conftest import check_error, strod
from tests.revise.seen import files_of, state_of

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.workspace import Workspace

VERBS = [
    "expand", "collapse", "merge", "remove", "move", "rename", "pin", "unpin", "undo", "redo",
    "history",
]  # fmt: skip
LINE = re.compile(r"^(o(?:/[0-9]+)*) ([0-9.]+)% ([0-9a-f]{12})  (.*)$")


def told(*arguments: object) -> list[str]:
    """What a verb that went well says; progress goes to standard error."""
    outcome = strod(*arguments)
    assert outcome.code == 0, outcome.err
    assert all(line.endswith(" s") for line in outcome.err.splitlines())
    return outcome.out.splitlines()


def shown(workspace: Workspace) -> list[dict[str, Any]]:
    topics: list[dict[str, Any]] = json.loads("".join(told("show", workspace.path, "--json")))[
        "topics"
    ]
    return topics


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example(verb: str) -> None:
    text = " ".join(told(verb, "--help"))
    assert re.search(rf"Examples?: +strod {verb} \S+\.strod", " ".join(text.split()))
    assert ("--dry-run" in text) == (verb != "history")
    assert ("--note" in text) == (verb not in ("undo", "redo", "history"))


def test_all_verbs_are_listed() -> None:
    listed = "\n".join(told("--help"))
    for verb in VERBS:
        assert re.search(rf"^ +{verb}  +\S", listed, re.MULTILINE), verb


# -- what they say -----------------------------------------------------------------------


def test_a_dry_run_says_what_would_be_and_changes_nothing(workspace: Workspace) -> None:
    before = files_of(workspace)
    commands = [
        ["expand", workspace.path, "o/1", "--children", 2],
        ["expand", workspace.path, "o/1", "--children", 2, "--fresh"],
        ["collapse", workspace.path, "o/2"],
        ["merge", workspace.path, "o/1", "o/3"],
        ["remove", workspace.path, "o/1/1"],
        ["move", workspace.path, "o/1/1", "o/2"],
        ["rename", workspace.path, "o/1", "name"],
        ["pin", workspace.path, "o/1"],
    ]
    for command in commands:
        planned = told(*command, "--dry-run")
        assert files_of(workspace) == before
        done = told(*command)
        assert planned[0] == f"would {done[0]}"
        assert planned[1].endswith("other topics compared: all would stay as they are")
        assert done[1].endswith("other topics compared: all as they were")
        assert planned[2:] == done[2:]
        undone = told("undo", workspace.path, "--dry-run")
        assert undone[0].startswith(f"would undo ({done[0].split(': ')[0]}): ")
        told("undo", workspace.path)
        before = files_of(workspace)


def test_new_and_changed_topics_are_listed(workspace: Workspace) -> None:
    lines = told("expand", workspace.path, "o/1", "--children", 2, "--fresh")
    assert lines[0] == "expand o/1 --children 2 --fresh: 2 new, 3 gone"
    assert lines[1] == "9 other topics compared: all as they were"
    assert lines[4].startswith("gone: ")
    for path in ("o/1/1", "o/1/2", "o/1/3"):
        assert f"{path} ({workspace.tree[path].label})" in lines[4]
    workspace.refresh()
    for line in lines[2:4]:
        found = LINE.match(line)
        assert found is not None
        path, weight, name, phrases = found.groups()
        topic = workspace.tree[path]
        assert topic.id == name
        assert abs(topic.weight * 100 - float(weight)) < 0.051
        assert phrases.split(", ") == [text for text, _ in topic.phrases[:8]]
    assert {line.split()[0] for line in lines[2:4]} == {"o/1/4", "o/1/5"}  # new numbers
    assert told("pin", workspace.path, "o/2")[0] == "pin o/2: 1 changed"
    assert told("pin", workspace.path, "o/2")[0] == "pin o/2: no topic differs"
    assert told("unpin", workspace.path, "o/2")[0] == "unpin o/2: 1 changed"


def test_words_stand_in_where_there_are_no_phrases() -> None:
    node = Node("a", ROOT, 1, [], np.full(3, 1 / 3), 0.5, top_words=[2, 0], number=1)
    nodes = {ROOT: Node(ROOT, None, 0, [], np.full(3, 1 / 3), children=["a"]), "a": node}
    change = Change("merge", ["a"], [], [], 0, nodes)
    console = Console(width=80)
    [line] = _branch(change, ["x", "y", "z"], console)
    assert line.plain == "o/1 50.0% a  z, x"
    node.phrases = [("long phrase", 1.0)]
    [line] = _branch(change, ["x", "y", "z"], console)
    assert line.plain == "o/1 50.0% a  long phrase"


def test_paths_and_ids(workspace: Workspace) -> None:
    """Every verb takes either, and takes a path as it is before the change."""
    tree = workspace.tree
    first, second, leaf = (tree[path].id for path in ("o/1", "o/2", "o/3/1"))
    pairs: list[tuple[list[Any], list[Any]]] = [
        (["expand", "o/1", "--children", 2], ["expand", first, "--children", 2]),
        (["collapse", "o/1"], ["collapse", first]),
        (["merge", "o/1", "o/2"], ["merge", second, "o/1"]),
        (["remove", "o/3/1"], ["remove", leaf]),
        (["move", "o/3/1", "o/2"], ["move", leaf, second]),
        (["rename", "o/3/1", "x"], ["rename", leaf, "x"]),
        (["pin", "o/2"], ["pin", second]),
    ]
    for by_path, by_id in pairs:
        found = []
        for verb, *arguments in (by_path, by_id):
            told(verb, workspace.path, *arguments)
            found.append(shown(workspace))
            told("undo", workspace.path)
        assert found[0] == found[1]


def test_a_path_is_followed_to_its_topic(workspace: Workspace) -> None:
    name = workspace.tree["o/2"].id
    told("rename", workspace.path, "o/2", "a name of several words")
    told("rename", workspace.path, "o/2/1", "ein Näme, 名前 'quoted' \"twice\"")
    labels = {topic["id"]: topic["label"] for topic in shown(workspace)}
    assert labels[name] == "a name of several words"
    assert "ein Näme, 名前 'quoted' \"twice\"" in labels.values()


def test_undo_and_redo(workspace: Workspace) -> None:
    first = shown(workspace)
    told("merge", workspace.path, "o/1", "o/2")
    second = shown(workspace)
    assert told("undo", workspace.path)[0] == "undo (merge o/1 o/2): 2 new, 1 gone"
    assert shown(workspace) == first
    assert told("redo", workspace.path)[0] == "redo (merge o/1 o/2): 1 new, 2 gone"
    assert shown(workspace) == second


def test_history(workspace: Workspace) -> None:
    told("merge", workspace.path, "o/1", "o/2", "--note", "they are the same")
    told("rename", workspace.path, "o/4", "both", "-m", "a short note")
    told("collapse", workspace.path, "o/4")
    told("undo", workspace.path)
    lines = told("history", workspace.path)
    parts = [re.fullmatch(r" +(\d+)  (\S*) +(.*)", line) for line in lines]
    said = [(part[1], part[3]) for part in parts if part]
    assert said == [
        ("1", "build"),
        ("2", "merge o/1 o/2  # they are the same"),
        ("3", "rename o/4 'both'  # a short note"),
        ("4", "collapse o/4  (undone)"),
    ]
    for part in parts:
        assert part is not None
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00", part[2])
    workspace.refresh()
    notes = [entry.get("note", "") for entry in workspace.history()]
    assert notes == ["", "they are the same", "a short note", ""]
    told("pin", workspace.path, "o/3")
    later = told("history", workspace.path)
    assert later[:4] == lines  # it cannot be had back, but is told of
    assert later[4].endswith("  pin o/3")


# -- what they refuse --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "phrases"),
    [
        (["expand", "o/9", "--children", "2"], ["o/9: no such topic", "o/1"]),
        (["collapse", "000000000000"], ["no such topic"]),
        (["merge", "o/1", "o/7"], ["o/7: no such topic"]),
        (["move", "o/1", "nowhere"], ["nowhere: no such topic"]),
        (["rename", "", "x"], ["no such topic"]),
        (["merge", "o/1", "o/1/1"], ["o/1: is above o/1/1", "beside each other"]),
        (["merge", "o/1/1", "o/2/1", "o/2/2", "o/2/3"], ["no children left", "merge o/2"]),
        (["remove", "o/1", "--into", "o/1/2"], ["o/1: cannot go into itself"]),
        (["remove", "o/1", "--into", "o/9"], ["o/9: no such topic"]),
        (["merge", "o/1"], ["two or more"]),
        (["merge", "o/1", "o/1"], ["two or more different"]),
        (["merge", "o", "o/1"], ["the root cannot be changed"]),
        (["remove", "o"], ["the root cannot be changed"]),
        (["move", "o", "o/1"], ["the root cannot be changed"]),
        (["expand", "o/1", "--children", "1"], ["--children"]),
        (["expand", "o/1", "--children", "0"], ["--children"]),
        (["expand", "o/1", "--children", "1001"], ["--children"]),
        (["expand", "o/1", "--children", "some"], ["children", "some"]),
        (["expand", "o/1", "--height", "0"], ["--height"]),
        (["expand", "o/1", "--height", "30"], ["--height"]),
        (["expand", "o/1/1", "--children", "2"], ["o/1/1: cannot be split"]),
        (["undo"], ["nothing to undo"]),
        (["redo"], ["nothing to redo"]),
        (["move", "o/1", "o/1/1"], ["below itself"]),
        (["move", "o/1", "o/1"], ["below itself"]),
        (["move", "o/1/1", "o/1"], ["already"]),
        (
            ["expand", "o/1", "--children", "50"],
            ["cannot be split into 50", "--children", "--force"],
        ),
        (["collapse", "o/1/1"], ["no children"]),
        (["merge"], ["Missing argument"]),
        (["rename", "o/1"], ["Missing argument"]),
        (["pin"], ["Missing argument"]),
        (["undo", "o/1"], ["unexpected extra argument"]),
    ],
    ids=lambda value: "_".join(value[:4]).replace("/", "") if isinstance(value, list) else "",
)
@pytest.mark.parametrize("dry", [True, False], ids=["dry", "real"])
def test_refused(workspace: Workspace, arguments: list[str], phrases: list[str], dry: bool) -> None:
    before = files_of(workspace)
    verb, *rest = arguments
    outcome = strod(verb, workspace.path, *rest, *(["--dry-run"] if dry else []))
    check_error(outcome, *phrases, code=2)
    assert files_of(workspace) == before


def test_an_only_child_stays(workspace: Workspace) -> None:
    first, second, third = (child.id for child in workspace.tree["o/1"].children)
    target = workspace.tree["o/2"].id
    for name in (first, second):
        told("move", workspace.path, name, target)
    outcome = strod("move", workspace.path, third, target)
    check_error(outcome, "only child", "collapse", code=2)


def test_all_children_are_pinned(workspace: Workspace) -> None:
    for number in (1, 2, 3):
        told("pin", workspace.path, f"o/1/{number}")
    check_error(strod("expand", workspace.path, "o/1"), "o/1", "pinned", "unpin", code=2)
    told("unpin", workspace.path, "o/1/3")
    check_error(
        strod("expand", workspace.path, "o/1", "--children", 3), "o/1", "--children", code=2
    )


@pytest.mark.parametrize("verb", ["undo", "history", "collapse"])
def test_no_workspace(workspace: Workspace, verb: str) -> None:
    rest = ["o/1"] if verb == "collapse" else []
    missing = workspace.path.parent / "none.strod"
    check_error(strod(verb, missing, *rest), str(missing), "no such workspace", code=2)


def test_a_verb_leaves_an_open_workspace_as_it_was_read(workspace: Workspace) -> None:
    """Whoever has read a tree keeps it until it asks for the new one."""
    before = state_of(workspace)
    told("merge", workspace.path, "o/1", "o/2")
    assert state_of(workspace)[:2] == before[:2]
    workspace.refresh()
    assert state_of(workspace)[:2] != before[:2]


def test_an_empty_name_brings_back_the_automatic_one(workspace: Workspace) -> None:
    before = shown(workspace)
    names = [topic["label"] for topic in before]
    path = next(topic["path"] for topic in before if topic["level"] == 2)
    told("rename", workspace.path, path, "mine")
    assert [topic["label"] for topic in shown(workspace)] != names
    line = LINE.match(told("rename", workspace.path, path, "")[-1])
    assert line is not None
    assert not line[4].startswith(":")
    assert [topic["label"] for topic in shown(workspace)] == names
    told("rename", workspace.path, "o", "everything there is")
    told("rename", workspace.path, "o", "")
    assert [topic["label"] for topic in shown(workspace)] == names
    told("rename", workspace.path, path, "")  # it never had another one
    assert [topic["label"] for topic in shown(workspace)] == names


def test_names_that_mislead(workspace: Workspace) -> None:
    check_error(strod("rename", workspace.path, "o/1", "o/2"), "o/2", "looks like a path")
    for label in ("O/1", "1/2"):
        check_error(strod("rename", workspace.path, "o/1", label), label, "looks like a path")
    told("rename", workspace.path, "o/2", "same")
    check_error(strod("rename", workspace.path, "o/3/1", "Same"), "Same: o/2 has this name")
    told("rename", workspace.path, "o/2", "SAME")  # the same topic


@pytest.mark.parametrize("verb", ["rename", "collapse"])
def test_quiet(workspace: Workspace, verb: str) -> None:
    outcome = strod(verb, workspace.path, "o/1", *(["x"] if verb == "rename" else []), "-q")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out


def test_how_many_there_would_be(workspace: Workspace, tmp_path: Path) -> None:
    more = tmp_path / "more.jsonl"
    more.write_text("".join(f'{{"id": "n{i}", "text": "river and stone {i}"}}\n' for i in range(7)))
    total = f"{workspace.corpus.documents + 7} documents in all"
    for arguments in (["--dry-run"], []):
        lines = told("add", workspace.path, more, *arguments)
        assert total in " ".join(" ".join(lines).split())


def test_documents_of_topics(workspace: Workspace) -> None:
    lines = told("show", workspace.path, "o/1", "--documents", 2)
    assert len(lines) == 1 + 3 * 4
    topics = json.loads("".join(told("show", workspace.path, "--json", "--documents", 2)))["topics"]
    by_path = {topic["path"]: topic["examples"] for topic in topics}
    assert by_path["o"] == []
    for path in ("o/1", "o/1/1", "o/1/2", "o/1/3"):
        best = by_path[path]
        assert len(best) == 2
        assert best[0]["share"] >= best[1]["share"] > 0.5
        at = next(place for place, line in enumerate(lines) if f"{path} " in line)
        for example, line in zip(best, lines[at + 1 :], strict=False):
            assert f" {example['id']}  {example['text'][:20]}" in line
