"""Whether a phrase is used freely, or always in the same surroundings.

A phrase before or after which the same words stand again and again is part of a passage that
somebody copied: the subject of a thread, a signature, a licence, a form that is filled in. The
two sides are looked at together and apart, since a copied passage ends somewhere: what follows
the subject of a message is always different.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, helper, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.int64]
    Digests = NDArray[np.uint64]

__all__ = ["ENOUGH", "Contexts", "Occurrences", "occurrences"]

SIDE = 2  # units on either side
ENOUGH = 100  # occurrences that show how a phrase is used
SEEN_BITS = 29  # 64 MB of marks
ONE_SIDE = 0.25  # of the occurrences that may be alike on one side, beyond those on both
LONG, LONG_SIDE = 6, -0.1  # words of a phrase of which fewer may: it is hardly ever a term
EDGE = -1  # no unit: the document begins or ends
NEW = 0  # a digest that is like no other
MIX = np.uint64(0x9E3779B97F4A7C15)


class Occurrences(NamedTuple):
    """Where phrases stand.

    Attributes
    ----------
    phrases : ndarray of int32
        Their numbers, in order.
    before, after, around : ndarray of uint64
        For each a digest of the phrase and of the units before it, of those after it, and of its
        two neighbours.
    """

    phrases: NDArray[np.int32]
    before: Digests
    after: Digests
    around: Digests


def occurrences(units: NDArray[np.int32], sizes: Places, words: int) -> Occurrences:
    """The phrases of some documents, and what stands around them.

    A title often ends with what it is about and seldom begins so. That a phrase stands at the
    end of documents says nothing, therefore, and counts as surroundings of its own.

    Parameters
    ----------
    units : ndarray of int32
        Of the documents, in order; from `words` on they are phrases.
    sizes : ndarray of int64
        How many units each document has.
    words : int
        Number of the first phrase.
    """
    places = np.flatnonzero(units >= words)
    ends = np.cumsum(sizes)
    owner = np.searchsorted(ends, places, side="right")
    inside = ends[owner] - sizes[owner], ends[owner]
    phrases = units[places] - words
    left = [_at(units, places - step, *inside) for step in range(1, SIDE + 1)]
    right = [_at(units, places + step, *inside) for step in range(1, SIDE + 1)]
    after = np.where(right[0] == EDGE, np.uint64(NEW), _digest([phrases, *right], 2))
    around = _digest([phrases, left[0], right[0]], 3)
    return Occurrences(phrases, _digest([phrases, *left], 1), after, around)


def _at(units: NDArray[np.int32], places: Places, begin: Places, end: Places) -> Places:
    """The units at some places of the documents that begin and end there."""
    inside = (begin <= places) & (places < end)
    return np.where(inside, units[np.where(inside, places, 0)], EDGE)


def _digest(parts: list[NDArray[Any]], kind: int) -> Digests:
    """One number of several, row by row; those of each kind are numbers of their own."""
    value: Digests = np.full(len(parts[0]), kind, dtype=np.uint64) * MIX
    for part in parts:
        value = (value ^ (part.astype(np.int64) + 2).astype(np.uint64)) * MIX
        value ^= value >> np.uint64(31)
    return value


@helper
def _fresh(seen: Any, digest: Any) -> bool:
    """Whether a digest was not there before; from now on it was."""
    if digest == NEW:
        return True
    slot = digest >> np.uint64(64 - SEEN_BITS)
    place, bit = slot >> np.uint64(3), np.uint8(1) << np.uint8(slot & np.uint64(7))
    fresh = not seen[place] & bit
    seen[place] |= bit
    return fresh


@kernel
def _note(found: Occurrences, total: Any, distinct: Any, seen: Any) -> None:
    phrases, before, after, around = found
    for i in range(phrases.size):
        p = phrases[i]
        if total[p] < ENOUGH:
            distinct[0, p] += _fresh(seen, before[i])
            distinct[1, p] += _fresh(seen, after[i])
        if distinct[2, p] < ENOUGH:
            distinct[2, p] += _fresh(seen, around[i])
        total[p] += 1


class Contexts:
    """In how many different surroundings each phrase stands, in bounded memory.

    A phrase should not seem to be copied because it is frequent: of very many occurrences some
    have to be alike. So `ENOUGH` pairs of neighbours are enough, and the sides are looked at
    where it stands the first `ENOUGH` times.

    Parameters
    ----------
    words : ndarray of int64
        How many words each phrase has, stop words too.

    Attributes
    ----------
    total : ndarray of int64
        Occurrences of each phrase.
    distinct : ndarray of int64, of shape (3, phrases)
        How many different things stand before it, after it, and as its two neighbours.
    """

    def __init__(self, words: NDArray[np.int64]) -> None:
        self.total = np.zeros(len(words), dtype=np.int64)
        self.distinct = np.zeros((3, len(words)), dtype=np.int64)
        self._alike = np.where(words < LONG, ONE_SIDE, LONG_SIDE)
        self._seen = np.zeros(1 << (SEEN_BITS - 3), dtype=np.uint8)

    def add(self, found: Occurrences) -> None:
        """Some more documents."""
        _note(Occurrences(*fixed(*found)), self.total, self.distinct, self._seen)

    @property
    def varied(self) -> NDArray[np.float64]:
        """Share of the occurrences whose surroundings differ.

        On one side more may be alike, "performance analysis" is how many titles begin, but not
        beside a phrase that is as long as a passage.
        """
        before, after, around = self.distinct / np.clip(self.total, 1, ENOUGH)
        sides = np.maximum(np.minimum(before, after) + self._alike, 0)
        result: NDArray[np.float64] = np.minimum(sides, around)
        return result
