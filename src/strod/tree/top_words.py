"""Which words stand for a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strod.passes.cooccur import cooccurrences
from strod.values.topic import ROOT
from strod.values.words import NOTHING, divergence, normal, safe_log, toned

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref, Rows
    from strod.values.topic import Node

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["affinity", "find_top_words", "npmi_table"]

HEADS = 20  # words of a topic whose order heeds how well they go together
TOGETHER = 8.0  # what affinity is worth: e^(8·0.1) is a factor of 2.2


def affinity(pairs: Array, documents: int) -> Array:
    """How well words go together: normalised pointwise mutual information, -1 to 1.

    `pairs` has the number of documents with both words, on its diagonal with each. Half a
    document is added to what was seen and to what chance would give, so that words which
    are too rare to meet say nothing.
    """
    alone = np.diag(pairs)
    chance = np.outer(alone, alone) / max(documents, 1)
    value = np.log((pairs + 0.5) / (chance + 0.5)) / np.log((documents + 1) / (pairs + 0.5))
    np.fill_diagonal(value, 0.0)
    return np.clip(value, -1.0, 1.0)


def npmi_table(pairs: Array, total: int, epsilon: float = 0.0) -> Array:
    """Normalised pointwise mutual information of all pairs of a list (Bouma, 2009).

    log(P(x, y) / (P(x)·P(y))) / -log P(x, y)

    Parameters
    ----------
    pairs : ndarray of shape (n, n)
        In how many documents or windows two words stand, on the diagonal each.
    total : int
        How many there are.
    epsilon : float
        Added to P(x, y); without it, pairs that never meet score -1.
    """
    alone = np.diag(pairs) / max(total, 1)
    both = pairs / max(total, 1) + epsilon
    chance = np.outer(alone, alone)
    sound = (both > 0) & (both < 1) & (chance > 0)
    logs = np.log(np.where(sound, both, 0.5))
    value = (logs - np.log(np.where(sound, chance, 1.0))) / -logs
    return np.where(sound, value, np.where(both >= 1, 1.0, -1.0))


def find_top_words(
    refs: Sequence[Ref[Rows]],
    nodes: Mapping[str, Node],
    fresh: Collection[str],
    kept: Array,
    engine: Engine,
) -> None:
    """Choose the words that head the topics `fresh`: they say much about one and go together.

    One pass over the documents counts how often the best `HEADS` words of a topic meet. The
    score of a word is multiplied by e^(8·a), a being its mean affinity to the others.
    """
    best: dict[str, Numbers] = {}
    weights: dict[str, Array] = {}
    root = nodes[ROOT].words
    logs = {ROOT: safe_log(toned(root, kept))}
    for name, node in nodes.items():
        if name not in fresh:
            continue
        if node.parent is None:
            node.top_words = _largest(root, root > 0).tolist()
            continue
        if node.parent not in logs:
            logs[node.parent] = safe_log(toned(nodes[node.parent].words, kept))
        own = toned(node.words, kept)
        score = divergence(own, logs[node.parent] + logs[ROOT])
        if score.max() < NOTHING:  # as it is all there is, its frequent words stand for it
            score = own
        best[name] = _largest(score, node.words > 0)
        weights[name] = np.maximum(score[best[name]], 0)
    if not best:
        return
    met = cooccurrences(refs, list(best.values()), len(root), engine)
    documents = sum(ref.size for ref in refs)
    for (name, words), pairs in zip(best.items(), met, strict=True):
        score = weights[name]
        share = normal(score)
        mean = affinity(pairs, documents) @ share / np.maximum(1 - share, 0.1)
        nodes[name].top_words = words[
            np.argsort(-score * np.exp(TOGETHER * mean), kind="stable")
        ].tolist()


def _largest(score: Array, occur: NDArray[np.bool_]) -> Numbers:
    """The `HEADS` words with the largest score of those that `occur`; of equals the first."""
    there = np.flatnonzero(occur)
    if len(there) > HEADS:
        least = np.partition(score[there], -HEADS)[-HEADS]
        there = there[score[there] >= least]
    return there[np.argsort(-score[there], kind="stable")][:HEADS]
