"""What a verb did: topics compared before and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strod.store.topics import (
    node_sha256,
)
from strod.values.topic import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strod.values.topic import Node
    from strod.workspace.tree import Topic, Tree

__all__ = ["Change", "compared"]


@dataclass(frozen=True)
class Change:
    """What a verb did, or would do.

    Attributes
    ----------
    what : str
        The verb and its arguments.
    added, changed, removed : list of str
        Ids of the topics that are new, have other numbers or names, or are gone.
    kept : int
        Topics that are, to the last bit, what they were: compared, not assumed.
    nodes : dict of Node
        All topics afterwards.
    moved : dict of (str, str)
        Topics that were there before and have another path: the old and the new one, by id.
    gone : dict of (str, str)
        Path and name that topics had which are gone, by id.
    joined : dict of list of str
        For each new topic, by id, those gone that it is made of.
    documents : int
        How many documents the corpus has more than before.
    """

    what: str
    added: list[str]
    changed: list[str]
    removed: list[str]
    kept: int
    nodes: dict[str, Node] = field(repr=False)
    moved: dict[str, tuple[str, str]] = field(default_factory=dict)
    gone: dict[str, tuple[str, str]] = field(default_factory=dict)
    joined: dict[str, list[str]] = field(default_factory=dict)
    documents: int = 0

    @property
    def paths(self) -> dict[str, str]:
        """Paths of the topics that are new, by id."""
        return {name: path for path, name in walk(self.nodes) if name in self.added}


def compared(what: str, before: Tree, nodes: dict[str, Node]) -> Change:
    """What differs: every topic is compared, by its checksum."""
    old = before.nodes
    added = [name for name in nodes if name not in old]
    removed = [name for name in old if name not in nodes]
    changed = [name for name in nodes if name in old and _differs(before[name], nodes[name])]
    kept = len(nodes) - len(added) - len(changed)
    paths = {name: path for path, name in walk(nodes)}
    moved = {
        name: (before[name].path, path)
        for name, path in paths.items()
        if name in old and before[name].path != path
    }
    gone = {name: (before[name].path, before[name].label or "") for name in removed}
    joined = {name: _members(nodes[name], [old[one] for one in removed]) for name in added}
    joined = {name: members for name, members in joined.items() if members}
    return Change(what, added, changed, removed, kept, nodes, moved, gone, joined)


def _members(node: Node, gone: Sequence[Node]) -> list[str]:
    """Topics that are gone from beside a new one and are parts of it, if it is not one alone."""
    own = _components(node)
    inside = [one.id for one in gone if one.parent == node.parent and _components(one) <= own]
    return inside if len(inside) > 1 else []


def _components(node: Node) -> set[tuple[str, int]]:
    return {(part.split, fine) for part in node.components for fine in part.fine}


def _differs(before: Topic, after: Node) -> bool:
    """Whether a topic is not the same any more; where it stands in the tree does not count."""
    same = (before.label or "", before.pinned) == (after.label, after.pinned)
    return not same or node_sha256(after) != before.sha256
