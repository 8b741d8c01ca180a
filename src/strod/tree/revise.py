"""Changing one branch of a tree: which topics there are and what they are made of.

These functions move parts around; they read no documents. Each returns a plan: the topics whose
numbers (words, weights, documents) are found afterwards, since they follow from the parts; all
others keep theirs to the last bit. Children always add up to their parent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.values.shares import late_splits
from strod.values.topic import ROOT, Component, Node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from strod.tree.grown import Grown

    Array = NDArray[np.float64]

__all__ = [
    "Legacy",
    "Plan",
    "adopt",
    "all_to",
    "chain",
    "collapse",
    "combined",
    "descendants",
    "drop",
    "leaves",
    "mass_weight",
    "merge",
    "mixed_words",
    "move",
    "parent_of",
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
    pinned : tuple of str
        Topics that stay only because they are pinned.
    """

    new: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    weighed: frozenset[str] = frozenset()
    pinned: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[str, ...]:
        """Topics whose words, documents and phrases are to be found."""
        return self.new + self.touched

    def after(self, first: Plan) -> Plan:
        """Both, one after the other."""
        new = tuple(name for name in first.new if name not in self.gone) + self.new
        touched = dict.fromkeys(first.touched + self.touched)
        gone = tuple(dict.fromkeys(first.gone + self.gone))
        return Plan(
            new,
            tuple(name for name in touched if name not in (*new, *gone)),
            gone,
            first.weighed | self.weighed,
        )


@dataclass(frozen=True)
class Legacy:
    """Who gets what of a topic that is removed.

    Attributes
    ----------
    given : dict of list of Component
        Parts of it, by the leaf that gets them.
    shares : dict of float
        How much of it these are.
    keeper : str or None
        The topic that has what is left, in none of its children.
    rest : list of Component
        That.
    rest_share : float
        How much of it that is.
    """

    given: dict[str, list[Component]] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    keeper: str | None = None
    rest: list[Component] = field(default_factory=list)
    rest_share: float = 0.0


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
    chains = {one for name in names for one in chain(tree, name)}
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
    known: dict[str, float] = {}  # topics that were removed one after the other share much

    def weigh(mass: Sequence[Component]) -> float:
        return sum(own(name) * float(_weights(tree, name)[fine].sum()) for name, fine in mass)

    def own(name: str) -> float:
        if name not in known:
            components = tree.splits[name].components
            known[name] = weigh(components) if components else 1.0
        return known[name]

    return weigh(parts) if parts else 1.0


def _weights(tree: Grown, name: str) -> Array:
    return tree.splits[name].overlap.weights


def drop(tree: Grown, names: Sequence[str]) -> tuple[str, ...]:
    """Take topics out of a tree."""
    for name in names:
        del tree.nodes[name]
    return tuple(names)


def parent_of(tree: Grown, name: str) -> Node:
    """The topic above one; the root has none and is refused."""
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
    _become_leaf(node)
    return Plan(gone=gone)


def merge(tree: Grown, names: Sequence[str]) -> Plan:
    """Two or more topics become one under the parent of the first; their children become its.

    A topic without children becomes a child itself if another one has some, so that
    children add up to their parent.
    """
    if len(set(names)) != len(names) or len(names) < 2:
        raise UsageError("merge takes two or more different topics")
    parent = parent_of(tree, names[0])
    for name in names:
        _check_member(tree, name, names, parent_of(tree, name), parent)
    moved = Plan()
    for name in names:
        if tree.nodes[name].parent != parent.id:
            moved = move(tree, name, parent.id).after(moved)
    return _merge_siblings(tree, parent, names).after(moved)


def _check_member(tree: Grown, name: str, names: Sequence[str], above: Node, parent: Node) -> None:
    """Refuse a topic that is below another, and the last that a parent has."""
    for one in chain(tree, above.id):
        if one in names:
            raise UsageError(f"{one}: is above {name}; merge takes topics beside each other")
    if above is not parent and set(above.children) <= set(names):
        raise UsageError(f"{above.id}: would have no children left; merge {above.id} instead")


