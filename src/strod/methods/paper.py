"""The paper's own variants of the method, as definitions that run: for comparison.

=========== =============== ============ ============================================
method      whitening       M3(W, W, W)  moments below the root
=========== =============== ============ ============================================
tod         M2 in full      M3 in full   none: only the root is split (Algorithm 1)
rtod        M2 in full      M3 in full   parent's E2, E3 times posteriors (Algorithm 2)
rtod2       E2, then k by k M3 in full   parent's E2, E3 times posteriors
rtod3       M2 in full      contractions topical counts c·p(t|x)
strod-paper E2, then k by k contractions topical counts c·p(t|x) (Algorithm 3)
=========== =============== ============ ============================================

Readings where the paper leaves a choice:

- RTOD2 avoids M2 alone. It has E3 in full, so it conditions its moments on a topic as RTOD does;
  E2 is sparse, and stays so, since a posterior only scales its entries.
- RTOD3 avoids M3 alone. Without E3 there is nothing to multiply by the posterior of triples,
  and contractions need counts of documents: below the root these are the topical counts,
  and M1 and E2 come from the same counts, so that the three moments belong together.
- Of M2 = (alpha0+1)·E2 - alpha0·M1⊗M1 the paper says that its column space is that of E2. This
  holds for the model's moments, not for those of a sample, which have full rank: the spaces of
  the k largest eigenpairs then differ by about the sampling error. Here M2 is always taken
  within the space of E2's k largest, so that all variants are one estimator at the root.
- Every M1, E2 and E3 is an average over the documents with at least three tokens (of the
  topic): the paper forgets 1/D in two of them.
- Fewer than ten such documents are not split, and a non-positive eigenvalue of M2 halves alpha0
  up to ten times: so does the authors' code.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackError, eigsh

from strod.methods import dense
from strod.model.options import PAPER
from strod.moments.whitening import DENSE, HALVINGS, SMALL, Whitening
from strod.tensor.power import Power, decompose
from strod.tensor.recovery import recover, third_moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["NotSplittable", "PaperNode", "PaperSplit", "needed_bytes", "root"]

DOCUMENTS = 10  # fewer have no say
# N = 100, n = 500: with the paper's 30 the variants agree to 1e-4 only where text is scarce.
POWER = Power(starts=100, steps=500, refine=False, pointers=0)
TINY = 1e-6  # an eigenvalue of the tensor is 1 or more in theory
COLUMNS = 16  # k and then some, for estimates of memory


class NotSplittable(Exception):  # noqa: N818 - not an error but an answer
    """A topic that stays a leaf; says why."""


@dataclass(frozen=True)
class PaperSplit:
    """Children of a topic.

    Attributes
    ----------
    alpha0 : float
        The one that was used; less than asked for if M2 was not positive.
    alpha : ndarray of shape (k,)
        Dirichlet prior of the children, falling; sums to alpha0.
    words : ndarray of shape (k, V)
        φ_z, distributions over words.
    """

    alpha0: float
    alpha: Array
    words: Array


class PaperNode(Protocol):
    """A topic whose moments are known."""

    def split(self, k: int, alpha0: float, random: np.random.Generator) -> PaperSplit:
        """Find `k` children; raises NotSplittable."""

    def child(self, split: PaperSplit, z: int) -> PaperNode:
        """Child z of a split of this node; its moments depend on its ancestors only."""


def root(method: str, counts: csr_array, power: Power = POWER) -> PaperNode:
    """The root of a tree.

    Parameters
    ----------
    method : str
        One of `strod.model.options.PAPER`.
    counts : csr_array of shape (documents, V)
        How often a word stands in a document.
    power : Power
        Iterations of the tensor power method; `refine` and `pointers` are not the paper's
        and have no say.

    Notes
    -----
    Memory is not checked: see `needed_bytes`.
    """
    if method not in PAPER:
        raise ValueError(f"no method {method!r}; there are {', '.join(PAPER)}")
    counts = csr_array(counts, dtype=np.float64)
    everything = np.ones(counts.shape[1])
    if method in {"rtod3", "strod-paper"}:
        return _OfCounts(counts, everything, method == "rtod3", power)
    return _of_moments(dense.long_enough(counts, everything), method, power)


def needed_bytes(method: str, width: int) -> int:
    """Memory that splitting takes at its peak, apart from the counts, for V words.

    Two tensors of V by V by V for the variants that have M3 (E3 of the root, and what becomes M3 of
    the topic); six matrices of V by V for the one that has only M2.
    """
    columns = 8 * width * COLUMNS
    if method == "strod-paper":
        return 4 * columns
    if method == "rtod3":
        return 6 * 8 * width**2 + columns
    return 2 * 8 * width**3 + columns * width


class _Whitened(NamedTuple):
    """The k largest eigenpairs of M2 at an alpha0: Σ, falling, and the columns of M."""

    alpha0: float
    values: Array
    vectors: Array

    @property
    def basis(self) -> Array:
        """W = M·Σ^(-1/2)."""
        return self.vectors / np.sqrt(self.values)

    @property
    def whitening(self) -> Whitening:
        """The same as factors of M."""
        size = np.sqrt(self.values)
        return Whitening(self.alpha0, np.diag(1 / size), np.diag(size))


def _largest(matrix: Array, k: int) -> tuple[Array, Array]:
    """The algebraically largest eigenpairs of a symmetric matrix, falling."""
    size = len(matrix)
    values, vectors = eigh(matrix, subset_by_index=[size - k, size - 1])
    return values[::-1], vectors[:, ::-1]


def _eigenpairs(second: Any, k: int, random: np.random.Generator) -> tuple[Array, Array]:
    """The k largest eigenpairs Σ1 and U of E2, a sparse matrix or an operator."""
    width = second.shape[0]
    if width <= max(DENSE, 2 * k):
        return _largest(second @ np.eye(width), k)
    try:
        values, vectors = eigsh(second, k, which="LA", v0=random.standard_normal(width))
    except ArpackError as error:
        raise NotSplittable("the eigenpairs of E2 were not found") from error
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def _positive(
    moment: Callable[[float], Array], k: int, alpha0: float
) -> tuple[float, Array, Array]:
    """An alpha0 at which M2 has k positive eigenvalues, and those eigenpairs."""
    for _ in range(HALVINGS + 1):
        values, vectors = _largest(moment(alpha0), k)
        if values[-1] > SMALL * values[0] > 0:
            return alpha0, values, vectors
        alpha0 /= 2
    raise NotSplittable("no valid whitening")


def _whitened(
    second: Any, first: Array, k: int, alpha0: float, random: np.random.Generator
) -> _Whitened:
    """Whiten without M2: E2 = U·Σ1·Uᵀ, then with a for alpha0 and M1' = Uᵀ·M1.

    M2' = (a+1)·Σ1 - a·M1'⊗M1' = U'·Σ·U'ᵀ, so M = U·U'. (The paper's text has M1' = U·M1.)
    """
    found, vectors = _eigenpairs(second, k, random)
    projected = vectors.T @ first

    def moment(at: float) -> Array:
        return (at + 1) * np.diag(found) - at * np.outer(projected, projected)

    used, values, inside = _positive(moment, k, alpha0)
    return _Whitened(used, values, vectors @ inside)


def _whitened_full(second: csr_array, first: Array, k: int, alpha0: float) -> _Whitened:
    """Whiten with M2 in full, within the space of E2's k largest eigenpairs."""
    full = second.toarray()
    _, space = _largest(full, k)

    def moment(at: float) -> Array:
        matrix = (at + 1) * full - at * np.outer(first, first)
        confined: Array = space @ (space.T @ matrix @ space) @ space.T
        return confined

    return _Whitened(*_positive(moment, k, alpha0))


