"""`grow`: topics of documents that fit nowhere, and nothing else is another one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import strod
from strod.errors import UsageError
from strod.workspace.workspace import Workspace
from tests.conftest import check_error, contents
from tests.conftest import strod as run
from tests.drift.conftest import NEW, OWN, own_texts, records, strange_texts
from tests.planted_text import planted_texts
from tests.revise.seen import state_of, topics_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def add_some(workspace: Workspace) -> None:
    """As many strangers as others."""
    new = [*records(own_texts(), "own"), *records(strange_texts(), "new")]
    workspace.add(new, workers=1)


@pytest.fixture
def grown(workspace: Workspace) -> Workspace:
    """With strangers that have topics of their own."""
    add_some(workspace)
    workspace.grow(workers=1)
    return workspace


def new_paths(workspace: Workspace) -> set[str]:
    """Topics that `grow` made, and those below."""
    nodes, splits = workspace.tree.nodes, workspace.tree.splits
    return {
        workspace.tree[name].path
        for name, node in nodes.items()
        if node.components and all(splits[part.split].apart for part in node.components)
    }


def check_sums(workspace: Workspace) -> None:
    """Children and rest have, together, what their parent has, of every document."""
    shares = workspace.tree.shares()
    for topic in workspace.tree.values():
        if topic.children:
            parts = [shares[child.id] for child in topic.children]
            below = np.sum([*parts, shares.rests.get(topic.id, 0 * parts[0])], axis=0)
            np.testing.assert_allclose(below, shares[topic.id], atol=1e-5)
    assert workspace.check() == []


def test_strangers_get_topics_and_others_stay(workspace: Workspace) -> None:
    add_some(workspace)
    topics, shares, files = (
        topics_of(workspace.tree),
        workspace.tree.shares(),
        contents(workspace.path),
    )
    rows = list(workspace.assign())
    change = workspace.grow(note="week 46")
    assert change.added
    assert (change.changed, change.removed, change.kept) == ([], [], len(topics) - 1)
    after = topics_of(workspace.tree)
    for name, topic in topics.items():
        assert after[name].numbers == topic.numbers
        assert after[name].alpha0 == topic.alpha0
        assert after[name].path == topic.path
    for name, content in files.items():
        if name not in ("manifest.json", "report.json"):
            assert contents(workspace.path)[name] == content
    paths = {workspace.tree[name].path for name in change.added}
    now = list(workspace.assign())
    moved = np.array([row["leaf"] in paths for row in now])
    strangers = np.array([row["id"].startswith("new") for row in now])
    assert strangers[moved].mean() >= 0.8
    assert moved[strangers].mean() >= 0.9
    for one, before in zip(now, rows, strict=True):
        assert one["leaf"] in paths or one == before
    for name, values in workspace.tree.shares().items():
        if name in shares:
            same = ~moved | (name == "o")
            assert np.array_equal(values[same], shares[name][same])
            assert name == "o" or not values[moved].any()
    check_sums(workspace)
    entry = workspace.history()[-1]
    assert (entry["what"], entry["note"]) == ("grow", "week 46")


def test_undo_and_redo(workspace: Workspace) -> None:
    add_some(workspace)
    before, rows = state_of(workspace), list(workspace.assign())
    workspace.grow()
    after, others = state_of(workspace), list(workspace.assign())
    workspace.undo()
    assert state_of(workspace) == before
    assert list(workspace.assign()) == rows
    workspace.redo()
    assert state_of(workspace) == after
    assert list(workspace.assign()) == others


def test_those_that_have_topics_fit(grown: Workspace) -> None:
    """They are beside documents of their own kind now; there is nothing left to grow."""
    rows = [row for row in grown.assign() if row["leaf"] in new_paths(grown)]
    assert np.mean([row["fit"] < 0.04 for row in rows]) <= 0.15
    with pytest.raises(UsageError, match=r"fits? nowhere; it takes 30 to make a topic"):
        grown.grow()


def test_new_documents_reach_them(grown: Workspace) -> None:
    paths = new_paths(grown)
    strange = list(grown.assign(strange_texts(50, 21)))
    assert np.mean([row["leaf"] in paths for row in strange]) >= 0.9
    own = list(grown.assign(own_texts(100, 22)))
    assert np.mean([row["leaf"] in paths for row in own]) <= 0.02
    more = records(strange_texts(20, 23), "more") + records(own_texts(20, 24), "again")
    expected = list(grown.assign(more))
    found = grown.add(more)
    assert list(grown.assign())[-40:] == expected
    assert len(found.strangers) <= 6
    check_sums(grown)


def test_again(grown: Workspace) -> None:
    """Other strangers, a week later: topics beside those that were grown before."""
    before = new_paths(grown)
    texts = [text.translate(str.maketrans("icg", "wwz")) for text in strange_texts(120, 31)]
    grown.add(records(texts, "other"))
    shares = grown.tree.shares()
    change = grown.grow()
    assert {grown.tree[name].path for name in change.added} == new_paths(grown) - before
    rows = list(grown.assign())
    late = [row["id"] for row in rows if row["leaf"] in new_paths(grown) - before]
    assert sum(name.startswith("other") for name in late) >= 0.8 * len(late) >= 20
    stay = np.array([row["id"] not in late for row in rows])
    for name, values in grown.tree.shares().items():
        if name in shares:
            assert np.array_equal(values[stay], shares[name][stay])
    check_sums(grown)


def test_under_a_topic(workspace: Workspace) -> None:
    add_some(workspace)
    shares = workspace.tree.shares()
    top = workspace.tree["o/1"]
    change = workspace.grow("o/1")
    assert all(workspace.tree[name].path.startswith("o/1/") for name in change.added)
    rows = list(workspace.assign())
    paths = {workspace.tree[name].path for name in change.added}
    moved = np.array([row["leaf"] in paths for row in rows])
    assert moved.sum() >= 30
    assert np.mean([row["id"].startswith("new") for row in rows if row["leaf"] in paths]) >= 0.8
    for name, values in workspace.tree.shares().items():
        if name in shares:
            assert np.array_equal(values[~moved], shares[name][~moved])
            np.testing.assert_allclose(
                values if name in ("o", top.id) else values[~moved],
                shares[name] if name in ("o", top.id) else shares[name][~moved],
                atol=1e-6,
            )
    check_sums(workspace)
    strange = list(workspace.assign(strange_texts(90, 41)))
    assert sum(row["leaf"] in paths for row in strange) >= 10
    own = list(workspace.assign(own_texts(100, 42)))
    assert np.mean([row["leaf"] in paths for row in own]) <= 0.02


VERBS: dict[str, Callable[[Workspace, str], Any]] = {
    "expand it": lambda w, path: w.expand(path, 2, fresh=True),
    "expand another": lambda w, _: w.expand("o/1", 2, fresh=True),
    "merge with another": lambda w, path: w.merge("o/2", path),
    "move it": lambda w, path: w.move(path, "o/1"),
    "move another below": lambda w, _: w.move("o/1/1", "o/2"),
    "remove it": lambda w, path: w.remove(path),
    "remove another": lambda w, _: w.remove("o/3"),
    "rename it": lambda w, path: w.rename(path, "Metals"),
    "pin and split all": lambda w, path: (w.pin(path), w.expand("o", 3, fresh=True)),
    "split all": lambda w, _: w.expand("o", 3, fresh=True),
    "grow more": lambda w, _: (
        w.add(records(strange_texts(30, 51), "x")),
        w.expand("o/2", 2, fresh=True),
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_afterwards(grown: Workspace, verb: str) -> None:
    path = min(new_paths(grown), key=lambda p: (p.count("/"), p))
    VERBS[verb](grown, path)
    check_sums(grown)
    rows = list(grown.assign(own_texts(20, 61)))
    assert all(row["leaf"] in grown.tree for row in rows)


@pytest.mark.parametrize("options", [{"workers": 3}, {"engine": "processes"}])
def test_the_same_bytes(
    grown: Workspace, metals: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    import shutil  # noqa: PLC0415

    other = Workspace(shutil.copytree(metals, tmp_path / "other.strod"))
    add_some(other)
    other.grow(**options)
    mine, theirs = grown.manifest.parts, other.manifest.parts
    revisions = "tree/revisions/"  # which say when
    assert {n: f for n, f in mine.items() if not n.startswith(revisions)} == {
        n: f for n, f in theirs.items() if not n.startswith(revisions)
    }


def test_on_the_command_line(workspace: Workspace) -> None:
    check_error(run("grow", workspace.path, "-q"), "0 added documents", "it takes 30")
    add_some(workspace)
    files = contents(workspace.path)
    told = run("grow", workspace.path, "--dry-run", "-q").out
    assert contents(workspace.path) == files
    assert told.startswith("would grow: ")
    assert "12 other topics compared: all would stay as they are" in told
    done = run("grow", workspace.path, "-q").out
    assert done.splitlines()[2:] == told.splitlines()[2:]
    assert done.startswith("grow: ")
    assert run("history", workspace.path).out.splitlines()[-1].split()[-1] == "grow"
    assert run("check", workspace.path).code == 0
    shown = json.loads(run("show", workspace.path, "--json").out)
    assert len(shown["topics"]) == len(Workspace(workspace.path).tree)
    assert run("undo", workspace.path, "-q").out.startswith("undo (grow): ")
    check_error(run("grow", workspace.path, "--under", "o/1/1", "-q"), "has no children")
    check_error(run("grow", workspace.path, "--under", "o/9", "-q"), "no such topic")


def shown(workspace: Workspace) -> list[dict[str, Any]]:
    topics: list[dict[str, Any]] = json.loads(run("show", workspace.path, "--json").out)["topics"]
    return topics


def test_under_a_topic_on_the_command_line(workspace: Workspace) -> None:
    """Everything else is, to the last bit, what it was, and `undo` gives the rest back."""
    add_some(workspace)
    before, rows = shown(workspace), run("assign", workspace.path, "-q").out.splitlines()
    lines = run("grow", workspace.path, "--under", "o/1", "-q").out.splitlines()
    assert lines[0].startswith("grow --under o/1: ")
    assert lines[1] == "12 other topics compared: all as they were"
    paths = [line.split()[0] for line in lines[2:] if line.startswith("o/1/")]
    by_path = {one["path"]: one for one in shown(workspace)}
    assert set(by_path) == {one["path"] for one in before} | set(paths)
    for one in before:  # fewer documents may lead there
        assert by_path[one["path"]] | {"documents": 0} == one | {"documents": 0}
    now = run("assign", workspace.path, "-q").out.splitlines()
    differing = [json.loads(new)["leaf"] for new, old in zip(now, rows, strict=True) if new != old]
    assert set(differing) <= set(paths)
    assert len(differing) >= 30
    more = sum(by_path[path]["weight"] for path in paths)
    assert Workspace(workspace.path).tree["o/1"].surplus == pytest.approx(more, abs=1e-5)
    line = run("show", workspace.path, "o/1", "--depth", 0).out.splitlines()[1]
    assert line.endswith(f"  (+{100 * more:.1f}% in grown topics)")
    assert run("history", workspace.path).out.splitlines()[-1].endswith("  grow --under o/1")
    run("undo", workspace.path, "-q")
    assert shown(workspace) == before
    assert run("assign", workspace.path, "-q").out.splitlines() == rows
    assert "grown" not in run("show", workspace.path).out


def test_too_small_to_say(tmp_path: Path) -> None:
    built = strod.build(planted_texts(25), out=tmp_path / "w.strod", children=2, height=1)
    built.add(records(strange_texts(30), "new"))
    with pytest.raises(UsageError, match="too small to say which documents fit nowhere"):
        built.grow()


def test_documents_say_how_many_lead_there(grown: Workspace) -> None:
    assert grown.tree.root.documents == OWN + 2 * NEW
    found = dict.fromkeys(grown.tree, 0)
    for row in grown.assign():
        steps = row["leaf"].split("/")
        for end in range(1, len(steps) + 1):
            found["/".join(steps[:end])] += 1
    assert found == {topic.path: topic.documents for topic in grown.tree.values()}
