"""What there is to warn of before a change, and the change as plain dictionaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from strod.values.topic import walk
from strod.wording import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strod.values.topic import Node
    from strod.workspace.change import Change

__all__ = ["Concern", "as_dictionary", "concerns", "mentioned"]

DOUBLE = 2.0  # times its weight, or the inverse: what is worth a warning
MOST = 0.75  # of its parent: then its siblings are hardly there
FEWEST = 20  # effective documents: with less a topic is no evidence of anything
BEST, COMMON = 10, 0.5  # phrases that a name was given for; share of them that must still be there


class Concern(NamedTuple):
    """Something to look at before a change is made.

    Attributes
    ----------
    kind : str
        ``doubles``, ``halves``, ``large``, ``small``, ``name`` or ``lost``.
    topic : str
        Id of the topic.
    text : str
        In a line.
    """

    kind: str
    topic: str
    text: str


def mentioned(path: str, label: str, *more: str) -> str:
    """A topic as it is spoken of: its path and, in brackets, its name and whatever else."""
    inside = ", ".join(filter(None, (label, *more)))
    return f"{path} ({inside})" if inside else path


def concerns(change: Change) -> list[Concern]:
    """All that is worth a warning, topic by topic, those above first."""
    found = [
        concern
        for path, name in walk(change.nodes)
        for concern in _concerns(change, name, mentioned(path, change.nodes[name].label))
    ]
    return [*_lost(change), *found]


def _lost(change: Change) -> Iterator[Concern]:
    """Topics that are gone though somebody has pinned or named them."""
    names = {node.label for node in change.nodes.values() if node.named}
    for path, name in walk(change.was):
        node = change.was[name]
        kept = name not in change.removed or (node.named and node.label in names)
        marks = [mark for mark, has in (("pinned", node.pinned), ("named", node.named)) if has]
        if marks and not kept:
            text = f"{mentioned(path, node.label)} was {' and '.join(marks)} by somebody, and goes"
            yield Concern("lost", name, text)


def _concerns(change: Change, name: str, called: str) -> Iterator[Concern]:
    node = change.nodes[name]
    before, after = change.weights.get(name, (node.weight, node.weight))
    told = f"{percent(before)} -> {percent(after)}"
    if after > DOUBLE * before:
        yield Concern("doubles", name, f"{called} more than doubles: {told}")
    if after < before / DOUBLE:
        yield Concern("halves", name, f"{called} loses more than half: {told}")
    share = _of_parent(change.nodes, name)
    if share > MOST >= _of_parent(change.was, name):
        yield Concern("large", name, f"{called} has {percent(share)} of its parent")
    documents = change.effective.get(name, FEWEST)
    if documents < FEWEST and (name in change.added or after < before):
        yield Concern("small", name, f"{called} has {documents:.0f} effective documents only")
    if node.named and not _fits(change, node):
        best = ", ".join(text for text, _ in node.phrases[:3])
        yield Concern("name", name, f"{called} no longer fits its name: it says {best}")


def _of_parent(nodes: Mapping[str, Node], name: str) -> float:
    """Share of its parent that a topic has, if it is there."""
    parent = nodes[name].parent if name in nodes else None
    return nodes[name].weight / max(nodes[parent].weight, 1e-12) if parent else 0.0


def _fits(change: Change, node: Node) -> bool:
    """Whether a name that was given still stands for phrases that it was given for."""
    bearers = [node.id, *change.joined.get(node.id, ())]
    named = (change.was[one] for one in bearers if one in change.was)
    bearer = next((one for one in named if one.named and one.label == node.label), None)
    if bearer is None:  # it was given just now
        return True
    old, new = ({text for text, _ in one.phrases[:BEST]} for one in (bearer, node))
    return len(old & new) >= COMMON * len(old)


def as_dictionary(change: Change) -> dict[str, Any]:
    """A change for programs: everything by id, path and name, weights before and after."""
    now = {name: path for path, name in walk(change.nodes)}
    then = {name: path for path, name in walk(change.was)}

    def topic(name: str) -> dict[str, Any]:
        return {"id": name, "path": now[name], "name": change.nodes[name].label}

    def described(name: str) -> dict[str, Any]:
        return topic(name) | {"phrases": [text for text, _ in change.nodes[name].phrases[:BEST]]}

    def gone(name: str) -> dict[str, Any]:
        node = change.was[name]
        return {"id": name, "path": then[name], "name": node.label, "weight": node.weight}

    def shift(name: str, before: float, after: float) -> dict[str, Any]:
        return topic(name) | {"before": before, "after": after}

    members = {one for group in change.joined.values() for one in group}
    return {
        "what": change.what,
        "documents": change.documents,
        "kept": change.kept,
        "new": [
            described(name)
            | {
                "weight": change.nodes[name].weight,
                "effective_documents": change.effective.get(name),
            }
            for name in change.added
        ],
        "changed": [described(name) for name in change.changed],
        "joined": [
            topic(name) | {"weight": change.nodes[name].weight, "of": [gone(one) for one in group]}
            for name, group in change.joined.items()
        ],
        "former_leaves": [
            topic(name) | {"of": gone(leaf)} for name, leaf in change.former_leaves.items()
        ],
        "moved": [
            {"id": name, "name": change.nodes[name].label, "before": old, "after": new}
            for name, (old, new) in change.moved.items()
        ],
        "lost": [gone(name) for name in change.removed if name not in members],
        "weights": [shift(name, *both) for name, both in change.weights.items()],
        "renamed": [
            {"id": name, "path": now[name], "before": old, "after": new}
            for name, (old, new) in change.renamed.items()
        ],
        "rests": [shift(name, *both) for name, both in change.rests.items()],
        "pinned": [topic(name) for name in change.pinned],
        "warnings": [concern._asdict() for concern in change.warnings],
    }
