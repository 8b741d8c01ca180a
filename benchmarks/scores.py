"""Scores of topic trees: pure functions of labels, word lists and counts.

Clusterings are sequences with a name for each document, word lists are sequences of column
numbers, and counts are a sparse matrix, documents by vocabulary.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def contingency(one: Sequence[str], other: Sequence[str]) -> NDArray[np.float64]:
    """How many documents are in each pair of clusters."""
    rows, i = np.unique(np.asarray(one), return_inverse=True)
    columns, j = np.unique(np.asarray(other), return_inverse=True)
    table = np.zeros((len(rows), len(columns)))
    np.add.at(table, (i, j), 1)
    return table


def _entropy(shares: NDArray[np.float64]) -> float:
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def nmi(one: Sequence[str], other: Sequence[str]) -> float:
    """Mutual information over the mean of the two entropies: 1 if the clusterings are the same.

    Clusterings of one cluster each tell the same, so that they score 1, as in scikit-learn.
    """
    joint = contingency(one, other) / max(len(one), 1)
    rows, columns = _entropy(joint.sum(1)), _entropy(joint.sum(0))
    if rows + columns == 0:
        return 1.0
    return max(0.0, 2 * (rows + columns - _entropy(joint.ravel())) / (rows + columns))


def purity(clusters: Sequence[str], labels: Sequence[str]) -> float:
    """Share of documents that have the most frequent label of their cluster."""
    if not len(clusters):
        return 0.0
    return float(contingency(clusters, labels).max(1).sum() / len(clusters))


def together(counts: scipy.sparse.csr_matrix, columns: Sequence[int]) -> NDArray[np.float64]:
    """In how many documents each pair of the words occurs; on the diagonal, each word."""
    chosen = counts[:, np.asarray(columns, dtype=np.int64)]
    present = scipy.sparse.csr_matrix((chosen > 0).astype(np.float64))
    table: NDArray[np.float64] = (present.T @ present).toarray()
    return table


def pair_npmi(both: float, one: float, other: float) -> float:
    """Normalised pointwise mutual information of two words, from their shares of documents.

    A pair that never occurs together scores -1, the limit; one that is in every document 1.
    """
    if both <= 0:
        return -1.0
    if both >= 1:
        return 1.0
    return float(np.log(both / (one * other)) / -np.log(both))


def npmi(lists: Sequence[Sequence[int]], counts: scipy.sparse.csr_matrix) -> float | None:
    """Mean over the lists of the mean NPMI of their pairs of words, by documents.

    Lists with fewer than two words have no pairs and are left out; None if there are no others.
    """
    lists = [words for words in lists if len(words) > 1]
    if not lists:
        return None
    columns = sorted({column for words in lists for column in words})
    place = {column: i for i, column in enumerate(columns)}
    shares = together(counts, columns) / counts.shape[0]
    means = []
    for words in lists:
        pairs = combinations([place[column] for column in words], 2)
        means.append(
            np.mean([pair_npmi(shares[i, j], shares[i, i], shares[j, j]) for i, j in pairs])
        )
    return float(np.mean(means))


def diversity(lists: Sequence[Sequence[int]]) -> float:
    """Share of distinct words among all the words of the lists."""
    words = [column for columns in lists for column in columns]
    return len(set(words)) / max(len(words), 1)


def largest(clusters: Sequence[str]) -> float:
    """Share of the documents in the largest cluster; those without a cluster ('') count as none."""
    names, sizes = np.unique(np.asarray([c for c in clusters if c]), return_counts=True)
    return float(sizes.max() / len(clusters)) if len(names) else 0.0


def label_scores(clusters: Sequence[str], labels: Sequence[str | None]) -> dict[str, Any]:
    """NMI and purity over the documents that have a label."""
    known = [(c, label) for c, label in zip(clusters, labels, strict=True) if label is not None]
    if not known:
        return {"nmi": None, "purity": None}
    inside, truth = zip(*known, strict=True)
    return {"nmi": nmi(inside, truth), "purity": purity(inside, truth)}
