"""Corpora with a known tree: documents drawn from the model itself (paper, section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["Planted", "plant", "recovery_error"]

SHAPE = 0.5  # of the gamma draws that make the words of a topic unequal
LEAST = 1e-3  # so that no word of a topic is all but absent


@dataclass(frozen=True)
class Planted:
    """Documents and the tree they were drawn from.

    Attributes
    ----------
    counts : csr_array
        Documents by words.
    parents : ndarray of shape (children, V)
        φ of the topics on level 1.
    leaves : ndarray of shape (children², V)
        φ of the topics on level 2, those of the first parent first.
    """

    counts: csr_array
    parents: Array
    leaves: Array


def plant(
    seed: int,
    *,
    documents: int = 30_000,
    length: int = 50,
    children: int = 5,
    shared: float = 0.3,
    alpha0: float = 1.0,
    child_alpha0: float = 1.0,
    words: int = 2_500,
) -> Planted:
    """Draw documents from a tree of height 2.

    Parameters
    ----------
    seed : int
        Of all that is random.
    documents, length : int
        How many documents, of how many words each.
    children : int
        Of the root and of each of its children.
    shared : float
        Share of a leaf's mass that it has in common with its siblings.
    alpha0, child_alpha0 : float
        Sum of the Dirichlet parameters of the root and of the topics on level 1.
    words : int
        Size of the vocabulary.
    """
    random = np.random.default_rng(seed)
    leaves = _leaves(random, children, shared, words)
    mixture = random.dirichlet(np.full(children, alpha0 / children), documents)
    below = random.dirichlet(np.full(children, child_alpha0 / children), (documents, children))
    chances = (mixture[:, :, None] * below).reshape(documents, -1)
    drawn = random.multinomial(length, chances / chances.sum(axis=1, keepdims=True))
    counts = _counts(random, drawn, leaves)
    return Planted(counts, leaves.reshape(children, children, words).mean(axis=1), leaves)


def _leaves(random: np.random.Generator, children: int, shared: float, words: int) -> Array:
    """Word distributions: own words for each leaf, common ones for each parent."""
    size = words // (children * (children + 1))
    order = iter(random.permutation(words)[: size * children * (children + 1)].reshape(-1, size))
    leaves = np.zeros((children, children, words))
    for parent in leaves:
        common, weights = next(order), _weights(random, size)
        for leaf in parent:
            leaf[next(order)] = (1 - shared) * _weights(random, size)
            leaf[common] += shared * weights
    return leaves.reshape(-1, words)


def _weights(random: np.random.Generator, size: int) -> Array:
    weights = random.gamma(SHAPE, size=size) + LEAST
    result: Array = weights / weights.sum()
    return result


def _counts(random: np.random.Generator, drawn: NDArray[np.int64], leaves: Array) -> csr_array:
    rows, columns = [], []
    for topic, chances in enumerate(leaves):
        row = np.repeat(np.arange(len(drawn)), drawn[:, topic])
        rows.append(row)
        columns.append(random.choice(leaves.shape[1], row.size, p=chances))
    where = (np.concatenate(rows), np.concatenate(columns))
    shape = (len(drawn), leaves.shape[1])
    return csr_array((np.ones(len(where[0]), dtype=np.int32), where), shape=shape)


def recovery_error(found: Array, truth: Array) -> float:
    """Mean L1 distance of topics, matched one to one as well as possible; at most 2.

    A true topic that has no partner counts 2.
    """
    distances = np.abs(found[:, None] - truth).sum(axis=2)
    i, j = linear_sum_assignment(distances)
    missing = max(len(truth) - len(i), 0)
    return float((distances[i, j].sum() + 2 * missing) / len(truth))
