"""How often units stand for topics: the pass that `strod.phrases.topical` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, kernel
from strod.values.shares import column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref, Rows
    from strod.phrases.topical import TopicBatch

    Array = NDArray[np.float64]
    ShareReader = Callable[[int, int], Mapping[str, Array]]

__all__ = ["count_units", "topical_counts"]


class _Rows(NamedTuple):
    """Documents by units, as a sparse matrix."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    counts: NDArray[Any]


class _Families(NamedTuple):
    """Who are the children of whom, as in `TopicBatch`."""

    first: NDArray[np.int64]
    size: NDArray[np.int64]
    needed: NDArray[np.bool_]


@kernel
def _spread(rows: _Rows, theta: Any, likely: Any, families: _Families, asked: Any) -> Any:
    """c(P, t) of every unit; of the root alone in documents that are not `asked`."""
    indptr, indices, counts = rows
    first, size, needed = families
    out, part = np.zeros(likely.shape), np.zeros(first.size)
    for d in range(indptr.size - 1):
        share = theta[d]
        for j in range(indptr[d], indptr[d + 1]):
            fit, total_of = likely[indices[j]], out[indices[j]]
            part[0] = counts[j]
            total_of[0] += part[0]
            for t in range(first.size if asked[d] else 0):
                if size[t] == 0:
                    continue
                total = 0.0
                if part[t] > 0.0:
                    for z in range(first[t], first[t] + size[t]):
                        total += share[z] * fit[z]
                factor = part[t] / total if total > 0.0 else 0.0
                for z in range(first[t], first[t] + size[t]):
                    if needed[z]:
                        part[z] = factor * share[z] * fit[z]
                        total_of[z] += part[z]
    return out


def topical_counts(
    batch: TopicBatch,
    likely: NDArray[np.float32],
    refs: Sequence[Ref[Rows]],
    shares: ShareReader,
    engine: Engine,
) -> Array:
    """c(P, t) of every unit, of the root, the wanted parents and their needed children: one pass.

    Parameters
    ----------
    batch : TopicBatch
        The topics.
    likely : ndarray of shape (units, topics)
        `strod.phrases.topical.evidence`.
    refs : sequence of Ref
        Documents by units.
    shares : callable
        Shares of the topics, by id, of documents from a number on.
    engine : Engine
        Maps over the documents.
    """
    total = np.zeros(likely.shape)
    return engine.fold(count_units, refs, batch, likely, shares, start=total, add=_add)


def _add(total: Array, part: tuple[NDArray[np.int64], Array]) -> Array:
    units, counts = part
    total[units] += counts
    return total


def count_units(
    ref: Ref[Rows], batch: TopicBatch, likely: NDArray[np.float32], shares: ShareReader
) -> tuple[NDArray[np.int64], Array]:
    """The units that some documents have, and c(P, t) of these there."""
    counts, found = ref.open().counts, shares(ref.first, ref.size)
    theta = np.stack([column(found, name) for name in batch.names], axis=1)
    there = np.zeros(len(likely), dtype=bool)
    there[counts.indices] = True
    units, number = np.flatnonzero(there), (np.cumsum(there) - 1).astype(np.int32)
    indptr = np.asarray(counts.indptr, dtype=np.int64)
    rows = _Rows(*fixed(indptr, number[counts.indices], counts.data))
    families = _Families(batch.first, batch.size, batch.needed)
    # Who has nothing of the parents has nothing of their children, however much above them.
    parents = [batch.names.index(name) for name in batch.wanted]
    asked = (theta[:, parents] > 0).any(axis=1)
    return units, _spread(rows, theta, likely[units], families, asked)
