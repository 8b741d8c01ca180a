"""Moments of the paper's own variants: averages over documents, and the V by V by V tensor in full.

Notation: c_i are the counts of document i, l_i its length, D the number of documents with at
least three tokens, the only ones that have a say::

    M1 = 1/D Σ_i c_i / l_i
    E2 = 1/D Σ_i (c_i ⊗ c_i - diag(c_i)) / (l_i·(l_i-1))
    E3 = 1/D Σ_i (c_i ⊗ c_i ⊗ c_i - sym(c_i ⊗ diag(c_i)) + 2·tridiag(c_i))
                 / (l_i·(l_i-1)·(l_i-2))

Below the root a topic's moments come from its parent's, either by the posterior of pairs and
triples (`condition_second`, `condition_third`) or from topical counts (`topic_share`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = [
    "condition_first",
    "condition_second",
    "condition_third",
    "contracted_third",
    "first_moment",
    "long_enough",
    "second_moment",
    "second_operator",
    "tensor_of",
    "third_moment",
    "topic_share",
]

SHORTEST = 3  # tokens; a shorter document has no triple


def long_enough(counts: csr_array, share: Array) -> csr_array:
    """Topical counts c(t) = c·p(t|x) of the documents that keep at least three tokens."""
    parts = (counts.data * share[counts.indices], counts.indices, counts.indptr)
    topical = csr_array(parts, shape=counts.shape)
    return topical[topical.sum(axis=1) >= SHORTEST]


def _scales(counts: csr_array, order: int) -> Array:
    """1 / (D·l·(l-1)…) of each document, with so many factors."""
    lengths: Array = counts.sum(axis=1).astype(np.float64)
    tuples = np.full_like(lengths, len(lengths))
    for taken in range(order):
        tuples *= lengths - taken
    return 1 / tuples


def first_moment(counts: csr_array) -> Array:
    """M1, a distribution over words."""
    first: Array = counts.T @ _scales(counts, 1)
    return first


def second_moment(counts: csr_array) -> csr_array:
    """E2 as a sparse matrix: words have an entry where they stand in one document."""
    scales = _scales(counts, 2)
    squares = csr_array(counts.T @ (diags_array(scales) @ counts))
    return csr_array(squares - diags_array(counts.T @ scales))


def second_operator(counts: csr_array) -> LinearOperator:
    """E2 as an operator: E2·X = Cᵀ·(s∘(C·X)) - (Cᵀ·s)∘X."""
    scales = _scales(counts, 2)
    diagonal = counts.T @ scales

    def product(vectors: Array) -> Array:
        columns = vectors.reshape(len(diagonal), -1)
        image: Array = counts.T @ (scales[:, None] * (counts @ columns))
        image -= diagonal[:, None] * columns
        return image.reshape(vectors.shape)

    width = counts.shape[1]
    return LinearOperator((width, width), matvec=product, matmat=product, dtype=np.float64)


def third_moment(counts: csr_array) -> Array:
    """E3 in full: V by V by V numbers."""
    scales = _scales(counts, 3)
    width = counts.shape[1]
    third = np.zeros((width, width, width))
    columns = counts.tocsc()
    for word in range(width):
        inside = slice(columns.indptr[word], columns.indptr[word + 1])
        documents = columns.indices[inside]
        rows = counts[documents]
        weighted = diags_array(columns.data[inside] * scales[documents]) @ rows
        third[word] = (rows.T @ weighted).toarray()
    _drop_repeats(third, (counts.T @ (diags_array(scales) @ counts)).toarray(), counts.T @ scales)
    return third


def _drop_repeats(third: Array, pairs: Array, single: Array) -> None:
    """Take from A1 the triples in which a token stands more than once: A2 thrice, A3 twice."""
    every = np.arange(len(single))
    third[:, every, every] -= pairs
    third[every, :, every] -= pairs
    third[every, every, :] -= pairs
    third[every, every, every] += 2 * single


def contracted_third(counts: csr_array, basis: Array) -> Array:
    """E3(X, X, X), k by k by k, without E3: equations A1 to A3."""
    scales = _scales(counts, 3)
    projected: Array = counts @ basis
    weighted = scales[:, None] * projected
    across = _cubes(basis, counts.T @ weighted)  # A2
    tensor = _cubes(projected, weighted)  # A1
    tensor -= across + across.transpose(0, 2, 1) + across.transpose(2, 0, 1)
    tensor += 2 * _cubes(basis, basis * (counts.T @ scales)[:, None])  # A3
    return tensor


def _cubes(vectors: Array, others: Array) -> Array:
    """Σ_i v_i ⊗ v_i ⊗ u_i."""
    return np.stack([(vectors * column[:, None]).T @ others for column in vectors.T])


def topic_share(alpha: Array, words: Array, z: int) -> Array:
    """p(t/z|x) of every word x; 0 for a word that no child has."""
    joint = alpha[:, None] * words
    return _ratio(joint[z], joint.sum(axis=0))


def _ratio(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _normalised(values: Array) -> Array:
    """Divide by the sum, in place; all zero if there is nothing to divide."""
    total = values.sum()
    if total > 0:
        values /= total
    else:
        values[...] = 0
    return values


def condition_first(first: Array, alpha: Array, words: Array, z: int) -> Array:
    """M1 of a child from its parent's: proportional to M1·p(t/z|x)."""
    return _normalised(first * topic_share(alpha, words, z))


