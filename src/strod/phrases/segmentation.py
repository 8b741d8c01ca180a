"""Cut documents into phrases and single words, so that one occurrence counts once.

Of all ways to cut a chain into phrases and words the one with the largest sum of
(words - 1)·cohesion is taken, by dynamic programming.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.counting import count_matrix
from strod.compute.kernels import helper, kernel
from strod.phrases.table import Table, lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.phrases.quality import Phrase
    from strod.phrases.stream import Alphabet, TokenShard

__all__ = ["Contexts", "Occurrences", "Segmenter"]

SEEN_BITS = 26  # 64 MB of marks
ENOUGH = 100  # surroundings that show that a phrase is used freely


@helper
def _numbered(slots: Any, places: Any, base: int, chain: Any, links: int) -> int:
    """Numbers of the longer parts of a chain, row by row; returns the rows that have any."""
    top = min(1, links)
    while 0 < top < min(chain.shape[0], links):
        some = False
        for z in range(links - top):
            left, right = chain[top - 1, z], chain[top - 1, z + 1]
            found = -1
            if left >= 0 and right >= 0:
                found = lookup(slots, places, (np.int64(left) << 32) | right)
            chain[top, z] = base + found if found >= 0 else -1
            some |= found >= 0
        if not some:
            break
        top += 1
    return top


@helper
def _chosen(chain: Any, top: int, m: int, phrase: Any, weight: Any, best: Any, step: Any) -> int:
    """The best way to cut m words: `step` has the length of the last part; returns the parts."""
    best[0] = 0.0
    for e in range(1, m + 1):
        best[e], step[e] = best[e - 1], 1
        for length in range(min(top, e - 1), 0, -1):
            number = chain[length - 1, e - 1 - length]
            if number >= 0 and phrase[number] >= 0:
                value = best[e - 1 - length] + weight[phrase[number]]
                if value > best[e]:
                    best[e], step[e] = value, length + 1
    size, e = 0, m
    while e > 0:
        size += 1
        e -= step[e]
    return size


@kernel
def _cut(
    words: Any,
    pairs: Any,
    ends: Any,
    slots: Any,
    places: Any,
    base: int,
    phrase: Any,
    weight: Any,
    width: int,
    chain: Any,
    best: Any,
    step: Any,
    units: Any,
    sizes: Any,
) -> int:
    n = 0
    for d in range(ends.size - 1):
        start, i = n, ends[d]
        while i < ends[d + 1]:
            m = 1  # words of the chain; the last word of a document links to nothing
            while pairs[i + m - 1] >= 0:
                chain[0, m - 1] = pairs[i + m - 1]
                m += 1
            top = _numbered(slots, places, base, chain, m - 1)
            size, e = _chosen(chain, top, m, phrase, weight, best, step), m
            for place in range(n + size - 1, n - 1, -1):
                if step[e] == 1:
                    units[place] = words[i + e - 1]
                else:
                    units[place] = width + phrase[chain[step[e] - 2, e - step[e]]]
                e -= step[e]
            n += size
            i += m
        sizes[d] = n - start
    return n


class Occurrences(NamedTuple):
    """Where phrases stand: their numbers, and a digest of phrase and neighbours for each."""

    phrases: NDArray[np.int32]
    contexts: NDArray[np.uint64]


def _mixed(one: NDArray[np.uint64], other: NDArray[np.int64]) -> NDArray[np.uint64]:
    value = (one ^ (other + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    result: NDArray[np.uint64] = value ^ (value >> np.uint64(31))
    return result


class Contexts:
    """In how many different surroundings each phrase stands, in bounded memory.

    A phrase that always stands between the same neighbours is part of a passage that
    somebody copied: a signature, a licence, a sentence of a manual.

    Of a phrase that was seen in `ENOUGH` of them no more are looked at.

    Attributes
    ----------
    total, distinct : ndarray of int64
        Occurrences of each phrase, and surroundings that differ.
    """

    def __init__(self, phrases: int) -> None:
        self.total = np.zeros(phrases, dtype=np.int64)
        self.distinct = np.zeros(phrases, dtype=np.int64)
        self._seen = np.zeros(1 << SEEN_BITS, dtype=np.bool_)

    def add(self, found: Occurrences) -> None:
        """Some more documents."""
        size = len(self.total)
        self.total += np.bincount(found.phrases, minlength=size)
        open_ones = self.distinct[found.phrases] < ENOUGH
        found = Occurrences(found.phrases[open_ones], found.contexts[open_ones])
        contexts, first = np.unique(found.contexts, return_index=True)
        slots = (contexts >> np.uint64(64 - SEEN_BITS)).astype(np.int64)
        fresh = ~self._seen[slots]
        self.distinct += np.bincount(found.phrases[first[fresh]], minlength=size)
        self._seen[slots] = True

    @property
    def varied(self) -> NDArray[np.float64]:
        """Share of the occurrences, up to `ENOUGH` of them, whose surroundings differ."""
        result: NDArray[np.float64] = self.distinct / np.clip(self.total, 1, ENOUGH)
        return np.minimum(result, 1.0)


class Segmenter:
    """Cuts documents into units: words of the alphabet, then phrases.

    Parameters
    ----------
    alphabet : Alphabet
        The words; word w is unit w.
    phrases : sequence of Phrase
        Phrase p is unit ``len(alphabet.words) + p``.
    """

    def __init__(self, alphabet: Alphabet, phrases: Sequence[Phrase]) -> None:
        self._alphabet = alphabet
        self._longest = max((len(phrase.words) for phrase in phrases), default=2)
        weights = [(len(phrase.words) - 1) * phrase.cohesion for phrase in phrases]
        self._weights = np.array(weights, dtype=np.float64)
        self._number(phrases)

    def _number(self, phrases: Sequence[Phrase]) -> None:
        """Number every part of a phrase, so that a phrase is found by its parts."""
        links = sorted({link for phrase in phrases for link in phrase.links})
        self._pairs = Table(np.array(links, dtype=np.int64))
        first = {link: number for number, link in enumerate(links)}
        longer: dict[int, int] = {}
        whole: dict[int, int] = {}
        for place, phrase in enumerate(phrases):
            numbers = [first[link] for link in phrase.links]
            while len(numbers) > 1:
                keys = [a << 32 | b for a, b in pairwise(numbers)]
                numbers = [len(first) + longer.setdefault(key, len(longer)) for key in keys]
            whole[numbers[0]] = place
        self._longer = Table(np.array(list(longer), dtype=np.int64))
        self._phrase = np.full(len(first) + len(longer), -1, dtype=np.int32)
        self._phrase[list(whole)] = list(whole.values())

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self._alphabet.words) + len(self._weights)

    def cut(self, shard: TokenShard) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Units of the documents in order, and how many each document has."""
        links = self._alphabet.links(shard)
        pairs = self._pairs.find(links.keys)
        longest = int(np.diff(np.flatnonzero(pairs < 0), prepend=-1).max(initial=1)) + 1
        chain = np.empty((self._longest - 1, longest), dtype=np.int32)
        best, step = np.empty(longest + 1), np.empty(longest + 1, dtype=np.int64)
        units = np.empty(len(links.words), dtype=np.int32)
        sizes = np.empty(len(links.ends) - 1, dtype=np.int64)
        n = _cut(
            links.words,
            pairs,
            links.ends,
            self._longer.slots,
            self._longer.places,
            len(self._pairs.keys),
            self._phrase,
            self._weights,
            len(self._alphabet.words),
            chain,
            best,
            step,
            units,
            sizes,
        )
        return units[:n], sizes

    def counts(
        self, shard: TokenShard, column_of: NDArray[np.int32], width: int
    ) -> tuple[csr_array, Occurrences]:
        """Documents by columns: how often the units that belong to a column stand there.

        Also where the phrases stand.
        """
        units, sizes = self.cut(shard)
        return count_matrix(units, sizes, column_of, width), self._occurrences(units, sizes)

    def _occurrences(self, units: NDArray[np.int32], sizes: NDArray[np.int64]) -> Occurrences:
        words = len(self._alphabet.words)
        around = np.full(len(units) + 2, -1, dtype=np.int64)
        around[1:-1] = units
        before, after = around[:-2].copy(), around[2:].copy()
        ends = np.cumsum(sizes)
        before[ends[:-1][ends[:-1] < len(units)]] = -1  # nothing reaches across documents
        after[ends[ends > 0] - 1] = -1
        places = np.flatnonzero(units >= words)
        phrases = units[places] - words
        mixed = np.zeros(len(places), dtype=np.uint64)
        for value in (phrases.astype(np.int64), before[places], after[places]):
            mixed = _mixed(mixed, value)
        return Occurrences(phrases, mixed)
