"""Whitening: the largest eigenpairs of E2, then those of a small matrix (paper, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.moments.moments import Moments

    Array = NDArray[np.float64]

__all__ = ["Spectrum", "Whitening", "spectrum", "whiten"]

BLOCK = 8  # vectors that E2 is applied to at once
STEPS = 40  # at most
SETTLED = 1e-6  # relative change of the eigenvalues in two steps; that of a vector is its root
DENSE = 300  # words up to which E2 is small enough to be written out
HALVINGS = 10
SMALL = 1e-9  # of the largest eigenvalue: no evidence, only rounding
# Of the length of a block: what is left of it lies inside the basis, or is a millionth of the
# largest eigenvalue, which no topic of text is.
ROUNDING = 1e-7
SHORT = 1e-2  # of the length of a block: rounding is no longer negligible


@dataclass(frozen=True)
class Spectrum:
    """Largest eigenpairs of E2.

    Attributes
    ----------
    values : ndarray
        Eigenvalues, the algebraically largest first (Σ1).
    vectors : ndarray of shape (V, k)
        Orthonormal eigenvectors (U).
    ritz : ndarray
        All values of the space in which they were found, the largest first; none is larger than
        the eigenvalue of its rank.
    """

    values: Array
    vectors: Array
    ritz: Array = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Whitening:
    """W with W'·M2·W = I, kept as U·S so that everything happens in k dimensions.

    Attributes
    ----------
    alpha0 : float
        The one it was found for; less than asked if M2' was not positive.
    scale : ndarray of shape (r, k)
        S = U'·Σ^(-1/2): W = U·S.
    unscale : ndarray of shape (r, k)
        U'·Σ^(1/2): (W')⁺ = U·unscale.
    """

    alpha0: float
    scale: Array
    unscale: Array


def spectrum(moments: Moments, rank: int, random: np.random.Generator) -> Spectrum:
    """The `rank` algebraically largest eigenpairs of E2.

    E2 of short texts has large negative eigenvalues, so an iteration that favours large
    magnitudes would find the wrong ones. A Krylov space of a block of vectors and the
    Rayleigh-Ritz procedure in it find both ends of the spectrum. It grows until the
    eigenvalues stand still, so that they do not hang on the random start.
    """
    width = moments.width
    block = max(BLOCK, rank // 3)
    if width <= max(DENSE, block * (STEPS + 1)):
        basis = np.eye(width)
        small = moments.second(basis)
    else:
        basis, small = _krylov(moments, random.standard_normal((width, block)), rank)
    values, inside = np.linalg.eigh((small + small.T) / 2)
    order = np.argsort(-values, kind="stable")
    largest = order[:rank]
    return Spectrum(values[largest], basis @ inside[:, largest], values[order])


def _krylov(moments: Moments, start: Array, rank: int) -> tuple[Array, Array]:
    """An orthonormal basis Q of the Krylov space, and Q'·E2·Q.

    Q'·E2·Q is filled block by block from what is there already: E2 is symmetric, so its
    images need not be kept.
    """
    basis = np.empty((len(start), start.shape[1] * (STEPS + 1)), order="F")
    small = np.zeros((basis.shape[1], basis.shape[1]))
    nothing = np.empty((0, start.shape[1]))
    block, end, before = _outside(moments.second(start), basis[:, :0], nothing), 0, np.zeros(rank)
    for step in range(STEPS + 1):
        begin, end = end, end + block.shape[1]
        basis[:, begin:end] = block
        image = moments.second(block)
        inside = basis[:, :end].T @ image
        small[:end, begin:end], small[begin:end, :end] = inside, inside.T
        if step % 2 and end > rank:
            values = np.linalg.eigvalsh(small[:end, :end])[-rank:]
            if abs(values - before).max() <= SETTLED * values[-1]:
                break
            before = values
        if step < STEPS:
            block = _outside(image, basis[:, :end], inside)
        if not block.shape[1]:  # the space is complete
            break
    return basis[:, :end], small[:end, :end]


def _outside(image: Array, basis: Array, inside: Array) -> Array:
    """Orthonormal vectors for what `image` has outside of `basis`; `inside` is the rest of it.

    Directions of which hardly anything is left are left out: made to length 1, their rounding
    would point into the basis that was removed from them. From what is merely short
    the basis is removed twice.
    """
    size = float(np.linalg.norm(image))
    vectors, lengths = _orthonormal(image - basis @ inside)
    long = lengths > ROUNDING * size
    vectors, lengths = vectors[:, long], lengths[long]
    if lengths.min(initial=size) < SHORT * size:
        vectors, _ = _orthonormal(vectors - basis @ (basis.T @ vectors))
    return vectors


def _orthonormal(vectors: Array) -> tuple[Array, Array]:
    """Orthonormal vectors, from the eigenvectors of the products of `vectors`, and lengths."""
    squares, mixed = np.linalg.eigh(vectors.T @ vectors)
    lengths = np.sqrt(np.maximum(squares, 0))
    return vectors @ (mixed / np.maximum(lengths, np.finfo(float).tiny)), lengths


def whiten(found: Spectrum, first: Array, k: int, alpha0: float) -> Whitening | None:
    """Second, small eigenproblem: M2' = (α0+1)·Σ1 - α0·M1'⊗M1' = U'·Σ·U''.

    A non-positive eigenvalue means that α0 or `k` is too large: α0 is halved up to
    `HALVINGS` times, then k falls. None if not even two components are left.
    """
    largest = found.values.max(initial=0)
    k = min(k, int((found.values > SMALL * largest).sum()))  # no α0 mends the others
    if k < 2:
        return None
    values, vectors = found.values[:k], found.vectors[:, :k]
    projected = vectors.T @ first
    for halving in range(HALVINGS + 1):
        alpha0 = alpha0 / 2 if halving else alpha0
        second = (alpha0 + 1) * np.diag(values) - alpha0 * np.outer(projected, projected)
        sigma, inside = np.linalg.eigh(second)
        if sigma[0] > SMALL * sigma[-1] > 0:
            break
    good = np.flatnonzero(sigma > max(SMALL * sigma[-1], 0))[::-1]
    if len(good) < 2:
        return None
    root = np.sqrt(sigma[good])
    return Whitening(alpha0, inside[:, good] / root, inside[:, good] * root)