def _children(
    tensor: Array, whitened: _Whitened, random: np.random.Generator, power: Power
) -> PaperSplit:
    """Power iteration, deflation and recovery (Algorithm 1, lines 5 to 13)."""
    if not np.isfinite(tensor).all():
        raise NotSplittable("the third moment is not finite")
    found = decompose(tensor, random, starts=power.starts, steps=power.steps, refine=False)
    if not found.values.min() > TINY:
        raise NotSplittable("no positive eigenvalue of the third moment")
    topics = recover(found, whitened.whitening, whitened.vectors)
    order = np.argsort(-topics.weights, kind="stable")
    alpha = whitened.alpha0 * topics.weights[order]
    return PaperSplit(whitened.alpha0, alpha, topics.words[order])


def _check(documents: int, width: int, k: int) -> None:
    if documents < DOCUMENTS:
        raise NotSplittable("too few documents")
    if not 1 <= k <= width:
        raise NotSplittable("too few words")


@dataclass(frozen=True)
class _OfMoments:
    """A topic of TOD, RTOD or RTOD2: moments of the root, and the way down from it.

    E3 is kept for the root only. That of a topic is the root's times the posterior of each
    of its ancestors, made anew when it is split: two tensors in memory at any depth.
    """

    method: str
    documents: int
    first: Array
    second: csr_array
    third: Array
    power: Power = POWER
    path: tuple[tuple[PaperSplit, int], ...] = field(default=())

    def split(self, k: int, alpha0: float, random: np.random.Generator) -> PaperSplit:
        """Find `k` children."""
        if self.method == "tod" and self.path:
            raise NotSplittable("tod splits the root only")
        _check(self.documents, len(self.first), k)
        if self.method == "rtod2":
            whitened = _whitened(self.second, self.first, k, alpha0, random)
        else:
            whitened = _whitened_full(self.second, self.first, k, alpha0)
        third, used = self.conditional_third(), whitened.alpha0
        tensor = dense.tensor_of(third, self.second, self.first, used, whitened.basis)
        return _children(tensor, whitened, random, self.power)

    def child(self, split: PaperSplit, z: int) -> PaperNode:
        """Condition the moments on child z of a split."""
        first = dense.condition_first(self.first, split.alpha, split.words, z)
        second = dense.condition_second(self.second, split.alpha, split.words, z)
        return replace(self, first=first, second=second, path=(*self.path, (split, z)))

    def conditional_third(self) -> Array:
        """E3 of this topic."""
        third = self.third.copy()
        for split, z in self.path:
            third = dense.condition_third(third, split.alpha, split.words, z)
        return third


