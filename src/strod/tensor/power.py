"""Orthogonal decomposition of a symmetric tensor by power iteration (Algorithm 1, lines 5-13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Components", "decompose"]

STARTS = 30  # N, outer iterations
STEPS = 30  # n, inner iterations
REFINEMENTS = 30
CONVERGED = 1e-14


class Components(NamedTuple):
    """Eigenpairs of a tensor: λ* and the orthonormal columns v*."""

    values: Array
    vectors: Array


def decompose(
    tensor: Array,
    random: np.random.Generator,
    *,
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
        Where the start vectors come from.
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
    left = tensor
    found, values = np.empty((k, k)), np.empty(k)
    for z in range(k):
        values[z], vector = _largest(left, random, starts, steps)
        found[:, z] = vector
        left = left - values[z] * np.einsum("i,j,k->ijk", vector, vector, vector)
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


def _largest(
    tensor: Array, random: np.random.Generator, starts: int, steps: int
) -> tuple[float, Array]:
    """Power iteration v ← T(I,v,v)/‖T(I,v,v)‖ from many starts at once; the best is kept."""
    vectors = _unit(random.standard_normal((len(tensor), starts)))
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
