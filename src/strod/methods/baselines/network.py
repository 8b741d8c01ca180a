"""The word co-occurrence network of a corpus, and how EM divides it into k.

Wang, Danilevsky, Desai, Zhang, Nguyen, Taula and Han, *A phrase mining framework for recursive
construction of a topical hierarchy*, KDD 2013 (CATHY). The weight e_ij of an edge is the number
of documents with both words, and::

    e_ij = Σ_z e_ij^z,    e_ij^z ~ Poisson(ρ_z·θ_zi·θ_zj),    Σ_i θ_zi = 1

for all ordered pairs of words. The expectation step divides every edge, the maximisation step
counts again::

    ê_ij^z = e_ij · ρ_z·θ_zi·θ_zj / Σ_t ρ_t·θ_ti·θ_tj
    ρ_z = Σ_ij ê_ij^z,    θ_zi = Σ_j ê_ij^z / ρ_z

The log-likelihood Σ_ij e_ij·log Σ_z ρ_z·θ_zi·θ_zj - Σ_z ρ_z (without what does not depend on ρ
and θ) never falls. A word has no edge to itself: e_ii = 0 is taken as seen, which is what makes
the sums above the exact maximum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from strod.compute.kernels import kernel
from strod.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["Network", "Parts", "check_room", "count_edges", "start", "subnetworks", "sweep"]

BLOCK = 1 << 23  # pairs that are counted at a time, at most
COUNTING = 36  # bytes of an edge while they are counted
EDGE, DIVIDING = 12, 17  # bytes of an edge in a network; while a network is divided
LEAST = 1.0  # expected weight of an edge, else a subnetwork does not have it


class Network(NamedTuple):
    """Words and their edges; each is there once, with its smaller word: i < j.

    Attributes
    ----------
    indptr : ndarray of shape (V + 1,)
        Edges of word i are those from ``indptr[i]`` to ``indptr[i + 1]``.
    indices : ndarray of int32
        Their other words, j.
    weights : ndarray of float64
        e_ij.
    """

    indptr: Numbers
    indices: NDArray[np.int32]
    weights: Array

    @property
    def strength(self) -> Array:
        """Σ_j e_ij of every word."""
        width = len(self.indptr) - 1
        first = np.repeat(np.arange(width), np.diff(self.indptr))
        ends = np.concatenate([first, self.indices])
        return np.bincount(ends, np.tile(self.weights, 2), width).astype(np.float64)


class Parts(NamedTuple):
    """What a network is divided into: ρ, and θ as words by parts."""

    rho: Array
    theta: Array


def count_edges(counts: csr_array, memory: int) -> Network:
    """The network of all documents.

    Parameters
    ----------
    counts : csr_array
        Documents by words.
    memory : int
        Bytes that it may take with all that comes from it; more are refused.
    """
    stands = csr_array(
        (np.ones(len(counts.indices), dtype=np.int32), counts.indices, counts.indptr),
        shape=counts.shape,
    )
    cost = np.minimum(stands.T @ np.diff(stands.indptr), counts.shape[1])
    by_word = csr_array(stands.T)
    sizes, indices, weights, edges = [np.zeros(1, dtype=np.int64)], [], [], 0
    for begin, end in _blocks(cost):
        block = csr_array(by_word[begin:end] @ stands)
        block.sort_indices()
        row = np.repeat(np.arange(begin, end), np.diff(block.indptr))
        keep = block.indices > row
        sizes.append(np.bincount(row[keep] - begin, minlength=end - begin))
        indices.append(block.indices[keep].astype(np.int32))
        weights.append(block.data[keep].astype(np.float64))
        edges += len(indices[-1])
        done = float(cost[:end].sum() / max(cost.sum(), 1))
        if edges * COUNTING > memory:
            _refuse(edges / done, edges * COUNTING / done, memory)
    return Network(
        np.cumsum(np.concatenate(sizes)),
        np.concatenate([np.zeros(0, dtype=np.int32), *indices]),
        np.concatenate([np.zeros(0), *weights]),
    )


def _blocks(cost: Numbers) -> Iterator[tuple[int, int]]:
    """Consecutive words with few enough pairs; decided by the data alone."""
    begin, room = 0, BLOCK
    for word, pairs in enumerate(cost.tolist()):
        if word > begin and pairs > room:
            yield begin, word
            begin, room = word, BLOCK
        room -= pairs
    if len(cost):
        yield begin, len(cost)


def check_room(network: Network, k: int, height: int, memory: int) -> None:
    """Refuse a network whose subnetworks on `height` levels might not fit.

    Expected weights add up to e_ij, so that at most min(kˡ, e_ij) networks of level l have
    an edge with a weight of one or more.
    """
    edges = len(network.weights)
    inside = sum(np.minimum(float(k) ** level, network.weights).sum() for level in range(height))
    need = DIVIDING * edges + EDGE * float(inside)
    if need > memory:
        _refuse(edges, need, memory)


def _refuse(edges: float, need: float, memory: int) -> None:
    raise UsageError(
        f"`method` cathy: the network of words has about {edges:,.0f} edges, which need "
        f"{need / 1e9:,.1f} GB, and `memory` leaves {memory / 1e9:,.1f} GB; give more `memory`, a "
        "larger `min_df` or a smaller `max_vocabulary`"
    )


def start(network: Network, k: int, random: np.random.Generator) -> Parts:
    """Where EM starts: each word's strength times chance."""
    strength = network.strength
    theta = strength[:, None] * random.exponential(size=(len(strength), k))
    return Parts(np.full(k, strength.sum() / k), theta / theta.sum(axis=0))


