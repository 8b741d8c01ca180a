"""A branch depends on what is above it and on nothing else: the order of revisions has no say."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from scipy.sparse import csr_array, vstack

import strod
from strod.workspace.workspace import Workspace
from tests.planted_text import planted_texts
from tests.revise.seen import below, check_tree, topics_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.revise.seen import Topics

    Act = Callable[[Workspace, dict[str, str]], object]

# What may happen elsewhere. Topics are named by the paths that they had at first.
ELSEWHERE: dict[str, Act] = {
    "collapse": lambda w, t: w.collapse(t["o/2"]),
    "expand": lambda w, t: w.expand(t["o/3"], 2),
    "expand anew": lambda w, t: w.expand(t["o/3"], 2, fresh=True),
    "merge": lambda w, t: w.merge(t["o/2/1"], t["o/2/3"]),
    "remove": lambda w, t: w.remove(t["o/3/2"]),
    "rename": lambda w, t: w.rename(t["o/2"], "x"),
    "pin": lambda w, t: w.pin(t["o/3/1"]),
}
HERE: dict[str, Act] = {
    "expand": lambda w, t: w.expand(t["o/1"], 2),
    "expand anew": lambda w, t: w.expand(t["o/1"], 2, fresh=True),
    "expand deeper": lambda w, t: w.expand(t["o/1"], 2, 2),
    "expand auto": lambda w, t: w.expand(t["o/1"], "auto", 2, fresh=True),
    "merge": lambda w, t: w.merge(t["o/1/1"], t["o/1/2"]),
    "remove": lambda w, t: w.remove(t["o/1/1"]),
}


@pytest.fixture
def copy(planted: Path, tmp_path: Path) -> Callable[[], Workspace]:
    numbers = iter(range(100))

    def make() -> Workspace:
        return Workspace(shutil.copytree(planted, tmp_path / f"{next(numbers)}.strod"))

    return make


def branch(topics: Topics, name: str) -> Topics:
    return {one: topics[one] for one in {name} | below(topics, name)}


@pytest.mark.parametrize("here", HERE)
def test_what_was_done_elsewhere_has_no_say(copy: Callable[[], Workspace], here: str) -> None:
    first = copy()
    named = {path: topic.id for path, topic in first.tree.items()}
    HERE[here](first, named)
    expected = branch(topics_of(first.tree), named["o/1"])
    assert expected != branch(topics_of(copy().tree), named["o/1"])
    for act in ELSEWHERE.values():
        other = copy()
        act(other, named)
        HERE[here](other, named)
        assert branch(topics_of(other.tree), named["o/1"]) == expected


@pytest.mark.parametrize("elsewhere", ["expand anew", "merge", "remove"])
def test_two_branches_in_either_order(copy: Callable[[], Workspace], elsewhere: str) -> None:
    one, two = copy(), copy()
    named = {path: topic.id for path, topic in one.tree.items()}
    for workspace, acts in ((one, (HERE, ELSEWHERE)), (two, (ELSEWHERE, HERE))):
        for verbs in acts:
            verbs["expand anew" if verbs is HERE else elsewhere](workspace, named)
    assert topics_of(one.tree) == topics_of(two.tree)


def test_all_that_was_done_elsewhere_together(copy: Callable[[], Workspace]) -> None:
    first, last = copy(), copy()
    named = {path: topic.id for path, topic in first.tree.items()}
    first.expand(named["o/1"], 2, fresh=True)
    for verb in ("merge", "rename", "expand anew", "collapse"):
        ELSEWHERE[verb](last, named)
    last.expand(named["o/1"], 2, fresh=True)
    branches = [branch(topics_of(one.tree), named["o/1"]) for one in (first, last)]
    assert branches[0] == branches[1]


def test_a_number_of_workers_has_no_say(copy: Callable[[], Workspace]) -> None:
    found = []
    for workers in (1, 2, 5):
        workspace = copy()
        workspace.expand("o/1", 3, fresh=True, workers=workers)
        workspace.merge("o/2", "o/3", workers=workers)
        workspace.remove(workspace.tree["o/1"].children[0].path, workers=workers)
        found.append(topics_of(workspace.tree))
    assert found[0] == found[1] == found[2]


def build(target: Path, **options: Any) -> Workspace:
    return strod.build(planted_texts(200), out=target, workers=2, **options)


def test_a_tree_that_is_expanded_is_the_tree_that_is_built(planted: Path, tmp_path: Path) -> None:
    """A subtree depends on what is above it, not on when it is grown."""
    expected = topics_of(Workspace(planted).tree)
    flat = build(tmp_path / "flat.strod", children=3, height=1)
    for path in ("o/3", "o/1", "o/2"):
        assert len(flat.expand(path, 3).added) == 3
    assert topics_of(flat.tree) == expected
    check_tree(flat)


def test_a_root_that_is_expanded_is_the_tree_that_is_built(planted: Path, tmp_path: Path) -> None:
    bare = build(tmp_path / "bare.strod", children=3, height=0)
    assert list(bare.tree) == ["o"]
    bare.expand("o", 3, 2)
    assert topics_of(bare.tree) == topics_of(Workspace(planted).tree)
    assert list(bare.tree) == list(Workspace(planted).tree)


def test_what_is_collapsed_can_be_had_again(workspace: Workspace) -> None:
    """Its text is decomposed again, under another name, at new addresses; all else is the same."""

    def but_for_the_name() -> dict[str, object]:
        return {
            name: one._replace(numbers=one.numbers._replace(parts=""), path="")
            for name, one in topics_of(workspace.tree).items()
        }

    before = but_for_the_name()
    workspace.collapse("o/2")
    workspace.expand("o/2", 3)
    assert but_for_the_name() == before
    assert list(workspace.tree) == list(strod.open(workspace.path).tree)


def test_pinned_children_stay(workspace: Workspace) -> None:
    before = topics_of(workspace.tree)
    pinned = workspace.tree["o/1/2"].id
    workspace.pin(pinned)
    change = workspace.expand("o/1", 3, fresh=True)
    after = topics_of(workspace.tree)
    top = workspace.tree["o/1"].id
    assert pinned in after[top].children
    assert after[pinned].numbers == before[pinned].numbers._replace(pinned=True)
    assert len(after[top].children) == 3
    assert len(change.added) == 2
    check_tree(workspace)


def test_documents_are_placed_as_they_were(workspace: Workspace) -> None:
    """Also where topics are made of several decompositions."""
    workspace.expand("o/1", 2, fresh=True)
    workspace.expand("o/3", 2, fresh=True)
    workspace.move("o/1/4", "o/2")
    workspace.merge("o/2", "o/3")
    workspace.remove("o/1/5")
    tree = workspace.tree
    assert len({part.split for node in tree.nodes.values() for part in node.components}) > 2
    assert any(len(node.components) > 1 for node in tree.nodes.values())
    counts = csr_array(vstack([shard.counts for shard in workspace.corpus.shards()]))
    placed, kept = tree.place(counts), tree.shares()
    for name, share in kept.items():
        assert placed[name].tobytes() == share.tobytes()
