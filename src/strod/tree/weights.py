"""What topics weigh, and how many documents they have: one pass over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strod.passes.weigh import measure, meet, weigh
from strod.tree.ground import model_of
from strod.tree.top_words import find_top_words
from strod.values.split import Cooccurrence
from strod.values.topic import number_children

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.tree.ground import Ground
    from strod.tree.grown import Grown
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
    tree: Grown, ground: Ground, fresh: Collection[str], weighed: Collection[str] = ()
) -> None:
    """Documents of all topics, head words of new ones and their weights.

    The weights of those in `weighed` are known.
    """
    _count_documents(tree, ground, set(fresh) - set(weighed))
    nodes = tree.nodes
    for name in {nodes[name].parent for name in fresh} - {None}:
        nodes[str(name)].children.sort(key=lambda name: (-nodes[name].weight, name))
    number_children(nodes)
    retention = ground.retention.astype(np.float64)
    find_top_words(ground.refs, nodes, fresh, retention, ground.engine)
    tree.passes += len(nodes) > 1


def _count_documents(tree: Grown, ground: Ground, fresh: Collection[str]) -> None:
    """Weights of the topics `fresh`, and for all how many documents' paths lead there."""
    nodes = tree.nodes
    weights, squares, documents = counted_documents(tree, ground)
    for node, number in zip(nodes.values(), documents.tolist(), strict=True):
        node.documents = number
    tree.effective = dict(zip(nodes, _effective(weights, squares).tolist(), strict=True))
    _weigh(nodes, dict(zip(nodes, weights.tolist(), strict=True)), fresh)


def counted_documents(tree: Grown, ground: Ground) -> tuple[Array, Array, NDArray[np.int64]]:
    """Sums of the shares in all topics and of their squares; how many paths lead to each."""
    model, kept = model_of(tree, ground), ground.book.kept()
    weights, squares = np.zeros((2, len(tree.nodes)))
    documents = np.zeros(len(tree.nodes), dtype=np.int64)
    for part in ground.engine.map(weigh, ground.refs, model, kept):
        weights += part.shares
        squares += part.squares
        documents += part.documents
    return weights, squares, documents


def _effective(sums: Array, squares: Array) -> Array:
    """Effective number of documents, (Σ_d s_d)² / Σ_d s_d²: as many that are of a topic alone."""
    result: Array = sums**2 / np.maximum(squares, np.finfo(float).tiny)
    return result


def effective_documents(tree: Grown, ground: Ground, parts: list[Component]) -> float:
    """Effective number of documents of a mass."""
    return float(_effective(*_summed(tree, ground, [parts]))[0])


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
    documents = _effective(sums[:-1], squares)
    return Cooccurrence(weights, joint[:-1, :-1] / max(joint[-1, -1], least), documents)


def _weigh(
    nodes: dict[str, Node],
    masses: dict[str, float],
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