@kernel
def _sweep(network: Network, parts: Parts) -> tuple[Any, float]:
    """Expectation step: ê summed by word and part, and the likelihood."""
    (indptr, indices, weights), (rho, theta) = network, parts
    k, out, likelihood = rho.size, np.zeros_like(theta), 0.0
    scaled = np.zeros(k)
    for i in range(indptr.size - 1):
        for z in range(k):
            scaled[z] = rho[z] * theta[i, z]
        for edge in range(indptr[i], indptr[i + 1]):
            j = indices[edge]
            total = 0.0
            for z in range(k):
                total += scaled[z] * theta[j, z]
            if total > 0.0:
                likelihood += weights[edge] * np.log(total)
                ratio = weights[edge] / total
                for z in range(k):
                    part = ratio * scaled[z] * theta[j, z]
                    out[i, z] += part
                    out[j, z] += part
    return out, likelihood


def sweep(network: Network, parts: Parts) -> tuple[Parts, float]:
    """One iteration of EM; gives the new parts and the log-likelihood of the old ones."""
    out, found = _sweep(network, parts)
    rho = out.sum(axis=0)
    theta = np.divide(out, rho, out=np.zeros_like(out), where=rho > 0)
    return Parts(rho, theta), 2 * float(found) - float(parts.rho.sum())


@kernel
def _expected(network: Network, parts: Parts, part: int, out: Any) -> None:
    """ê_ij^z of one part, for every edge."""
    (indptr, indices, weights), (rho, theta) = network, parts
    for i in range(indptr.size - 1):
        for edge in range(indptr[i], indptr[i + 1]):
            j = indices[edge]
            total = 0.0
            for z in range(rho.size):
                total += rho[z] * theta[i, z] * theta[j, z]
            mine = rho[part] * theta[i, part] * theta[j, part]
            out[edge] = weights[edge] * mine / total if total > 0.0 else 0.0


def subnetworks(network: Network, parts: Parts) -> Iterator[Network]:
    """The network of each part: its expected edges, those with a weight of one or more."""
    row = np.repeat(np.arange(len(network.indptr) - 1), np.diff(network.indptr))
    expected = np.empty(len(network.weights))
    for part in range(len(parts.rho)):
        _expected(network, parts, part, expected)
        keep = expected >= LEAST
        sizes = np.bincount(row[keep], minlength=len(network.indptr) - 1)
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        yield Network(indptr, network.indices[keep], expected[keep])
