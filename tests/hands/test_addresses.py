"""Topics are named by path, name or id, and every command says where topics are now."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import strod
from strod.errors import TopicError
from tests.conftest import check_error
from tests.conftest import strod as run

if TYPE_CHECKING:
    from strod.workspace.workspace import Workspace


def told(*arguments: object) -> list[str]:
    outcome = run(*arguments)
    assert outcome.code == 0, outcome.err
    return outcome.out.splitlines()


def test_names_are_accepted_wherever_a_topic_is(workspace: Workspace) -> None:
    automatic = workspace.tree["o/1"].label
    assert automatic is not None
    shown = told("show", workspace.path, automatic.upper(), "--depth", 0)
    assert shown[1].startswith("o/1 ")
    told("rename", workspace.path, automatic, "Security")
    for verb in ("pin", "unpin", "collapse"):
        assert told(verb, workspace.path, "security")[2].startswith("o/1 ") or verb == "collapse"
    told("expand", workspace.path, "SECURITY", "--children", 2)
    workspace.refresh()
    child = workspace.tree["security"].children[0]
    assert child.label is not None
    moved = told("move", workspace.path, child.id, "o/2")
    assert any(line.startswith(f"{child.path} is now o/2/4  {child.label}") for line in moved)
    other = workspace.tree["o/3"].label
    assert other is not None
    assert told("merge", workspace.path, "Security", other)[0].endswith("1 new, 2 gone")


def test_a_path_without_its_root(workspace: Workspace) -> None:
    assert told("show", workspace.path, "1/2")[1].startswith("o/1/2 ")
    assert told("rename", workspace.path, "2/1", "x")[2].startswith("o/2/1 ")


def test_an_ambiguous_name_lists_its_paths(workspace: Workspace) -> None:
    told("rename", workspace.path, "o/1", "same")
    nodes = workspace.tree.nodes
    workspace.refresh()
    for path in ("o/2", "o/3"):
        workspace.tree[path].label = "Same"
        workspace.tree[path].named = True
    with pytest.raises(TopicError, match=r"^SAME: o/1, o/2, o/3 have this name; give a path$"):
        workspace.tree.find("SAME")
    assert workspace.tree.find("same").path == "o/1"  # the very same letters
    assert nodes


def test_a_child_that_is_not_there(workspace: Workspace) -> None:
    tree = workspace.tree
    listed = ", ".join(f"o/1/{n} ({tree[f'o/1/{n}'].label})" for n in (1, 2, 3))
    check_error(run("show", workspace.path, "o/1/9"), f"o/1/9: no such topic; o/1 has {listed}")
    check_error(run("pin", workspace.path, "o/1/1/1"), "no such topic; o/1/1 has no children")


def test_a_name_that_another_topic_has(workspace: Workspace) -> None:
    told("rename", workspace.path, "o/1", "Law")
    check_error(run("rename", workspace.path, "o/2", "LAW"), "LAW: o/1 has this name; give another")
    automatic = workspace.tree["o/3"].label
    check_error(run("rename", workspace.path, "o/2", str(automatic)), "o/3 has this name")
    told("rename", workspace.path, "o/1", "law")  # its own
    told("rename", workspace.path, "o/1", "")


def test_joined_children_are_told(workspace: Workspace) -> None:
    """Which of them, by path and name, what is lost below, and how to learn anew."""
    told("expand", workspace.path, "o/1", "--children", 5)
    workspace.refresh()
    before = workspace.tree["o/1"].children
    assert len(before) == 5
    arguments = ["expand", workspace.path, "o/1", "--children", 3]
    planned, done = told(*arguments, "--dry-run"), told(*arguments)
    assert planned[2:] == done[2:]
    joined = [line for line in done if re.match(r"o/1/\d+ = ", line)]
    workspace.refresh()
    after = workspace.tree["o/1"].children
    assert {line.split(" = ")[0] for line in joined} <= {topic.path for topic in after}
    stayed = {topic.id for topic in after}
    for topic in before:
        told_of = f"{topic.label} ({topic.path}, {100 * topic.weight:.1f}%)"
        assert sum(told_of in line for line in joined) == (topic.id not in stayed)
    command = f"strod expand {workspace.path} o/1 --children 3 --fresh"
    assert done[-1] == f"children are joined; {command} learns anew"
    assert not any(re.match(r"o/1/\d+ = ", line) for line in told(*arguments, "--fresh"))


def test_what_is_below_goes_with_what_is_joined(workspace: Workspace) -> None:
    """Nothing is lost, and the tree is as high as it was."""
    before = {topic.id: topic for topic in workspace.tree.values()}
    lines = told("expand", workspace.path, "o", "--children", 2)
    [joined] = [line for line in lines if re.match(r"o/\d+ = ", line)]
    workspace.refresh()
    gone = [topic for name, topic in before.items() if name not in workspace.tree.nodes]
    assert [topic.level for topic in gone] == [1, 1]
    assert all(f"{topic.label} ({topic.path}, " in joined for topic in gone)
    moved = [line for line in lines if " is now " in line]
    assert len(moved) == 6
    assert sum(topic.level == 2 for topic in workspace.tree.values()) == 9


def test_every_path_that_is_made_is_told(workspace: Workspace) -> None:
    """Of undo and redo too, and all of them, however many there are."""
    before = set(workspace.tree)
    changes = [
        told("expand", workspace.path, "o/1", "--children", 12, "--fresh", "--force"),
        told("merge", workspace.path, "o/2", "o/3"),
        told("undo", workspace.path),
        told("redo", workspace.path),
        told("undo", workspace.path),
        told("move", workspace.path, "o/2/1", "o/3"),
        told("undo", workspace.path),
        told("collapse", workspace.path, "o/1"),
        told("undo", workspace.path),
    ]
    for lines in changes:
        assert not re.search(r"and \d+ more", "".join(lines))
    known = set(before)
    for lines in changes:
        known |= {line.split()[0] for line in lines[2:] if re.match(r"o[/\d]* [<\d]", line)}
        known |= {found[1] for line in lines if (found := re.search(r" is now (o[/\d]*)  ", line))}
    workspace.refresh()
    assert set(workspace.tree) <= known
    move, back = changes[5], changes[6]
    assert any(line.startswith("o/2/1 is now o/3/4  ") for line in move)
    assert any(line.startswith("o/3/4 is now o/2/1  ") for line in back)


def test_a_moved_branch_is_told_whole(workspace: Workspace) -> None:
    moved = told("move", workspace.path, "o/1", "o/2")
    paths = [line.split(" is now ")[0] for line in moved if " is now " in line]
    assert sorted(paths) == ["o/1", "o/1/1", "o/1/2", "o/1/3"]


def test_history_has_dates_and_what_was_undone(workspace: Workspace) -> None:
    for label in ("first", "second"):
        told("rename", workspace.path, "o/1", label, "--note", f"try {label}")
        told("undo", workspace.path)
    told("rename", workspace.path, "o/1", "third")
    lines = told("history", workspace.path)
    assert all(re.match(r" +\d+  \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00  ", line) for line in lines)
    assert [line.split("  ", 3)[-1] for line in lines] == [
        "build",
        "rename o/1 'first'  # try first  (undone)",
        "rename o/1 'second'  # try second  (undone)",
        "rename o/1 'third'",
    ]
    assert [entry["undone"] for entry in strod.open(workspace.path).history()] == [
        False, True, True, False,
    ]  # fmt: skip


def test_undone_documents_are_told(workspace: Workspace) -> None:
    new = workspace.path.parent / "new.txt"
    new.write_text("clouda cloudb\nstonea stoneb\n")
    told("add", workspace.path, new)
    assert told("undo", workspace.path)[0] == "undo (add 2 documents): 2 documents are out again"
    assert told("redo", workspace.path)[0] == "redo (add 2 documents): 2 documents are back"


def test_another_word_for_a_command() -> None:
    check_error(run("tree", "w.strod"), "Did you mean 'show'?")
    check_error(run("delete", "w.strod"), "Did you mean 'remove'?")
    check_error(run("shwo", "w.strod"), "Did you mean 'show'?")


def test_no_tree_is_asked_for(workspace: Workspace) -> None:
    source = workspace.path.parent / "t.txt"
    source.write_text("river stone\nstone cloud\nriver cloud\n")
    flat = workspace.path.parent / "flat.strod"
    check_error(run("build", source, "--height", 0, "--out", flat), "--height must be at least 1")
    assert not flat.exists()
    strod.build(source, out=flat, height=0)  # in Python: a corpus and its phrases
    assert "height 0 asks for no tree" in told("show", flat)[1]
