"""Spherical k-means of tf-idf after latent semantic analysis: what is often tried first.

Dhillon and Modha, *Concept decompositions for large sparse text data using clustering*, Machine
Learning 2001: documents are vectors of length 1, so are the centres, and a document goes to the
centre with the largest cosine::

    z_d = argmax_z v_d·m_z,    m_z = Σ_{d in z} v_d / |Σ_{d in z} v_d|

tf-idf, the projection and the first centres (k-means++) are scikit-learn's. Its `KMeans` divides
by distances to means, which are shorter the less a cluster holds together, and adds up in the
order in which its threads finish.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["Clusters", "concepts", "kmeans", "spherical"]

DIMENSIONS = 100
STARTS = 10  # of which the best is taken, as usual for k-means


class Clusters(NamedTuple):
    """The cluster of each vector, the sum of the cosines to the centres, and the iterations."""

    best: Numbers
    fit: float
    done: int


def kmeans(counts: Any, k: int, seed: int, iterations: int) -> tuple[Array, Array, float, int]:
    """Documents by clusters, 1 where one is; the counts of the clusters' documents; iterations."""
    from sklearn.utils import check_random_state

    random = check_random_state(seed)  # the kind of generator that scikit-learn takes
    found = spherical(concepts(counts, random), k, random, iterations)
    inside = _inside(found.best, k)
    return inside, np.asarray((counts.T @ inside).T), 1.0, found.done


def concepts(counts: Any, random: Any) -> Array:
    """Documents as vectors of length 1 of at most 100 dimensions; 0 where nothing is left of one.

    Counts are dampened, 1 + log c: a word that stands twice says less than twice as much.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    model = TruncatedSVD(min(DIMENSIONS, *counts.shape), random_state=random)
    return _unit(model.fit_transform(weighted))


def spherical(vectors: Array, k: int, random: Any, iterations: int) -> Clusters:
    """The best of several starts."""
    from sklearn.cluster import kmeans_plusplus

    starts = (kmeans_plusplus(vectors, k, random_state=random)[0] for _ in range(STARTS))
    found = [_settled(vectors, _unit(centres), iterations) for centres in starts]
    return max(found, key=lambda one: one.fit)


def _settled(vectors: Array, centres: Array, iterations: int) -> Clusters:
    """Iterate until no vector changes its cluster; an empty cluster keeps its centre."""
    best, fit, done = np.full(len(vectors), -1), 0.0, 0
    while done < iterations:
        cosines = vectors @ centres.T
        before, best, done = best, cosines.argmax(axis=1), done + 1
        fit = float(cosines.max(axis=1).sum())
        if np.array_equal(best, before):
            break
        sums = _inside(best, len(centres)).T @ vectors
        centres = np.where(sums.any(axis=1, keepdims=True), _unit(sums), centres)
    return Clusters(best, fit, done)


def _inside(best: Numbers, k: int) -> Array:
    """Vectors by clusters: 1 where one is."""
    result: Array = (best[:, None] == np.arange(k)).astype(np.float64)
    return result


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Array = vectors / np.maximum(lengths, np.finfo(float).tiny)
    return result
