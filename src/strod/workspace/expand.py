"""Splitting a topic again: its children are joined, cut finer, or learnt anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.model.grouping import cut, dendrogram, inside
from strod.tree import revise
from strod.tree.grow import deepen, make_children, split
from strod.tree.revise import Plan
from strod.tree.weights import effective_documents, overlap_of
from strod.values.topic import Component
from strod.workspace.preview import mentioned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from strod.tree.ground import Ground
    from strod.tree.grown import Grown
    from strod.values.topic import Node

__all__ = ["Expansion", "Shape"]

CARRIED = 10  # effective documents of a child, on the average: with less it says nothing
GROWS = ("height", revise.COLLAPSED)  # why a leaf is one that may be split all the same


@dataclass(frozen=True)
class Shape:
    """What a topic is to be split into.

    Attributes
    ----------
    children : int or "auto"
        How many; pinned ones are counted.
    height : int or None
        Levels below the topic; None for as many as there were.
    fresh : bool
        Whether its text is decomposed anew in any case.
    force : bool
        Whether more children are made than the evidence carries.
    """

    children: int | str = "auto"
    height: int | None = None
    fresh: bool = False
    force: bool = False


class Expansion:
    """A topic that is split, or split again; pinned children stay.

    Parameters
    ----------
    tree : Grown
        The tree, which is changed.
    ground : callable
        What it grows on, for a number of children and a height of the whole tree.
    name : str
        Id of the topic.
    shape : Shape
        What to make of it.
    """

    def __init__(
        self, tree: Grown, ground: Callable[[int | str, int], Ground], name: str, shape: Shape
    ) -> None:
        self._tree, self._ground, self._shape = tree, ground, shape
        self._was, self._splits = dict(tree.nodes), tree.splits  # of before
        self._node = node = tree.nodes[name]
        self._pinned = [one for one in node.children if tree.nodes[one].pinned]
        self._others = [one for one in node.children if one not in self._pinned]
        self._parts = node.components
        if self._pinned:
            masses = [tree.nodes[one].components for one in self._others]
            self._parts = revise.combined([*masses, node.rest])
        self._wanted = self._checked()
        self._depth = shape.height or max(_height(tree, name), 1)

    def _checked(self) -> int | str:
        """How many children are wanted beside the pinned ones."""
        name, children, pinned = self._node.id, self._shape.children, len(self._pinned)
        if pinned and not self._others:
            raise UsageError(f"{name}: all its children are pinned; unpin one first")
        if isinstance(children, str):
            return children
        if children - pinned < 2:
            kept = ", ".join(mentioned(one, self._was[one].label) for one in self._pinned)
            least = f"{pinned + 2} or more beside the pinned {kept}" if pinned else "2 or more"
            raise UsageError(f"{name}: `children` must be {least}, not {children}")
        return children - pinned

    def run(self) -> Plan:
        """Do it."""
        wanted = 0 if self._shape.fresh or isinstance(self._wanted, str) else self._wanted
        if 0 < wanted < len(self._others):
            return self._told(self._join(wanted))
        self._check_evidence()
        known = self._known_part(wanted) if wanted else None
        made = self._cut(known, wanted) if known else self._learn()
        if len(self._node.children) == len(self._pinned):
            reason = f"{self._node.reason}; take another topic or add documents"
            raise UsageError(f"{self._node.id}: cannot be split: {reason}")
        revise.reorder(self._tree)
        gone = tuple(name for name in self._was if name not in self._tree.nodes)
        return self._told(Plan(new=tuple(self._renewed(made)), gone=gone))

    def _told(self, plan: Plan) -> Plan:
        return replace(plan, pinned=tuple(self._pinned))

    def _check_evidence(self) -> None:
        """Refuse children of so few documents that they are evidence of nothing."""
        wanted = self._wanted
        if self._shape.force or isinstance(wanted, str) or wanted <= len(self._others):
            return
        documents = effective_documents(self._tree, self._ground("auto", 0), self._parts)
        most = int(documents / CARRIED)
        if wanted <= most:
            return
        name, pinned = self._node.id, len(self._pinned)
        has = f"it has {documents:.0f} effective documents, and a child needs {CARRIED}"
        if most < 2:
            raise UsageError(f"{name}: cannot be split: {has}; `force` splits it all the same")
        raise UsageError(
            f"{name}: cannot be split into {wanted + pinned} children: {has}; give `children` "
            f"{most + pinned} or less, or `force`"
        )

    # -- fewer children ------------------------------------------------------------------

    def _join(self, wanted: int) -> Plan:
        """Put children together, with what is below them."""
        plan = Plan()
        for group in self._groups(wanted):
            if len(group) > 1:
                plan = revise.merge(self._tree, group).after(plan)
        made = self._fit([one for one in self._node.children if one not in self._pinned])
        revise.reorder(self._tree)
        gone = tuple(name for name in self._was if name not in self._tree.nodes)
        new = (*plan.new, *made)
        return Plan(new=new, gone=gone, weighed=plan.weighed)

    def _groups(self, wanted: int) -> list[list[str]]:
        """The children by what belongs together: a cut of the dendrogram that they come from.

        If they come from several, or were given a part of another one, of one of their own.
        """
        found = self._known_part(wanted)
        if found is not None:
            groups = cut(self._tree.splits[found.split].merges, found.fine, wanted)
            given = [self._inside(found.split, group) for group in groups]
            if sorted(one for some in given for one in some) == sorted(self._others):
                return given
        masses = [self._tree.nodes[one].components for one in self._others]
        overlap = overlap_of(self._tree, self._ground("auto", 0), self._parts, masses)
        groups = cut(dendrogram(overlap), range(len(masses)), wanted)
        return [[self._others[place] for place in group] for group in groups]

    def _inside(self, name: str, group: Sequence[int]) -> list[str]:
        """Children that are made of some of these fine topics and of nothing else."""
        found = []
        for one in self._others:
            parts = self._tree.nodes[one].components
            if [part.split for part in parts] == [name] and set(parts[0].fine) <= set(group):
                found.append(one)
        return found

    # -- as many or more -----------------------------------------------------------------

    def _cut(self, known: Component, wanted: int) -> list[str]:
        """Cut the dendrogram elsewhere; children that come out again keep what is below."""
        tree, node = self._tree, self._node
        self._drop_others()
        ground = self._ground(self._shape.children, node.level + self._depth)
        children = make_children(tree, ground, node, known, wanted)
        kept = [one.id for one in children if self._stays(one)]
        for name in kept:
            for one in [name, *_below(self._was, name)]:
                tree.nodes[one] = self._was[one]
        made = [one for one in children if one.id not in kept]
        tree.rejoin()
        pending = {one.id: one.components for one in made if not one.reason}
        new = [one.id for one in made] + deepen(tree, ground, pending)
        return new + self._fit(kept)

    def _stays(self, made: Node) -> bool:
        """Whether a child is one that was there: of the same id, and made of the same."""
        old = self._was.get(made.id)
        return old is not None and (old.parent, old.components) == (made.parent, made.components)

    def _learn(self) -> list[str]:
        """Decompose its text, and that of its children and so on."""
        tree, node, wanted = self._tree, self._node, self._wanted
        self._drop_others()
        tree.rejoin(self._parts)
        if not self._pinned or self._depth == 1:
            return split(tree, self._ground(wanted, node.level + self._depth), node, self._parts)
        made = split(tree, self._ground(wanted, node.level + 1), node, self._parts)
        return made + self._grown(made, self._depth)

    def _grown(self, names: Sequence[str], depth: int) -> list[str]:
        """Split leaves, and what comes of them, down to so many levels below the topic."""
        ground = self._ground(self._shape.children, self._node.level + depth)
        nodes = self._tree.nodes
        pending = {name: nodes[name].components for name in names if nodes[name].reason in GROWS}
        for name in pending:
            nodes[name].reason = ""
        return deepen(self._tree, ground, pending)

    def _fit(self, names: Sequence[str]) -> list[str]:
        """Make what is below children that stay as high as was asked for; returns what is new."""
        if self._shape.height is None:
            return []
        tree, last = self._tree, self._node.level + self._shape.height
        every = [one for name in names for one in (name, *revise.descendants(tree, name))]
        for name in every:
            if name in tree.nodes and tree.nodes[name].level == last and tree.nodes[name].children:
                revise.collapse(tree, name)
        low = [
            name
            for name in every
            if name in tree.nodes
            and not tree.nodes[name].children
            and tree.nodes[name].level < last
        ]
        return self._grown(low, self._shape.height) if low else []

    # -- both ----------------------------------------------------------------------------

    def _drop_others(self) -> None:
        tree, node = self._tree, self._node
        for name in self._others:
            revise.drop(tree, [name, *revise.descendants(tree, name)])
        node.children, node.rest, node.rest_weight = list(self._pinned), [], 0.0

    def _known_part(self, wanted: int) -> Component | None:
        """The text as one branch of a dendrogram, so that it can be cut; its own one first."""
        found = [
            Component(name, list(range(split.topics.size)))
            for name, split in self._tree.splits.items()
            if split.components == self._parts and split.context is None and not split.apart
        ]
        if len(self._parts) == 1:
            [part] = self._parts
            merges = inside(self._tree.splits[part.split].merges, part.fine)
            found += [part] * (len(merges) == len(part.fine) - 1)
        return next((part for part in found if len(part.fine) >= wanted), None)

    def _same(self, old: Node, new: Node) -> bool:
        """Whether a topic has the words it had, and nothing that a removed one left it."""
        left = any(self._splits[part.split].context is not None for part in old.components)
        return not left and np.array_equal(old.words, new.words)

    def _renewed(self, made: Sequence[str]) -> list[str]:
        """Topics that were not there before; one that was is what it was."""
        fresh, nodes = [], self._tree.nodes
        for name in made:
            node, old = nodes[name], self._was.get(name)
            if old is not None and old.parent == node.parent:  # it keeps its address
                node.number, node.last_number = old.number, old.last_number
            if old is None or not self._same(old, node):
                fresh.append(name)
                if old is not None:  # the same id with other text: what people gave it stays
                    node.label, node.named, node.pinned = old.label, old.named, old.pinned
            else:  # the same fine topics again: the same topic
                nodes[name] = replace(
                    old,
                    parent=node.parent,
                    level=node.level,
                    children=node.children,
                    reason=node.reason,
                    alpha0=node.alpha0,
                    number=node.number,
                    rest=[],
                    rest_weight=0.0,
                )
        return fresh


def _height(tree: Grown, name: str) -> int:
    """Levels below a topic."""
    levels = [tree.nodes[one].level for one in revise.descendants(tree, name)]
    return max(levels, default=tree.nodes[name].level) - tree.nodes[name].level


def _below(nodes: Mapping[str, Node], name: str) -> list[str]:
    found = list(nodes[name].children)
    for one in found:  # grows while it is read
        found += nodes[one].children
    return found
