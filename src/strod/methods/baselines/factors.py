"""NMF and variational LDA of scikit-learn, and k-means, of the corpus and then of its parts.

They divide documents as wholes: each goes to the topic with the largest weight, and the next
level is learnt from the documents of a topic.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from strod.methods.baselines.clusters import kmeans
from strod.methods.baselines.learner import Division, Piece, as_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.methods.baselines.learner import Clock
    from strod.model.options import TreeOptions

    Array = NDArray[np.float64]

__all__ = ["Factors"]

BATCH_LIMIT = 20_000  # documents; LDA goes online beyond
MIXED = 0.01  # of the children's documents in the words of NMF, where most words have weight 0


class Factors:
    """Divides documents by factors of their counts, or into clusters.

    Parameters
    ----------
    whole : Piece
        The corpus.
    options : TreeOptions
        Method (``nmf``, ``lda`` or ``kmeans``) and children.
    """

    def __init__(self, whole: Piece, options: TreeOptions) -> None:
        self._whole, self._children = whole, options.least
        self._factors = {"nmf": _nmf, "lda": _lda, "kmeans": kmeans}[options.method]

    def root(self) -> Piece:
        """The corpus."""
        return self._whole

    def divide(self, state: Piece, seed: int, clock: Clock) -> Division:
        """Factors of the counts of one topic."""
        k = self._children
        state.check(k)
        columns = np.unique(state.counts.indices)
        inside = csr_matrix(state.counts[:, columns])  # scikit-learn's transformer takes no arrays
        started = time.monotonic()
        weights, words, alpha0, done = self._factors(inside, k, seed, clock.iterations)
        clock.at_once(done, time.monotonic() - started)
        best = np.where(weights.max(axis=1) > 0, weights.argmax(axis=1), -1)
        tokens = as_whole(best, state.lengths(), k)
        mine = [np.flatnonzero(best == topic) for topic in range(k)]
        parts = [Piece(state.rows[some], csr_array(state.counts[some])) for some in mine]
        full = np.zeros((k, state.counts.shape[1]))
        full[:, columns] = words
        if self._factors is _nmf:
            full = np.stack([_mixed(one, part) for one, part in zip(full, parts, strict=True)])
        return Division(full, state.rows, tokens, parts, alpha0)


def _mixed(words: Array, part: Piece) -> Array:
    """Words of a topic, with some of what its documents have: none of those is impossible."""
    own = np.asarray(part.counts.sum(axis=0), dtype=np.float64).ravel()
    sums = max(float(words.sum()), np.finfo(float).tiny), max(float(own.sum()), 1.0)
    return (1 - MIXED) * words / sums[0] + MIXED * own / sums[1]


def _nmf(counts: Any, k: int, seed: int, iterations: int) -> tuple[Array, Array, float, int]:
    """W·H of tf-idf; H is divided by idf, so that it has the scale of counts again."""
    from sklearn.decomposition import NMF
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction.text import TfidfTransformer

    transformer = TfidfTransformer()
    weighted = transformer.fit_transform(counts)
    model = NMF(k, init="nndsvd", random_state=seed, max_iter=iterations)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report has the iterations
        weights = model.fit_transform(weighted)
    return weights, model.components_ / transformer.idf_, 1.0, int(model.n_iter_)


def _lda(counts: Any, k: int, seed: int, iterations: int) -> tuple[Array, Array, float, int]:
    """Variational Bayes, with scikit-learn's priors of 1/k."""
    from sklearn.decomposition import LatentDirichletAllocation

    online = counts.shape[0] > BATCH_LIMIT
    model = LatentDirichletAllocation(
        k, learning_method="online" if online else "batch", max_iter=iterations, random_state=seed
    )
    weights = model.fit_transform(counts)
    return weights, model.components_, float(model.doc_topic_prior_ * k), int(model.n_iter_)
