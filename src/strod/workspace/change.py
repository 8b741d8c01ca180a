"""What a verb did, or would do: topics compared before and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from strod.store.topics import (
    node_sha256,
)
from strod.values.topic import ROOT, walk
from strod.workspace.preview import Concern, as_dictionary, concerns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from strod.values.topic import Node
    from strod.workspace.tree import Topic, Tree

__all__ = ["Change", "compared"]


@dataclass(frozen=True)
class Change:
    """What a verb did or, with `dry_run`, would do: the same value in both cases.

    Attributes
    ----------
    what : str
        The verb and its arguments.
    added, changed, removed : list of str
        Ids of the topics that are new, have other numbers or names, or are gone.
    kept : int
        Topics that are, to the last bit, what they were: compared, not assumed. The root, which
        is no topic among others, is not counted.
    nodes, was : dict of Node
        All topics afterwards, and before.
    moved : dict of (str, str)
        Topics that were there before and have another path: the old and the new one, by id.
    gone : dict of (str, str)
        Path and name that topics had which are gone, by id.
    joined : dict of list of str
        For each new topic, by id, those before that it is made of.
    documents : int
        How many documents the corpus has more than before.
    effective : dict of float
        Effective number of documents of topics, as far as they were counted.
    pinned : list of str
        Topics that stay because they are pinned.
    """

    what: str
    added: list[str]
    changed: list[str]
    removed: list[str]
    kept: int
    nodes: dict[str, Node] = field(repr=False)
    was: dict[str, Node] = field(default_factory=dict, repr=False)
    moved: dict[str, tuple[str, str]] = field(default_factory=dict)
    gone: dict[str, tuple[str, str]] = field(default_factory=dict)
    joined: dict[str, list[str]] = field(default_factory=dict)
    documents: int = 0
    effective: Mapping[str, float] = field(default_factory=dict, repr=False)
    pinned: Sequence[str] = ()

    @property
    def paths(self) -> dict[str, str]:
        """Paths of the topics that are new, by id."""
        return {name: path for path, name in walk(self.nodes) if name in self.added}

    @cached_property
    def weights(self) -> dict[str, tuple[float, float]]:
        """Weight before and after of the topics that have another one, by id."""
        return self._differing(lambda node: node.weight)

    @cached_property
    def rests(self) -> dict[str, tuple[float, float]]:
        """What is in no child of a topic, before and after, where it differs, by id."""
        return self._differing(lambda node: node.rest_weight)

    @property
    def renamed(self) -> dict[str, tuple[str, str]]:
        """Name before and after of the topics that nobody has named and have another one, by id."""
        names = (name for _, name in walk(self.nodes) if name in self.was)
        pairs = {
            name: (self.was[name].label, self.nodes[name].label)
            for name in names
            if not (self.was[name].named or self.nodes[name].named)
        }
        return {name: (old, new) for name, (old, new) in pairs.items() if old != new}

    @property
    def former_leaves(self) -> dict[str, str]:
        """New topics that are what their parents were before they had children, by id."""
        parents = {name: str(self.nodes[name].parent) for name in self.added}
        return {
            name: parent
            for name, parent in parents.items()
            if parent in self.was
            and not self.was[parent].children
            and self.was[parent].components == self.nodes[name].components
        }

    def _differing(self, read: Callable[[Node], float]) -> dict[str, tuple[float, float]]:
        pairs = {
            name: (read(self.was[name]), read(self.nodes[name]))
            for _, name in walk(self.nodes)
            if name in self.was
        }
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    @cached_property
    def warnings(self) -> list[Concern]:
        """What to look at before it is done."""
        return concerns(self)

    def as_dictionary(self) -> dict[str, Any]:
        """For programs: what ``--json`` of the verbs prints."""
        return as_dictionary(self)


def compared(what: str, before: Tree, nodes: dict[str, Node]) -> Change:
    """What differs: every topic is compared, by its checksum."""
    old = before.nodes
    added = [name for name in nodes if name not in old]
    removed = [name for name in old if name not in nodes]
    changed = [name for name in nodes if name in old and _differs(before[name], nodes[name])]
    kept = len({*nodes} - {*added, *changed, ROOT})
    paths = {name: path for path, name in walk(nodes)}
    moved = {
        name: (before[name].path, path)
        for name, path in paths.items()
        if name in old and before[name].path != path
    }
    gone = {name: (before[name].path, before[name].label or "") for name in removed}
    joined = {name: _members(nodes, name, old) for name in added}
    joined = {name: members for name, members in joined.items() if members}
    return Change(what, added, changed, removed, kept, nodes, old, moved, gone, joined)


def _members(nodes: Mapping[str, Node], name: str, old: Mapping[str, Node]) -> list[str]:
    """Topics that are one now, if they are several: gone, or below it and no longer beside it."""
    own = _components(nodes[name])
    there = (
        one
        for one in old.values()
        if one.id not in nodes or (nodes[one.id].parent == name and one.parent in nodes)
    )
    inside = [one for one in there if one.components and _components(one) <= own]
    names = {one.id for one in inside}
    inside.sort(key=lambda one: (-one.weight, one.id))
    tops = [one.id for one in inside if one.parent not in names]
    return tops if len(tops) > 1 else []


def _components(node: Node) -> set[tuple[str, int]]:
    return {(part.split, fine) for part in node.components for fine in part.fine}


def _differs(before: Topic, after: Node) -> bool:
    """Whether a topic is not the same any more; where it stands in the tree does not count."""
    same = (before.label or "", before.pinned) == (after.label, after.pinned)
    return not same or node_sha256(after) != before.sha256