def condition_second(second: csr_array, alpha: Array, words: Array, z: int) -> csr_array:
    """E2 of a child from its parent's: proportional to E2·p(t/z, t/z|x1, x2).

    By Bayes, with the Dirichlet integrated out, the posterior is a_z·(a_z+1)·φ_z⊗φ_z over
    Σ_z1,z2 a_z1·(a_z2 + [z1=z2])·φ_z1⊗φ_z2, with a for alpha of the parent. (The paper's
    text has another index at a_z+1.)
    """
    entries = second.tocoo()
    left, right = entries.coords
    mean = alpha @ words
    whole = mean[left] * mean[right]
    for weight, topic in zip(alpha, words, strict=True):
        whole += weight * topic[left] * topic[right]
    part = alpha[z] * (alpha[z] + 1) * words[z][left] * words[z][right]
    values = _normalised(entries.data * _ratio(part, whole))
    return csr_array((values, (left, right)), shape=second.shape)


def condition_third(third: Array, alpha: Array, words: Array, z: int) -> Array:
    """E3 of a child from its parent's, in place: proportional to E3·p(t/z, t/z, t/z|x1, x2, x3).

    With a for alpha of the parent, the weight of topics z1, z2, z3 is a_z·(a_z+1)·(a_z+2) if
    all are equal, a_z·(a_z+1)·a_y if two are z and one is y, else a_z1·a_z2·a_z3. So the
    denominator is m⊗m⊗m + sym(B⊗m) + 2·Σ_z a_z·φ_z⊗φ_z⊗φ_z with m = Σ_z a_z·φ_z and
    B = Σ_z a_z·φ_z⊗φ_z.
    """
    mean = alpha @ words
    pair = (words.T * alpha) @ words
    mean_pair = np.outer(mean, mean) + pair
    child = alpha[z] * (alpha[z] + 1) * (alpha[z] + 2) * np.outer(words[z], words[z])
    for x, (row, one) in enumerate(zip(pair, mean, strict=True)):
        whole = one * mean_pair + np.outer(row, mean) + np.outer(mean, row)
        whole += 2 * ((words.T * (alpha * words[:, x])) @ words)
        third[x] *= _ratio(words[z, x] * child, whole)
    return _normalised(third)


def tensor_of(third: Array, second: csr_array, first: Array, alpha0: float, basis: Array) -> Array:
    """M3(X, X, X) by way of M3 in full, which takes the place of E3 in memory.

    With a for alpha0 and U1 = E2⊗M1, U2 and U3 the same with other modes,
    M3 = (a+1)(a+2)/2·E3 - a(a+1)/2·(U1+U2+U3) + a²·M1⊗M1⊗M1.
    """
    full = second.toarray()
    square = np.outer(first, first)
    third *= (alpha0 + 1) * (alpha0 + 2) / 2
    for x, (row, one) in enumerate(zip(full, first, strict=True)):
        across = one * full + np.outer(row, first) + np.outer(first, row)
        third[x] += alpha0**2 * one * square - alpha0 * (alpha0 + 1) / 2 * across
    return _product(third, basis)


def _product(tensor: Array, basis: Array) -> Array:
    """T(X, X, X), one mode after the other."""
    width, k = basis.shape
    last = tensor.reshape(width * width, width) @ basis
    two = (basis.T @ last.reshape(width, width * k)).reshape(k, width, k)
    result: Array = np.einsum("avc,vb->abc", two, basis)
    return result
