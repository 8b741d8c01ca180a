"""Dividing what a topic had among others: each document's part goes where it fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strod.passes.place import divide
from strod.tree.ground import model_of
from strod.tree.grow import free_name
from strod.tree.revise import Legacy, leaves
from strod.values.split import Cooccurrence, Decomposition, FineTopics
from strod.values.topic import Component

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.tree.ground import Ground
    from strod.tree.grown import Grown

    Array = NDArray[np.float64]

__all__ = ["divided"]

LEAST = 1e-9  # weight of a topic, so that its words count for something


def divided(tree: Grown, ground: Ground, name: str, heirs: Sequence[str], keeper: str) -> Legacy:
    """Decompose a topic into the leaves of `heirs`, which are there already, and a rest.

    A document's text of the topic is divided by how the leaves explain what it has of the parent;
    where all words alike explain it better than they do, it goes to the rest, which `keeper` has.
    """
    takers = [leaf for heir in heirs for leaf in leaves(tree, heir)]
    split = _decomposition(tree, name, takers)
    owner = free_name(tree, ground, name)
    tree.splits[owner] = split
    mass, squares = _place(tree, ground, owner)
    total = float(mass.sum())
    weights = mass / total if total else np.eye(len(mass))[-1]
    effective = np.divide(mass**2, squares, out=np.zeros_like(mass), where=squares > 0)
    overlap = Cooccurrence(weights, np.empty((0, 0)), effective)
    tree.splits[owner] = replace(split, overlap=overlap, documents=ground.documents)
    return Legacy(
        {taker: [Component(owner, [place])] for place, taker in enumerate(takers)},
        dict(zip(takers, weights.tolist(), strict=False)),
        keeper,
        [Component(owner, [len(takers)])],
        float(weights[-1]),
    )


def _decomposition(tree: Grown, name: str, takers: Sequence[str]) -> Decomposition:
    """The words of the leaves, by what they weigh, and those of the topic itself for the rest."""
    node = tree.nodes[name]
    rows = [_counts(tree, one) for one in (*takers, name)]
    weights = np.array([max(tree.nodes[one].weight, LEAST) for one in (*takers, name)])
    tokens = sum(float(row.sum()) for row in rows) * weights / weights.sum()
    scaled = [row * (count / row.sum()) for row, count in zip(rows, tokens, strict=True)]
    topics = FineTopics(np.stack(scaled).astype(np.float32))
    size = len(rows)
    overlap = Cooccurrence(np.full(size, 1 / size), np.empty((0, 0)), np.zeros(size))
    context = tree.nodes[str(node.parent)].components
    return Decomposition(
        topics, overlap, [], 0.0, 0.0, [], 0.0, 0, list(node.components), list(context)
    )


def _counts(tree: Grown, name: str) -> Array:
    """Expected (thinned) counts of words in a topic."""
    parts = tree.nodes[name].components
    rows = [
        tree.splits[part.split].topics.counts[part.fine].sum(axis=0, dtype=np.float64)
        for part in parts
    ]
    result: Array = sum(rows[1:], rows[0])
    return result


def _place(tree: Grown, ground: Ground, owner: str) -> tuple[Array, Array]:
    """One pass: shares of all documents, and their sums and sums of squares."""
    ground.progress.stage("placing documents", ground.documents, "documents")
    size = tree.splits[owner].topics.size
    mass, squares = np.zeros(size), np.zeros(size)
    given = model_of(tree, ground), ground.book.kept(), owner
    for ref, found in zip(ground.refs, ground.engine.map(divide, ground.refs, *given), strict=True):
        ground.book.append(owner, found.shares)
        mass += found.mass
        squares += found.squares
        ground.progress.advance(ref.size)
    ground.book.close(owner)
    return mass, squares
