"""Orthogonal decomposition of a symmetric tensor by power iteration (Algorithm 1, lines 5-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Components", "Power", "decompose"]

STARTS = 30  # N, outer iterations
STEPS = 30  # n, inner iterations
REFINEMENTS = 30
CONVERGED = 1e-14


class Power(NamedTuple):
    """How hard the power method tries.

    Attributes
    ----------
    starts : int
        N, outer iterations: start vectors of each component.
    steps : int
        n, inner iterations from each start.
    refine : bool
        Whether all vectors are improved together in the end.
    pointers : int
        Most frequent words whose directions are taken as starts; with 0 all starts are
        drawn by chance, as in the paper.
    """

    starts: int = STARTS
    steps: int = STEPS
    refine: bool = True
    pointers: int = 1000


class Components(NamedTuple):
    """Eigenpairs of a tensor: λ* and the orthonormal columns v*."""

    values: Array
    vectors: Array


def decompose(
    tensor: Array,
    random: np.random.Generator,
    *,
    likely: Array | None = None,
    starts: int = STARTS,
    steps: int = STEPS,
    refine: bool = True,
) -> Components:
    """Decompose a symmetric k×k×k tensor into k orthonormal eigenvectors.

    Parameters
    ----------
    tensor : ndarray of shape (k, k, k)
        T̃ = M3(W, W, W).
    random : Generator
        Where start vectors come from that `likely` does not give.
    likely : ndarray of shape (k, n), optional
        Directions near which eigenvectors may be. The best of them are the starts, so that
        the outcome does not hang on chance.
    starts, steps : int
        N and n: outer and inner iterations.
    refine : bool
        Whether all vectors are improved together in the end, which removes the errors
        that deflation hands from one to the next.

    Returns
    -------
    Components
        Eigenvalues, falling, and eigenvectors as columns.
    """
    k = len(tensor)
    likely = np.empty((k, 0)) if likely is None else _unit(likely)
    left, promise = tensor, np.einsum("is,is->s", likely, images(tensor, likely))
    found, values = np.empty((k, k)), np.empty(k)
    for z in range(k):
        values[z], vector = _largest(left, _starts(promise, random, likely, starts), steps)
        found[:, z] = vector
        left = left - values[z] * np.einsum("i,j,k->ijk", vector, vector, vector)
        promise -= values[z] * (vector @ likely) ** 3
    if refine:
        found = _refined(tensor, found)
        values = np.einsum("iz,iz->z", found, images(tensor, found))
    order = np.argsort(-values, kind="stable")
    return Components(values[order], found[:, order])


def images(tensor: Array, vectors: Array) -> Array:
    """T(I, v, v) for every column v."""
    k = len(tensor)
    matrices = (tensor.reshape(k * k, k) @ vectors).reshape(k, k, -1)
    result: Array = np.einsum("ijz,jz->iz", matrices, vectors)
    return result


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=0)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def _starts(promise: Array, random: np.random.Generator, likely: Array, number: int) -> Array:
    """The likely directions with the largest T(v,v,v); if there are too few, some by chance."""
    best = likely[:, np.argsort(-promise, kind="stable")[:number]]
    rest = random.standard_normal((len(likely), number - best.shape[1]))
    return np.hstack([best, _unit(rest)])


def _largest(tensor: Array, vectors: Array, steps: int) -> tuple[float, Array]:
    """Power iteration v ← T(I,v,v)/‖T(I,v,v)‖ from many starts at once; the best is kept."""
    for _ in range(steps):
        vectors = _unit(images(tensor, vectors))
    values = np.einsum("is,is->s", vectors, images(tensor, vectors))
    best = int(np.argmax(values))
    return float(values[best]), vectors[:, best]


def _refined(tensor: Array, vectors: Array) -> Array:
    """One power step for all vectors, then the nearest orthonormal set; until it stands still.

    A round raises Σ λ², the part of the tensor that is explained, but not always if there is
    much noise: the best round is kept.
    """
    best, best_fit, last = vectors, -np.inf, -np.inf
    for _ in range(REFINEMENTS):
        left, _, right = np.linalg.svd(vectors)
        vectors = left @ right
        mapped = images(tensor, vectors)
        values = np.einsum("iz,iz->z", vectors, mapped)
        fit = float(values @ values)
        if fit > best_fit:
            best, best_fit = vectors, fit
        if abs(fit - last) <= CONVERGED * fit:
            break
        last, vectors = fit, mapped * values
    return best
