"""Which words stand for a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["ranked"]


def ranked(words: Array, parent: Array | None, root: Array, kept: Array) -> NDArray[np.int64]:
    """Words of a topic, the best first.

    The score is the pointwise Kullback-Leibler divergence p·log(p / √(q·r)) of the topic's
    words p from both its parent's q and the corpus's r: frequent here, less so above. Words
    that stand everywhere are toned down as in learning, by the root of `kept`.
    The root is ranked by probability.
    """
    if parent is None:
        return np.argsort(-words, kind="stable")
    tone = np.sqrt(kept)
    own, above, corpus = (_normal(one * tone) for one in (words, parent, root))
    tiny = np.finfo(float).tiny
    with np.errstate(under="ignore"):
        score = own * (2 * np.log(own + tiny) - np.log(above + tiny) - np.log(corpus + tiny))
    return np.argsort(-score, kind="stable")


def _normal(values: Array) -> Array:
    return values / max(float(values.sum()), np.finfo(float).tiny)
