"""How often units stand for topics: the pass that `strod.phrases.topical` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, helper, kernel
from strod.values.shares import column

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref, Rows
    from strod.phrases.topical import TopicBatch

    Array = NDArray[np.float64]
    Some = NDArray[np.int64] | None
    ShareReader = Callable[[int, int, Collection[str] | None], tuple[Some, Mapping[str, Array]]]

__all__ = ["count_units", "topical_counts", "total_counts"]


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


@helper
def _hold(share: Any, first: Any, size: Any, held: Any, ends: Any) -> None:
    """The children that a document holds, and where those of each topic end: most hold few."""
    some = 0
    for t in range(first.size):
        for z in range(first[t], first[t] + size[t]):
            if share[z] > 0.0:
                held[some] = z
                some += 1
        ends[t] = some


@kernel
def _spread(rows: _Rows, theta: Any, likely: Any, families: _Families, asked: Any) -> Any:
    """c(P, t) of every unit; of the root alone in documents that are not `asked`."""
    indptr, indices, counts = rows
    first, size, needed = families
    out, part = np.zeros(likely.shape), np.zeros(first.size)
    held, ends = np.empty(first.size, dtype=np.int64), np.zeros(first.size, dtype=np.int64)
    for d in range(indptr.size - 1):
        share = theta[d]
        _hold(share, first, size, held, ends)
        for j in range(indptr[d], indptr[d + 1]):
            fit, total_of = likely[indices[j]], out[indices[j]]
            part[:] = 0.0
            part[0] = counts[j]
            total_of[0] += part[0]
            for t in range(first.size if asked[d] else 0):
                if not part[t] > 0.0:
                    continue
                begin, total = ends[t - 1] if t else 0, 0.0
                for i in range(begin, ends[t]):
                    total += share[held[i]] * fit[held[i]]
                factor = part[t] / total if total > 0.0 else 0.0
                for i in range(begin, ends[t]):
                    z = held[i]
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
    totals: NDArray[np.int64] | None = None,
) -> Array:
    """c(P, t) of every unit, of the root, the wanted parents and their needed children: one pass.

    Who has nothing of the parents has nothing of their children. So it is a pass over the documents
    that have, if it is known what the root has of all.

    Parameters
    ----------
    batch : TopicBatch
        The topics.
    likely : ndarray of shape (units, topics)
        `strod.phrases.topical.evidence`.
    refs : sequence of Ref
        Documents by units.
    shares : callable
        Shares of the topics, by id, of documents from a number on, or of those among them that
        may hold some topics; which these are comes first, None if they are all.
    engine : Engine
        Maps over the documents.
    totals : ndarray of int64, optional
        How often every unit stands in all documents.
    """
    total, holding = np.zeros(likely.shape), None if totals is None else batch.wanted
    given = batch, likely, shares, holding
    total = engine.fold(count_units, refs, *given, start=total, add=_add)
    if totals is not None:
        total[:, 0] = totals
    return total


def total_counts(refs: Sequence[Ref[Rows]], size: int, engine: Engine) -> NDArray[np.int64]:
    """How often every unit stands in all documents."""
    total = np.zeros(size, dtype=np.int64)
    for part in engine.map(_count_all, refs, size):
        total += part
    return total


def _count_all(ref: Ref[Rows], size: int) -> NDArray[np.int64]:
    counts = ref.open().counts
    return np.bincount(counts.indices, counts.data, size).astype(np.int64)


def _add(total: Array, part: tuple[NDArray[np.int64], Array]) -> Array:
    units, counts = part
    total[units] += counts
    return total


def count_units(
    ref: Ref[Rows],
    batch: TopicBatch,
    likely: NDArray[np.float32],
    shares: ShareReader,
    holding: Collection[str] | None,
) -> tuple[NDArray[np.int64], Array]:
    """The units that some documents have, and c(P, t) of these there."""
    some, found = shares(ref.first, ref.size, holding)
    counts = ref.open().counts if some is None else ref.open().counts[some]
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
