"""From eigenpairs back to the model: alpha and phi of the children (Algorithm 1, line 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from strod.moments.whitening import Whitening
    from strod.tensor.power import Components

    Array = NDArray[np.float64]

__all__ = ["Recovered", "recover", "solve_alpha0", "third_moment"]

LEAST, MOST = 1e-3, 1e3  # where α0 is looked for
ROUNDS = 40
NEAR = 1e-4  # relative width of the bracket that ends the search


class Recovered(NamedTuple):
    """Topics as the tensor gives them.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        α_z / α0 = 1 / λ*², normalised to sum to 1.
    words : ndarray of shape (k, V)
        φ_z: non-negative, sums to 1.
    mass : ndarray of shape (k,)
        Sum of the raw φ_z; 1 if the model and α0 are right.
    total : float
        S(α0) = Σ_z 1/λ*²; 1 if the model and α0 are right.
    """

    weights: Array
    words: Array
    mass: Array
    total: float


def third_moment(third: Array, first: Array, whitening: Whitening) -> Array:
    """T̃ = M3(W, W, W) from E3 and M1 in the basis of E2's eigenvectors.

    Uses W'·E2·W = (I + α0·m⊗m)/(α0+1) with m = W'M1, so that E2 is not needed again.
    """
    alpha0, scale = whitening.alpha0, whitening.scale
    k = scale.shape[1]
    m = scale.T @ first
    tensor = np.einsum("abc,ai,bj,ck->ijk", third, scale, scale, scale, optimize=True)
    pair = (np.eye(k) + alpha0 * np.outer(m, m)) / (alpha0 + 1)
    across = pair[:, :, None] * m
    across = across + across.transpose(0, 2, 1) + across.transpose(2, 0, 1)
    cube = np.einsum("i,j,k->ijk", m, m, m)
    result: Array = (
        (alpha0 + 1) * (alpha0 + 2) / 2 * tensor
        - alpha0 * (alpha0 + 1) / 2 * across
        + alpha0**2 * cube
    )
    return result


def recover(found: Components, whitening: Whitening, vectors: Array) -> Recovered:
    """v_z = λ*·(W')⁺·v*, then made a distribution: sign, clip at zero, normalise.

    The paper writes 1/λ*² for the factor λ*; with λ* the raw φ sums to 1 at the true α0.
    """
    raw = (vectors @ (whitening.unscale @ found.vectors)) * found.values
    mass = raw.sum(axis=0)
    positive, negative = np.clip(raw, 0, None), np.clip(-raw, 0, None)
    flipped = negative.sum(axis=0) > positive.sum(axis=0)
    words = np.where(flipped, negative, positive).T
    sums = words.sum(axis=1, keepdims=True)
    words = np.divide(words, sums, out=np.full_like(words, 1 / words.shape[1]), where=sums > 0)
    inverse = 1 / np.maximum(np.abs(found.values), 1e-6) ** 2
    return Recovered(inverse / inverse.sum(), words, mass, float(inverse.sum()))


def solve_alpha0(total: Callable[[float], float | None]) -> float:
    """Find α0 with S(α0) = 1 by bisection on log α0.

    Parameters
    ----------
    total : callable
        S at an α0, or None where there is no valid whitening, which means too large.

    Notes
    -----
    S falls monotonically through 1. The paper's fixed point, α0 ← α0·S(α0), has the same
    solution but moves by a few per cent a step where S is near 1.
    """
    low, high = np.log(LEAST), np.log(MOST)
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        value = total(float(np.exp(middle)))
        if value is None or value < 1:
            high = middle
        else:
            low = middle
        if high - low < NEAR:
            break
    return float(np.exp((low + high) / 2))
