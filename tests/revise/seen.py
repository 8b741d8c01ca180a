"""What can be seen of a tree, and which topics each verb may touch, from what it promises."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.store.topics import node_sha256
from strod.values.shares import paths
from strod.values.topic import ROOT
from strod.workspace.summary import as_dictionary
from tests.conftest import contents

if TYPE_CHECKING:
    from strod.workspace.change import Change
    from strod.workspace.tree import Tree
    from strod.workspace.workspace import Workspace

    Topics = dict[str, "Seen"]

NEAR = 1e-5


class Numbers(NamedTuple):
    """A topic's own: whatever else is revised, these stay."""

    sha256: str
    words: str
    weight: float
    alpha: float
    heads: tuple[int, ...]
    phrases: tuple[tuple[str, float], ...]
    parts: str
    label: str
    pinned: bool


class Seen(NamedTuple):
    """A topic: its numbers and where it stands."""

    numbers: Numbers
    parent: str | None
    level: int
    children: frozenset[str]
    alpha0: float
    reason: str
    path: str = ""

    @property
    def place(self) -> tuple[object, ...]:
        """Where it stands."""
        return self[1:6]


class State(NamedTuple):
    """A whole revision: what `show --json` prints, the topics, and the bytes of its file."""

    shown: dict[str, Any]
    topics: Topics
    file: bytes


def digest(words: Any) -> str:
    return sha256(np.ascontiguousarray(words).tobytes()).hexdigest()


def topics_of(tree: Tree) -> Topics:
    """All topics, by id."""
    found = {}
    for name, node in tree.nodes.items():
        numbers = Numbers(
            tree[name].sha256, digest(node.words), node.weight, node.alpha, tuple(node.top_words),
            tuple(node.phrases), str(node.components), node.label, node.pinned,
        )  # fmt: skip
        place = (node.parent, node.level, frozenset(node.children), node.alpha0, node.reason)
        found[name] = Seen(numbers, *place, tree[name].path)
    return found


def fingerprint(topics: Topics) -> str:
    """One line for all topics, the same in every process."""
    lines = [
        repr((name, topic._replace(children=frozenset()), sorted(topic.children)))
        for name, topic in sorted(topics.items())
    ]
    return sha256("\n".join(lines).encode()).hexdigest()


def state_of(workspace: Workspace) -> State:
    number = workspace.manifest.tree.history[-1]
    file = workspace.path / "tree" / "revisions" / f"{number:05d}.json"
    return State(as_dictionary(workspace), topics_of(workspace.tree), file.read_bytes())


def files_of(workspace: Workspace) -> dict[str, bytes]:
    """Every file in the folder of a workspace, its own and whatever lies beside it."""
    return contents(workspace.path.parent, without="")


# -- what a verb may touch ---------------------------------------------------------------


def below(topics: Topics, name: str) -> set[str]:
    """All topics below one."""
    children = topics[name].children
    return set(children).union(*(below(topics, child) for child in children))


def above(topics: Topics, name: str) -> set[str]:
    """A topic and those above it."""
    parent = topics[name].parent
    return {name} | (above(topics, parent) if parent is not None else set())


def siblings(topics: Topics, name: str) -> set[str]:
    parent = topics[name].parent
    return set() if parent is None else set(topics[parent].children) - {name}


class Scope(NamedTuple):
    """Topics whose numbers may change, that may be gone, and that may stand elsewhere."""

    changed: set[str]
    removed: set[str]
    moved: set[str]


def scope_of_expand(topics: Topics, name: str) -> Scope:
    pinned = {child for child in topics[name].children if topics[child].numbers.pinned}
    stay = pinned.union(*(below(topics, child) for child in pinned))
    gone = below(topics, name) - stay
    # One that is made again may have lost its children, and what a removed sibling left it.
    return Scope(gone, gone, gone | {name})


def scope_of_collapse(topics: Topics, name: str) -> Scope:
    return Scope(set(), below(topics, name), {name})


def scope_of_merge(topics: Topics, names: list[str]) -> Scope:
    parents = [str(topics[name].parent) for name in names]
    lines = [above(topics, parent) ^ above(topics, parents[0]) for parent in parents]
    inside = set().union(*({name} | below(topics, name) for name in names))
    return Scope(set().union(*lines), set(names), {*parents, *inside})


def scope_of_remove(topics: Topics, name: str) -> Scope:
    heirs = siblings(topics, name)
    heirs = heirs.union(*(below(topics, heir) for heir in heirs))
    return Scope(heirs, {name} | below(topics, name), {str(topics[name].parent)})


