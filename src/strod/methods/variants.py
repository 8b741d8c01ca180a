"""The paper's variants in place of our own decomposition, in the same growing tree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from strod.errors import UsageError
from strod.methods import paper
from strod.model.decompose import NotSplit
from strod.model.grouping import dendrogram
from strod.values.split import Cooccurrence, Decomposition, FineTopics
from strod.values.topic import ROOT, seed_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from strod.model.options import TreeOptions
    from strod.moments.counts import Counts
    from strod.tensor.power import Power
    from strod.values.topic import Node

__all__ = ["paper_options", "paper_splitter"]

DEFAULT_CHILDREN = 5


def paper_options(options: TreeOptions) -> TreeOptions:
    """What the paper's methods fix: every document, plain counts, no look-ahead, no polish."""
    children = options.children if isinstance(options.children, int) else DEFAULT_CHILDREN
    alpha0 = options.alpha0 if not isinstance(options.alpha0, str) else 1.0
    height = min(options.height, 1) if options.method == "tod" else options.height
    return replace(
        options,
        children=children,
        alpha0=alpha0,
        height=height,
        sample="all",
        lookahead=False,
        polish=0,
        topical="word",
        thin=0.0,
        clip=0,
    )


def paper_splitter(
    options: TreeOptions,
    counts: Callable[[], csr_array],
    width: int,
    memory: int,
    power: Power = paper.POWER,
) -> Callable[[Node, list[Counts]], Decomposition]:
    """A function that splits a node as a variant of the paper does."""
    need = paper.needed_bytes(options.method, width)
    if need > memory:
        raise UsageError(
            f"`method` {options.method} writes out dense moments: {width:,} words need "
            f"{need / 1e9:,.1f} GB and `memory` leaves {memory / 1e9:,.1f} GB; give a smaller "
            "`max_vocabulary`, more `memory` or another `method`"
        )
    states: dict[str, paper.PaperNode] = {}
    found: dict[str, paper.PaperSplit] = {}

    def split(node: Node, parts: list[Counts]) -> Decomposition:
        if node.id == ROOT:
            states[ROOT] = paper.root(options.method, counts(), power)
        else:
            [part] = node.components
            states[node.id] = states[part.split].child(found[part.split], part.fine[0])
        random = np.random.default_rng(seed_of(options.seed, node.id))
        try:
            result = states[node.id].split(options.least, float(options.alpha0), random)
        except paper.NotSplittable as leaf:
            raise NotSplit(str(leaf)) from None
        found[node.id] = result
        return _as_split(result, sum(part.size for part in parts))

    return split


def _as_split(found: paper.PaperSplit, documents: int) -> Decomposition:
    weights = found.alpha / found.alpha.sum()
    counts = found.words * weights[:, None] * max(documents, 1) * found.words.shape[1]
    shared = Cooccurrence(
        weights, np.outer(weights, weights), np.full(len(weights), float(documents))
    )
    return Decomposition(
        FineTopics(counts.astype(np.float32)),
        shared,
        dendrogram(shared),
        found.alpha0,
        0.0,
        [],
        0.0,
        documents,
    )
