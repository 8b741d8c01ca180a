"""How often the words of a list stand in the same documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref, Rows

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["cooccurrences", "meet"]


class _Places(NamedTuple):
    """Where words stand in lists: which do, for each the first of its places; lists, positions."""

    listed: NDArray[np.bool_]
    begin: Numbers
    lists: Numbers
    positions: Numbers

    @classmethod
    def of(cls, lists: Sequence[Numbers], width: int) -> _Places:
        """The places of the words of some lists."""
        words = np.concatenate(lists)
        order = np.argsort(words, kind="stable")
        number = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
        position = np.concatenate([np.arange(len(one)) for one in lists])
        begin = np.searchsorted(words[order], np.arange(width + 1))
        return cls(np.diff(begin) > 0, begin, number[order], position[order])


def cooccurrences(
    refs: Sequence[Ref[Rows]], lists: Sequence[Numbers], width: int, engine: Engine
) -> list[Array]:
    """For every list of words the number of documents in which two of them stand."""
    longest = max(len(words) for words in lists)
    total = np.zeros((len(lists), longest, longest))
    given = _Places.of(lists, width), total.shape
    total = engine.fold(meet, refs, *given, start=total, add=_add)
    return [pairs[: len(words), : len(words)] for pairs, words in zip(total, lists, strict=True)]


def _add(total: Array, met: NDArray[np.int32]) -> Array:
    total += met
    return total


def meet(ref: Ref[Rows], places: _Places, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """How often the words of each list meet in some documents."""
    counts, met = ref.open().counts, np.zeros(shape, dtype=np.int32)
    indptr = np.asarray(counts.indptr, dtype=np.int64)
    indices = np.asarray(counts.indices, dtype=np.int32)
    _meet(*fixed(indptr, indices), _Places(*fixed(*places)), met)
    return met


@kernel
def _meet(indptr: Any, indices: Any, places: _Places, out: Any) -> None:
    """Count for each list the pairs of its words that a document has, and each with itself.

    Most words are in no list, which a table that fits into the cache tells. A row that has a word
    twice, which none should, is no reason to write beyond a list's end.
    """
    listed, begin, lists, positions = places
    number, longest = out.shape[0], out.shape[1]
    held = np.empty((number, longest), dtype=np.int64)
    some = np.zeros(number, dtype=np.int64)
    touched = np.empty(number, dtype=np.int64)
    for d in range(indptr.size - 1):
        size = 0
        for j in range(indptr[d], indptr[d + 1]):
            if not listed[indices[j]]:
                continue
            for i in range(begin[indices[j]], begin[indices[j] + 1]):
                one = lists[i]
                if some[one] == 0:
                    touched[size] = one
                    size += 1
                if some[one] < longest:
                    held[one, some[one]] = positions[i]
                    some[one] += 1
        for t in range(size):
            one = touched[t]
            for a in range(some[one]):
                for b in range(some[one]):
                    out[one, held[one, a], held[one, b]] += 1
            some[one] = 0