def _merge_siblings(tree: Grown, parent: Node, names: Sequence[str]) -> Plan:
    members = [tree.nodes[name] for name in parent.children if name in names]
    parts = combined(member.components for member in members)
    whole = Node(_merged_id(names, parts), parent.id, members[0].level, parts, parent.words)
    whole.weight = sum(member.weight for member in members)
    whole.surplus = sum(member.surplus for member in members)
    named = [member for member in members if member.named]
    if named:  # the first one is the heaviest
        whole.label, whole.named = named[0].label, True
    whole.path_scores = [
        bid for member in members for bid in member.path_scores or [member.components]
    ]
    whole.alpha = sum(member.alpha for member in members)
    whole.reason = members[0].reason
    tree.nodes[whole.id] = whole
    adopt(tree, whole, members)
    parent.children = [name for name in parent.children if name not in names] + [whole.id]
    gone = drop(tree, [member.id for member in members if member.id not in whole.children])
    reorder(tree)
    return Plan(new=(whole.id,), gone=gone, weighed=frozenset({whole.id}))


def adopt(tree: Grown, whole: Node, members: Sequence[Node]) -> None:
    """Give a topic the children of those it is made of, and what was in none of them.

    A member without children becomes a child itself if another one has some.
    """
    if not any(member.children for member in members):
        return
    whole.reason = ""
    whole.rest = combined(member.rest for member in members)
    whole.rest_weight = sum(member.rest_weight for member in members)
    for member in members:
        for child in member.children or [member.id]:
            whole.children.append(child)
            _attach(tree, child, whole)
        if not member.children:
            member.surplus = 0.0  # all of it is in the weight of the whole


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


def leaves(tree: Grown, name: str) -> list[str]:
    """The leaves below a topic, or the topic itself if it is one."""
    below = [one for one in descendants(tree, name) if not tree.nodes[one].children]
    return below or [name]


def remove(tree: Grown, name: str, legacy: Legacy) -> Plan:
    """Dissolve a topic: what it had goes to leaves of its siblings, and to them; or to nobody.

    Without any siblings its parent is a leaf again.
    """
    parent, node = parent_of(tree, name), tree.nodes[name]
    gone = drop(tree, [name, *descendants(tree, name)])
    parent.children.remove(name)
    if not parent.children:
        _become_leaf(parent)
        return Plan(gone=gone)
    touched: dict[str, None] = {}
    alphas: dict[str, float] = {}
    for leaf, parts in legacy.given.items():
        above = _below(tree, parent, leaf)
        tree.nodes[above[-1]].surplus += node.surplus * legacy.shares[leaf]
        touched |= dict.fromkeys(above)
        alphas[above[-1]] = alphas.get(above[-1], 0.0) + legacy.shares[leaf]
        for one in above:
            _endow(tree.nodes[one], parts, node.weight * legacy.shares[leaf])
    for heir, share in alphas.items():
        tree.nodes[heir].alpha += node.alpha * share
    if legacy.keeper is not None:
        weight = node.weight * legacy.rest_share
        for one in (above := _below(tree, parent, legacy.keeper)):
            _endow(tree.nodes[one], legacy.rest, weight)
        if above:
            tree.nodes[above[-1]].surplus += node.surplus * legacy.rest_share
        keeper = tree.nodes[legacy.keeper]
        keeper.rest = combined([keeper.rest, legacy.rest])
        keeper.rest_weight += weight
    return Plan(touched=tuple(touched), gone=gone, weighed=frozenset(touched))


def _below(tree: Grown, parent: Node, name: str) -> list[str]:
    """A topic and those above it, as far as they are below `parent`."""
    above = chain(tree, name)
    return above[: above.index(parent.id)]


