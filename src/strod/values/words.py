"""Words of topics: how many of their tokens are kept, and which say most about a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["NOTHING", "divergence", "normal", "ranked", "safe_log", "scores", "thinning", "toned"]

NOTHING = 1e-9  # score that rounding alone gives, where a topic is all that is above it


def thinning(
    occurrences: NDArray[np.int64] | NDArray[np.float64], threshold: float
) -> NDArray[np.float32]:
    """Share of a word's tokens that is kept: min(1, √(s / f_x)).

    f_x is the word's relative frequency. The words of the thinned text follow φ·kept, so φ
    is found again by dividing: exact, while words that stand everywhere no longer rule
    the moments.
    """
    if not threshold:
        return np.ones(len(occurrences), dtype=np.float32)
    frequency = occurrences / max(occurrences.sum(), 1)
    kept: NDArray[np.float32] = np.sqrt(threshold / np.maximum(frequency, threshold)).astype(
        np.float32
    )
    return kept


def scores(words: Array, parent: Array, root: Array, kept: Array) -> Array:
    """How much each word says about a topic.

    The pointwise Kullback-Leibler divergence p·log(p / √(q·r)), times two, of the topic's
    words p from both its parent's q and the corpus's r: frequent here, less so above. Words
    that stand everywhere are toned down as in learning, by the root of `kept`.
    """
    own, above, corpus = (toned(one, kept) for one in (words, parent, root))
    return divergence(own, safe_log(above) + safe_log(corpus))


def toned(words: Array, kept: Array) -> Array:
    """Words with those that stand everywhere toned down."""
    return normal(words * np.sqrt(kept))


def safe_log(values: Array) -> Array:
    """Logarithms; of 0 a very small one."""
    result: Array = np.log(values + np.finfo(float).tiny)
    return result


def divergence(own: Array, expected: Array) -> Array:
    """Pointwise divergence, times two, from two distributions whose logarithms are summed."""
    with np.errstate(under="ignore"):
        result: Array = own * (2 * safe_log(own) - expected)
    return result


def ranked(words: Array, parent: Array | None, root: Array, kept: Array) -> NDArray[np.int64]:
    """Words of a topic by falling score; those of the root by probability."""
    score = words if parent is None else scores(words, parent, root, kept)
    return np.argsort(-score, kind="stable")


def normal(values: Array) -> Array:
    """Values that sum to 1."""
    return values / max(float(values.sum()), np.finfo(float).tiny)
