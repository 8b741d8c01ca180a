"""What topics weigh, and how many documents they have: one pass over all of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strod.passes.weigh import measure, meet, weigh
from strod.tree.affected import affected
from strod.tree.ground import model_of
from strod.tree.top_words import find_top_words
from strod.values.shares import structure
from strod.values.split import Cooccurrence
from strod.values.topic import number_children

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.tree.affected import Affected
    from strod.tree.ground import Ground
    from strod.tree.grown import Grown
    from strod.values.shares import Structure
    from strod.values.topic import Component, Node

    Array = NDArray[np.float64]

__all__ = [
    "counted_documents",
    "effective_documents",
    "finish",
    "measured",
    "overlap_of",
]


def finish(
    tree: Grown,
    ground: Ground,
    fresh: Collection[str],
    weighed: Collection[str] = (),
    before: Mapping[str, Structure] | None = None,
) -> None:
    """Documents of all topics, head words of new ones and their weights.

    The weights of those in `weighed` are known. If the tree `before` is given, documents of topics
    that follow the same steps in both stay what they are.
    """
    part = affected(structure(tree.nodes), before, fresh)
    _count_documents(tree, ground, set(fresh) - set(weighed), part)
    nodes = tree.nodes
    for name in {nodes[name].parent for name in fresh} - {None}:
        nodes[str(name)].children.sort(key=lambda name: (-nodes[name].weight, name))
    number_children(nodes)
    retention = ground.retention.astype(np.float64)
    find_top_words(ground.refs, nodes, fresh, retention, ground.engine)
    tree.passes += len(nodes) > 1


def _count_documents(tree: Grown, ground: Ground, fresh: Collection[str], part: Affected) -> None:
    """Weights of the topics `fresh`; how many documents' paths lead to those in a part."""
    nodes = tree.nodes
    weights, squares, documents = counted_documents(tree, ground, part)
    for name in part.below:
        nodes[name].documents = documents[name]
    tree.effective = {name: _effective(weights[name], squares[name]) for name in part.below}
    _weigh(nodes, weights, fresh)


def counted_documents(
    tree: Grown, ground: Ground, part: Affected
) -> tuple[dict[str, float], dict[str, float], dict[str, int]]:
    """Of the topics below a part: sums of shares and of their squares, how many paths lead there.

    Documents that hold nothing of what is above them are not looked at.
    """
    model, kept = model_of(tree, ground), ground.book.kept()
    masses = [part.topics[name].components for name in part.steps]
    model = replace(model, topics=part.topics)
    sums, documents = np.zeros((2, len(part.topics))), np.zeros(len(part.topics), dtype=np.int64)
    for found in ground.engine.map(weigh, ground.refs, model, kept, masses):
        sums += found.shares, found.squares
        documents += found.documents
    number = {name: place for place, name in enumerate(part.topics)}
    below = {name: number[name] for name in part.below}
    weights, squares = ({n: float(one[place]) for n, place in below.items()} for one in sums)
    return weights, squares, {name: int(documents[place]) for name, place in below.items()}


def _effective(total: float, square: float) -> float:
    """Effective number of documents, (Σ_d s_d)² / Σ_d s_d²: as many that are of a topic alone."""
    return total * total / max(square, sys.float_info.min)


def effective_documents(tree: Grown, ground: Ground, parts: list[Component]) -> float:
    """Effective number of documents of a mass."""
    total, square = _summed(tree, ground, [parts])[:, 0].tolist()
    return _effective(total, square)


def measured(
    tree: Grown, ground: Ground, masses: Mapping[str, list[Component]]
) -> dict[str, float]:
    """Sum over all documents of their shares in some masses, by name."""
    sums, _ = _summed(tree, ground, list(masses.values()))
    return dict(zip(masses, sums.tolist(), strict=True))


def _summed(tree: Grown, ground: Ground, masses: list[list[Component]]) -> Array:
    """Sums of the documents' shares in some masses, and of their squares."""
    given = model_of(tree, ground), ground.book.kept(), masses
    total = np.zeros((2, len(masses)))
    for part in ground.engine.map(measure, ground.refs, *given):
        total += part
    return total


def overlap_of(
    tree: Grown, ground: Ground, whole: list[Component], masses: Sequence[list[Component]]
) -> Cooccurrence:
    """How masses that a whole is made of share its documents."""
    given = model_of(tree, ground), ground.book.kept(), [*masses, whole]
    sums, joint = np.zeros(len(masses) + 1), np.zeros((len(masses) + 1,) * 2)
    for part in ground.engine.map(meet, ground.refs, *given):
        sums += part.sums
        joint += part.joint
    least = np.finfo(float).tiny
    weights = sums[:-1] / max(sums[-1], least)
    squares = np.diagonal(joint)[:-1]
    documents = sums[:-1] ** 2 / np.maximum(squares, least)
    return Cooccurrence(weights, joint[:-1, :-1] / max(joint[-1, -1], least), documents)


def _weigh(
    nodes: dict[str, Node],
    masses: Mapping[str, float],
    fresh: Collection[str],
) -> None:
    """Divide what a topic weighs, less its other children, among those that are fresh.

    What was grown takes nothing from them. Without other documents since, this is the mean of the
    documents' shares; with some, topics that are not fresh keep their weights and children add up
    to their parent all the same.
    """
    for node in nodes.values():  # parents before children
        some = [name for name in node.children if name in fresh]
        rest = (nodes[name] for name in node.children if name not in fresh)
        others = sum(one.weight - one.surplus for one in rest) + node.rest_weight
        total = sum(masses[name] for name in some)
        for name in some:
            share = masses[name] / total if total else 1 / len(some)
            nodes[name].weight = max(node.weight - others, 0.0) * share