def _of_moments(counts: csr_array, method: str, power: Power) -> PaperNode:
    first, second = dense.first_moment(counts), dense.second_moment(counts)
    return _OfMoments(method, counts.shape[0], first, second, dense.third_moment(counts), power)


@dataclass(frozen=True)
class _OfCounts:
    """A topic of RTOD3 (`full`) or STROD: counts of the root, and p(t|x) of the topic.

    The p(t|x) of a topic given its parent are multiplied on the way down (eq. tc). E2 is an
    operator for STROD, where the paper has a sparse matrix: the same numbers in less memory.
    """

    counts: csr_array
    share: Array
    full: bool
    power: Power

    def split(self, k: int, alpha0: float, random: np.random.Generator) -> PaperSplit:
        """Find `k` children."""
        counts = dense.long_enough(self.counts, self.share)
        _check(counts.shape[0], counts.shape[1], k)
        first = dense.first_moment(counts)
        if self.full:
            whitened = _whitened_full(dense.second_moment(counts), first, k, alpha0)
        else:
            whitened = _whitened(dense.second_operator(counts), first, k, alpha0, random)
        third = dense.contracted_third(counts, whitened.vectors)
        tensor = third_moment(third, whitened.vectors.T @ first, whitened.whitening)
        return _children(tensor, whitened, random, self.power)

    def child(self, split: PaperSplit, z: int) -> PaperNode:
        """Topical counts of child z of a split."""
        share = self.share * dense.topic_share(split.alpha, split.words, z)
        return replace(self, share=share)