def scope_of_remove_into(topics: Topics, name: str, heir: str) -> Scope:
    parent, gone = str(topics[name].parent), {name} | below(topics, name)
    changed = above(topics, parent) ^ above(topics, heir)
    changed |= set() if heir in above(topics, name) else {heir} | below(topics, heir)
    return Scope(changed, gone, {parent, heir, str(topics[heir].parent)})


def scope_of_move(topics: Topics, name: str, target: str) -> Scope:
    parent = str(topics[name].parent)
    changed = above(topics, parent) ^ above(topics, target)
    return Scope(changed, set(), {name, parent, target} | below(topics, name))


# -- what always holds -------------------------------------------------------------------


def check_scope(before: Topics, after: Topics, scope: Scope) -> None:
    """Whatever a verb may not touch is, to the last bit, what it was."""
    assert set(before) - set(after) <= scope.removed
    for name, old in before.items():
        if name in after and name not in scope.changed:
            assert after[name].numbers == old.numbers, name
        if name in after and name not in scope.moved:
            assert after[name].place == old.place, name


def chain(topics: Topics, name: str) -> list[str]:
    """A topic and those above it, in order."""
    parent = topics[name].parent
    return [name] + (chain(topics, parent) if parent is not None else [])


def check_paths(before: Topics, after: Topics, change: Change) -> None:
    """A path is another one only if the topic, or one above it, was moved; none means another.

    And the change names every path that is new.
    """
    old = {topic.path: name for name, topic in before.items()}
    for name, topic in after.items():
        if name in before and chain(before, name) == chain(after, name):
            assert topic.path == before[name].path, name
        assert old.get(topic.path, name) == name, topic.path
    other = {n for n, topic in after.items() if n in before and topic.path != before[n].path}
    assert set(change.moved) == other
    assert {after[name].path for name in change.added} == set(change.paths.values())


def check_change(before: Topics, after: Topics, change: Change) -> None:
    """The change says what a comparison finds."""

    def own(topic: Seen) -> tuple[object, ...]:
        return topic.numbers.sha256, topic.numbers.label, topic.numbers.pinned

    both = set(before) & set(after)
    differ = {name for name in both if own(before[name]) != own(after[name])}
    assert set(change.added) == set(after) - set(before)
    assert set(change.removed) == set(before) - set(after)
    assert set(change.changed) == differ
    assert change.kept == len(both - differ - {ROOT})
    for names in (change.added, change.removed, change.changed):
        assert len(names) == len(set(names))
    assert set(change.nodes) == set(after)
    for name, node in change.nodes.items():
        assert node_sha256(node) == after[name].numbers.sha256


def check_tree(workspace: Workspace) -> None:
    """Children and rest add up to their parent, words are distributions, levels are right."""
    tree = workspace.tree
    shares = tree.shares()
    assert workspace.manifest.tree.topics == len(tree) == len(tree.nodes)
    check_documents(workspace)
    for topic in tree.values():
        assert topic.distribution.min() >= 0
        assert abs(topic.distribution.sum() - 1) < 1e-9
        assert abs(topic.weight - shares[topic.id].mean()) < NEAR
        assert topic.level == (topic.parent.level + 1 if topic.parent else 0)
        assert bool(topic.children) == (topic.reason == "")
        if topic.children:
            below = sum(child.weight for child in topic.children)
            assert abs(below + topic.rest - topic.weight) < NEAR
            together = np.sum([shares[child.id] for child in topic.children], axis=0)
            rest = shares.rests.get(topic.id)
            together += 0 if rest is None else rest
            assert abs(topic.rest - (0 if rest is None else rest.mean())) < NEAR
            np.testing.assert_allclose(together, shares[topic.id], atol=NEAR)


def check_documents(workspace: Workspace) -> None:
    """As many documents as the topic says have a path that leads there."""
    nodes = workspace.tree.nodes
    levels = np.stack(paths(nodes, ROOT, workspace.tree.shares()))
    found = np.bincount(levels[levels >= 0], minlength=len(nodes)).tolist()
    assert found == [node.documents for node in nodes.values()]
    assert found[0] == workspace.corpus.documents


def check_files(workspace: Workspace, before: dict[str, bytes]) -> dict[str, bytes]:
    """Nothing lies about, nothing has changed but the manifest, every checksum is right.

    Returns all files as they are now.
    """
    path = workspace.path
    now = files_of(workspace)
    own = {f"{path.name}/{name}" for name in workspace.manifest.parts}
    loose = {f"{path.name}/manifest.json", f"{path.name}/report.json"}
    assert set(now) == own | loose
    for name, data in before.items():
        assert now[name] == data or name.endswith("manifest.json"), name
    assert workspace.check() == []
    return now