def _endow(node: Node, parts: Sequence[Component], weight: float) -> None:
    """Give a topic a part of another one; if it was merged, its members compete with it, too."""
    node.components = combined([node.components, parts])
    node.path_scores = [combined([score, parts]) for score in node.path_scores]
    node.weight += weight


def _become_leaf(node: Node) -> None:
    node.children, node.alpha0, node.reason = [], 0.0, COLLAPSED
    node.rest, node.rest_weight = [], 0.0


def all_to(tree: Grown, name: str, heir: str) -> Legacy:
    """All of a topic for one leaf, or for its parent, which then has it in no child."""
    node = tree.nodes[name]
    if heir == node.parent:
        return Legacy(keeper=heir, rest=node.components, rest_share=1.0)
    return Legacy({heir: node.components}, {heir: 1.0})


def move(tree: Grown, name: str, target: str) -> Plan:
    """Put a topic under another parent; those above it change.

    A parent that was a leaf gets a child that is what it was.
    """
    old, new, node = parent_of(tree, name), tree.nodes[target], tree.nodes[name]
    if new is old:
        raise UsageError(f"{name}: is a child of {target} already")
    if target in [name, *descendants(tree, name)]:
        raise UsageError(f"{name}: cannot be moved below itself")
    if len(old.children) == 1:
        raise UsageError(f"{name}: is an only child; take {old.id} instead, or collapse it")
    made = () if new.children else (_sprout(tree, new),)
    old.children.remove(name)
    new.children.append(name)
    _attach(tree, name, new)
    above = [chain(tree, old.id), chain(tree, target)]
    both = set(above[0]) & set(above[1])
    leaving, joining = ([tree.nodes[one] for one in some if one not in both] for some in above)
    _carry_weight(node, leaving, joining, late_splits(tree.splits))
    touched = [one.id for one in (*leaving, *joining)]
    for one in sorted(touched, key=lambda one: -tree.nodes[one].level):
        _recombine(tree, tree.nodes[one])
    reorder(tree)
    return Plan(new=made, touched=tuple(touched), weighed=frozenset((*made, *touched)))


def _carry_weight(
    node: Node, leaving: Sequence[Node], joining: Sequence[Node], late: Collection[str]
) -> None:
    """Take the weight of a topic from some, the lowest first, and give it to others.

    Only what they have of it: what was grown is in the weight of none above, or of some.
    """
    weight = node.weight - node.surplus
    for one in leaving:
        beyond = min(weight * _grown_part(node, one, late), one.surplus)
        one.weight -= weight
        one.surplus -= beyond
        weight -= beyond
    for one in joining:
        one.weight += weight
    node.surplus = node.weight - weight


def _grown_part(node: Node, above: Node, late: Collection[str]) -> float:
    """How much of a topic is of documents that fitted nowhere; if it has both, as one above it."""
    if not above.surplus:
        return 0.0
    grown = {part.split in late for part in node.components}
    if len(grown) == 1:
        return float(grown.pop())
    return above.surplus / above.weight


def _recombine(tree: Grown, node: Node) -> None:
    """What a topic is made of: its children, and what is in none of them."""
    children = [tree.nodes[child].components for child in node.children]
    node.components = combined([*children, node.rest])
    node.path_scores = []


def _sprout(tree: Grown, leaf: Node) -> str:
    """Give a leaf a child that is what it was."""
    made_of = [(split, list(fine)) for split, fine in leaf.components]
    own = sha256(f"{leaf.id}/as it was/{made_of}".encode()).hexdigest()[:12]
    tree.nodes[own] = replace(
        Node(own, leaf.id, leaf.level + 1, list(leaf.components), leaf.words),
        weight=leaf.weight,
        alpha=leaf.alpha,
        reason=leaf.reason,
        path_scores=leaf.path_scores,
    )
    leaf.children, leaf.reason = [own], ""
    return own


def chain(tree: Grown, name: str) -> list[str]:
    """A topic and those above it."""
    found = [name]
    while (above := tree.nodes[found[-1]].parent) is not None:
        found.append(above)
    return found
