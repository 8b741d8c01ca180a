"""M1, E2 and E3 of a topic, each a sum over blocks of documents.

Notation of the paper: c_i are the counts of document i, l_i its length. With p the
probability that a token belongs to the topic, the sums run over distinct tokens::

    M1 ∝ Σ_i h·c¹_i
    E2 ∝ Σ_i h²·(c¹_i ⊗ c¹_i - diag(c²_i))
    E3 ∝ Σ_i h³·(c¹_i ⊗ c¹_i ⊗ c¹_i - sym(c¹_i ⊗ diag(c²_i)) + 2·tridiag(c³_i))

where c^r = c·p^r and h is the say of a document. Each is divided by the number of tokens,
pairs and triples it sums over (pooled), not averaged over documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.compute.kernels import fixed, kernel
from strod.compute.rows import check_lanes, pull, push
from strod.compute.threads import spread
from strod.values.padding import with_lanes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from strod.moments.counts import Counts

    Array = NDArray[np.float64]

__all__ = ["Moments"]

ROWS = 2048  # documents or words per product: so many fit the cache


@dataclass(frozen=True)
class Moments:
    """Moments of one topic.

    Attributes
    ----------
    first : ndarray of shape (V,)
        M1, the distribution over words.
    diagonal : ndarray of shape (V,)
        What E2 subtracts on its diagonal.
    tokens, pairs, triples : float
        What the sums are divided by.
    noise : float
        Eigenvalue of E2 that chance alone may reach.
    """

    blocks: Sequence[Counts]
    threads: int
    first: Array
    diagonal: Array
    tokens: float
    pairs: float
    triples: float
    noise: float

    @classmethod
    def of(cls, blocks: Sequence[Counts], width: int, threads: int = 1) -> Moments:
        """One pass: M1, the diagonal of E2 and the totals."""
        first, diagonal, totals = np.zeros(width), np.zeros(width), np.zeros(4)
        for part in spread(_first, blocks, threads):
            first += part[0]
            diagonal += part[1]
            totals += part[2]
        tokens, pairs, triples, spread_of_pairs = (float(total) for total in totals)
        if tokens > 0:
            first /= tokens
        if pairs > 0:
            diagonal /= pairs
        # An entry of E2 varies by M1_x·M1_y·spread / pairs² if words are drawn one by one; a
        # random matrix with such entries has a norm of twice the root of a row's sum.
        noise = 2 * float(np.sqrt(first.max(initial=0) * spread_of_pairs)) / max(pairs, 1e-300)
        return cls(blocks, threads, first, diagonal, tokens, pairs, triples, noise)

    @property
    def width(self) -> int:
        """V."""
        return len(self.first)

    @cached_property
    def _weighted(self) -> list[tuple[NDArray[Any], ...]]:
        """h_d·c_d of every block, as compressed sparse rows: E2 is applied many times."""
        return [(block.indptr, block.indices, block.weighted()) for block in self.blocks]

    def second(self, vectors: Array) -> Array:
        """E2·X without E2: one pass over the blocks."""
        product = np.zeros_like(vectors)
        for part in spread(_second(vectors), self._weighted, self.threads):
            product += part
        product /= self.pairs or 1.0
        product -= self.diagonal[:, None] * vectors
        return product

    def third(self, basis: Array) -> Array:
        """E3(W, W, W), a k×k×k tensor: one pass over the blocks (eq. A1 to A3).

        Zero if there are no triples.
        """
        k = basis.shape[1]
        if self.triples <= 0:
            return np.zeros((k, k, k))
        tensor, mixed, triple = np.zeros((k, k, k)), np.zeros_like(basis), np.zeros(self.width)
        for part in spread(_third(basis), self.blocks, self.threads):
            tensor += part[0]
            mixed += part[1]
            triple += part[2]
        # A2 is b⊗b⊗m in its three orders, A3 is twice t·b⊗b⊗b: both in one sum.
        tensor -= _cubes(basis, mixed - (2 / 3) * triple[:, None] * basis, 3)
        tensor /= self.triples
        return filled(tensor)


def filled(tensor: Array) -> Array:
    """A symmetric tensor of which all T_ijk with i ≤ j, k are known; to the last bit."""
    for i in range(len(tensor)):
        known = (tensor[i, i:, i:] + tensor[i, i:, i:].T) / 2
        tensor[i, i:, i:] = tensor[i:, i, i:] = tensor[i:, i:, i] = known
    return tensor


def _first(block: Counts) -> tuple[Array, Array, Array]:
    one, two, say = block.power(1), block.power(2), block.document_weight
    spread = say**4 @ (block.length(2) ** 2 - block.length(4))  # squares of the pairs' weights
    tokens, pairs, triples = say @ block.length(1), block.pairs().sum(), block.triples().sum()
    totals = np.array([tokens, pairs, triples, max(spread, 0)])
    return one.T @ say, two.T @ say**2, totals


def _second(vectors: Array) -> Callable[[tuple[NDArray[Any], ...]], Array]:
    given = with_lanes(vectors)

    def product(weighted: tuple[NDArray[Any], ...]) -> Array:
        result = np.zeros_like(given)
        _apply(*fixed(*weighted, given), result)
        return result[:, : vectors.shape[1]]

    return product


@kernel
def _apply(indptr: Any, indices: Any, values: Any, vectors: Any, out: Any) -> None:
    """Σ_d c_d·(c_d'·X): what a document has of the vectors goes to each of its words."""
    check_lanes(out, vectors)
    own = np.empty((1, vectors.shape[1]))
    for d in range(indptr.size - 1):
        words, counts = indices[indptr[d] : indptr[d + 1]], values[indptr[d] : indptr[d + 1]]
        own[:] = 0.0
        pull(own, 0, vectors, words, counts)
        push(own, 0, out, words, counts)


def _third(basis: Array) -> Callable[[Counts], tuple[Array, Array, Array]]:
    given, k = with_lanes(basis), basis.shape[1]

    def contraction(block: Counts) -> tuple[Array, Array, Array]:
        weight = block.document_weight**3
        one, two = block.values(1), block.values(2)
        projected, mixed = np.zeros((block.size, given.shape[1])), np.zeros_like(given)
        words = block.indptr, block.indices
        _project(*fixed(*words, one, two, weight, given), projected, mixed)
        own = np.ascontiguousarray(projected[:, :k])
        sums = _cubes(own, weight[:, None] * own, 1)  # A1
        return sums, mixed[:, :k], block.power(3).T @ weight  # A2, A3

    return contraction


@kernel
def _project(
    indptr: Any,
    indices: Any,
    one: Any,
    two: Any,
    weight: Any,
    basis: Any,
    projected: Any,
    mixed: Any,
) -> None:
    """W'·c¹ of every document, and Σ_d h³·c²_d ⊗ W'·c¹_d."""
    check_lanes(projected, basis)
    own = np.empty((1, basis.shape[1]))
    for d in range(indptr.size - 1):
        begin, end = indptr[d], indptr[d + 1]
        pull(projected, d, basis, indices[begin:end], one[begin:end])
        for z in range(own.size):
            own[0, z] = weight[d] * projected[d, z]
        push(own, 0, mixed, indices[begin:end], two[begin:end])


def _cubes(vectors: Array, others: Array, orders: int) -> Array:
    """Σ_n v_n ⊗ v_n ⊗ u_n, or the sum of its three orders, where i ≤ j, k; some n at a time.

    With one order, u has to be a multiple of v.
    """
    k = vectors.shape[1]
    total = np.zeros((k, k, k))
    for start in range(0, len(vectors), ROWS):
        v, u = vectors[start : start + ROWS], others[start : start + ROWS]
        for i in range(k):
            total[i, i:, i:] += (v[:, i:] * u[:, i, None]).T @ v[:, i:]
            if orders > 1:
                across = (v[:, i:] * v[:, i, None]).T @ u[:, i:]
                total[i, i:, i:] += across + across.T
    return total
