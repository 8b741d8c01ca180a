"""Changing one branch of a tree: which topics there are and what they are made of.

These functions move parts around; they read no documents. Each returns a plan: the topics whose
numbers (words, weights, documents) are found afterwards, since they follow from the parts; all
others keep theirs to the last bit. Children always add up to their parent.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.values.topic import ROOT, Component, Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from strod.tree.grow import Grown

    Array = NDArray[np.float64]

__all__ = [
    "Plan",
    "bequests",
    "collapse",
    "combined",
    "descendants",
    "drop",
    "mass_weight",
    "merge",
    "mixed_words",
    "move",
    "remove",
    "reorder",
    "surroundings",
]

COLLAPSED = "collapsed"
NOTHING = 1e-9  # of the largest count: what vanishing shares leave behind, no evidence of a word


@dataclass(frozen=True)
class Plan:
    """What a verb has done to the topics; their numbers are found afterwards.

    Attributes
    ----------
    new, touched, gone : tuple of str
        Ids of the topics that were made, that are made of something else now, or that are no
        longer there. All others keep their numbers to the last bit.
    weighed : frozenset of str
        Those of the new and touched ones whose weight the verb knows.
    """

    new: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    weighed: frozenset[str] = frozenset()

    @property
    def counted(self) -> tuple[str, ...]:
        """Topics whose words, documents and phrases are to be found."""
        return self.new + self.touched


def combined(masses: Iterable[Sequence[Component]]) -> list[Component]:
    """Disjoint masses as one: a part for each decomposition, fine topics in order."""
    fine: dict[str, list[int]] = {}
    for mass in masses:
        for part in mass:
            fine.setdefault(part.split, []).extend(part.fine)
    return [Component(name, sorted(numbers)) for name, numbers in fine.items()]


def descendants(tree: Grown, name: str) -> list[str]:
    """All topics below one, parents before children."""
    found = list(tree.nodes[name].children)
    for below in found:  # grows while it is read
        found += tree.nodes[below].children
    return found


def surroundings(tree: Grown, names: Iterable[str]) -> list[str]:
    """Some topics, all above them, and the children of each."""
    chains = {one for name in names for one in _chain(tree, name)}
    return [name for name, node in tree.nodes.items() if {name, node.parent} & chains]


def mixed_words(tree: Grown, parts: Sequence[Component], kept: Array) -> Array:
    """φ of a mass: the words of its fine topics, no longer thinned, by what they weigh."""
    total = np.zeros(len(kept))
    for part in parts:
        split = tree.splits[part.split]
        counts = split.topics.counts[part.fine].sum(axis=0, dtype=np.float64) / kept
        counts[counts < NOTHING * counts.max()] = 0
        if len(parts) == 1:
            return np.asarray(counts / counts.sum())
        total += mass_weight(tree, [part]) * counts / counts.sum()
    result: Array = total / total.sum()
    return result


def mass_weight(tree: Grown, parts: Sequence[Component]) -> float:
    """Weight of a mass as the samples of its decompositions have it."""
    if not parts:
        return 1.0
    return sum(
        mass_weight(tree, tree.splits[name].components)
        * float(tree.splits[name].overlap.weights[fine].sum())
        for name, fine in parts
    )


def drop(tree: Grown, names: Sequence[str]) -> tuple[str, ...]:
    """Take topics out of a tree."""
    for name in names:
        del tree.nodes[name]
    return tuple(names)


def _parent(tree: Grown, name: str) -> Node:
    above = tree.nodes[name].parent
    if above is None:
        raise UsageError(f"{ROOT}: the root cannot be changed; name a topic below it")
    return tree.nodes[above]


def collapse(tree: Grown, name: str) -> Plan:
    """Drop what is below a topic."""
    node = tree.nodes[name]
    if not node.children:
        raise UsageError(f"{name}: has no children to drop")
    gone = drop(tree, descendants(tree, name))
    node.children, node.alpha0, node.reason = [], 0.0, COLLAPSED
    return Plan(gone=gone)


def merge(tree: Grown, names: Sequence[str]) -> Plan:
    """Two or more siblings become one; their children become its children.

    A topic without children becomes a child itself if another one has some, so that
    children add up to their parent.
    """
    if len(set(names)) != len(names) or len(names) < 2:
        raise UsageError("merge takes two or more different topics")
    parent = _parent(tree, names[0])
    members = [tree.nodes[name] for name in parent.children if name in names]
    if len(members) != len(names):
        raise UsageError("merge takes children of one topic; move them first")
    parts = combined(member.components for member in members)
    whole = Node(_merged_id(names, parts), parent.id, members[0].level, parts, parent.words)
    whole.weight = sum(member.weight for member in members)
    named = [member for member in members if member.named]
    if named:  # the first one is the heaviest
        whole.label, whole.named = named[0].label, True
    whole.path_scores = [
        bid for member in members for bid in member.path_scores or [member.components]
    ]
    tree.nodes[whole.id] = whole
    if any(member.children for member in members):
        for member in members:
            for child in member.children or [member.id]:
                whole.children.append(child)
                _attach(tree, child, whole)
    else:
        whole.reason = members[0].reason
    whole.alpha = sum(member.alpha for member in members)
    parent.children = [name for name in parent.children if name not in names] + [whole.id]
    gone = drop(tree, [member.id for member in members if member.id not in whole.children])
    reorder(tree)
    return Plan(new=(whole.id,), gone=gone, weighed=frozenset({whole.id}))


def _merged_id(names: Sequence[str], parts: list[Component]) -> str:
    """Id of a merged topic: of what was merged, and of what that was made of then.

    The text is written out, so that no other name of a class or a field changes an id.
    """
    made_of = ", ".join(f"Part(split={split!r}, fine={list(fine)})" for split, fine in parts)
    return sha256(f"{'+'.join(sorted(names))}/[{made_of}]".encode()).hexdigest()[:12]


def _attach(tree: Grown, name: str, parent: Node) -> None:
    node = tree.nodes[name]
    node.parent, node.number = parent.id, 0  # it gets a new address there
    shift = parent.level + 1 - node.level
    for below in [name, *descendants(tree, name)]:
        tree.nodes[below].level += shift


def reorder(tree: Grown) -> None:
    """Parents before children again."""
    names = [ROOT, *descendants(tree, ROOT)]
    nodes = {name: tree.nodes[name] for name in names}
    tree.nodes.clear()
    tree.nodes.update(nodes)


def bequests(tree: Grown, name: str) -> dict[str, list[Component]]:
    """Who gets what of a topic that is removed: siblings, and topics below them."""
    parent, node = _parent(tree, name), tree.nodes[name]
    given: dict[str, list[Component]] = {}
    for part in node.components:
        for fine in part.fine:
            for taker in _takers(tree, parent, part.split, fine, name):
                given.setdefault(taker, []).append(Component(part.split, [fine]))
    return {taker: combined([parts]) for taker, parts in given.items()}


def remove(tree: Grown, name: str) -> Plan:
    """Dissolve a topic: each of its fine topics goes to the sibling it shares documents with."""
    parent, node, given = _parent(tree, name), tree.nodes[name], bequests(tree, name)
    gone = drop(tree, [name, *descendants(tree, name)])
    parent.children.remove(name)
    if not parent.children:
        parent.alpha0, parent.reason = 0.0, COLLAPSED
        return Plan(gone=gone)
    for taker, parts in given.items():
        tree.nodes[taker].components = combined([tree.nodes[taker].components, parts])
        tree.nodes[taker].path_scores = []
    heirs = [child for child in parent.children if child in given]
    for heir in heirs:
        tree.nodes[heir].alpha += node.alpha / len(heirs)
    return Plan(touched=tuple(given), gone=gone, weighed=frozenset(given))


def _takers(tree: Grown, parent: Node, split: str, fine: int, gone: str) -> list[str]:
    """Where a fine topic goes: the child it has most to do with, and so on to a leaf."""
    found = []
    while some := [name for name in parent.children if name != gone]:
        best = max(some, key=lambda name: _lift(tree, name, split, fine))
        found.append(best)
        parent = tree.nodes[best]
    return found


def _lift(tree: Grown, name: str, split: str, fine: int) -> tuple[float, float]:
    """How much more often than by chance a topic and a fine topic share documents."""
    node, shared = tree.nodes[name], tree.splits[split].overlap
    own = [number for part in node.components if part.split == split for number in part.fine]
    if not own:
        return 0.0, node.weight
    chance = max(float(shared.weights[own].sum() * shared.weights[fine]), 1e-12)
    return float(shared.joint[fine, own].sum()) / chance, node.weight


def move(tree: Grown, name: str, target: str) -> Plan:
    """Put a topic under another parent; those above it change."""
    old, new, node = _parent(tree, name), tree.nodes[target], tree.nodes[name]
    if new is old:
        raise UsageError(f"{name}: is a child of {target} already")
    if target in [name, *descendants(tree, name)]:
        raise UsageError(f"{name}: cannot be moved below itself")
    if not new.children:
        merge = ", or merge the two" if new.parent == node.parent else ""
        raise UsageError(f"{target}: has no children; expand it first{merge}")
    if len(old.children) == 1:
        raise UsageError(f"{name}: is an only child; collapse {old.id} instead")
    old.children.remove(name)
    new.children.append(name)
    _attach(tree, name, new)
    above = [_chain(tree, old.id), _chain(tree, target)]
    both = set(above[0]) & set(above[1])
    for chain, sign in zip(above, (-1, 1), strict=True):
        for one in set(chain) - both:
            tree.nodes[one].weight += sign * node.weight
    touched = [one for chain in above for one in chain if one not in both]
    for one in sorted(touched, key=lambda one: -tree.nodes[one].level):
        children = tree.nodes[one].children
        tree.nodes[one].components = combined(tree.nodes[child].components for child in children)
        tree.nodes[one].path_scores = []
    node.alpha = node.alpha or 1.0
    reorder(tree)
    return Plan(touched=tuple(touched), weighed=frozenset(touched))


def _chain(tree: Grown, name: str) -> list[str]:
    """A topic and those above it."""
    found = [name]
    while (above := tree.nodes[found[-1]].parent) is not None:
        found.append(above)
    return found
