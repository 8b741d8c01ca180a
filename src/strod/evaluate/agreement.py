"""How well two ways of sorting documents agree: topics against labels.

With n_ij of the n documents in cluster i and class j, H an entropy and I = H(C) + H(K) - H(C, K)
the mutual information of clusters C and classes K::

    NMI          2·I / (H(C) + H(K))
    homogeneity  I / H(K): 1 if every cluster has one class only (Rosenberg and Hirschberg, 2007)
    purity       Σ_i max_j n_ij / n

All are as in scikit-learn, with natural logarithms and the arithmetic mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

__all__ = ["Agreement", "agreement", "largest"]


class Agreement(NamedTuple):
    """Scores of clusters against classes, 0 to 1."""

    nmi: float
    purity: float
    homogeneity: float


def _numbered(names: Sequence[Any] | NDArray[Any]) -> tuple[Numbers, int]:
    found, numbers = np.unique(np.asarray(names), return_inverse=True)
    return numbers.astype(np.int64), len(found)


def _entropy(counts: Numbers) -> float:
    shares = counts[counts > 0] / max(int(counts.sum()), 1)
    return float(-(shares * np.log(shares)).sum())


def agreement(
    clusters: Sequence[Any] | NDArray[Any], classes: Sequence[Any] | NDArray[Any]
) -> Agreement:
    """Scores of one sorting against another, one name or number a document.

    Clusters and classes of which there is one each tell the same, so that they score 1.
    Cells that are empty take no room, however many classes there are.
    """
    if not len(clusters):
        return Agreement(0.0, 0.0, 0.0)
    (i, _), (j, width) = _numbered(clusters), _numbered(classes)
    cells, counts = np.unique(i * width + j, return_counts=True)
    rows, columns = _entropy(np.bincount(i)), _entropy(np.bincount(j))
    shared = max(0.0, rows + columns - _entropy(counts))
    most = np.zeros(int(i.max()) + 1, dtype=np.int64)
    np.maximum.at(most, cells // width, counts)
    return Agreement(
        nmi=2 * shared / (rows + columns) if rows + columns > 0 else 1.0,
        purity=float(most.sum() / len(i)),
        homogeneity=shared / columns if columns > 0 else 1.0,
    )


def largest(clusters: Sequence[str]) -> float:
    """Share of the documents in the largest cluster; those without a cluster ('') count as none."""
    names, sizes = np.unique(np.asarray([c for c in clusters if c]), return_counts=True)
    return float(sizes.max() / len(clusters)) if len(names) else 0.0
