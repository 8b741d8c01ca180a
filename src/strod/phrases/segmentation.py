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
from strod.phrases.contexts import occurrences
from strod.phrases.table import Table, lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.phrases.contexts import Occurrences
    from strod.phrases.quality import Phrase
    from strod.phrases.stream import Alphabet, TokenShard

__all__ = ["Segmenter"]


class _Phrases(NamedTuple):
    """What documents are cut by.

    Attributes
    ----------
    slots, places : ndarray
        Of the table of longer parts of phrases, `strod.phrases.table.Table`.
    base : int
        Number of the first of them; smaller numbers are pairs of words.
    phrase : ndarray of int32
        Phrase of each part, -1 if it is none.
    worth : ndarray of float64
        What a part adds to the cut that has it; -inf if it is no phrase.
    longest : int
        Most words of a phrase.
    words : int
        Number of the first phrase as a unit.
    """

    slots: NDArray[np.int64]
    places: NDArray[np.int32]
    base: int
    phrase: NDArray[np.int32]
    worth: NDArray[np.float64]
    longest: int
    words: int


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
def _chosen(chain: Any, top: int, m: int, worth: Any, best: Any, step: Any) -> int:
    """The best way to cut m words: `step` has the length of the last part; returns the parts."""
    best[0] = 0.0
    for e in range(1, m + 1):
        best[e], step[e] = best[e - 1], 1
        for length in range(min(top, e - 1), 0, -1):
            number = chain[length - 1, e - 1 - length]
            if number >= 0:
                value = best[e - 1 - length] + worth[number]
                if value > best[e]:
                    best[e], step[e] = value, length + 1
    size, e = 0, m
    while e > 0:
        size += 1
        e -= step[e]
    return size


@kernel
def _cut(words: Any, pairs: Any, ends: Any, phrases: _Phrases, most: int) -> tuple[Any, Any]:
    """Units in order, and how many each document has; no chain has more than `most` words."""
    slots, places, base, phrase, worth, longest, width = phrases
    chain = np.empty((longest - 1, most), dtype=np.int32)
    best, step = np.empty(most + 1), np.empty(most + 1, dtype=np.int64)
    units = np.empty(words.size, dtype=np.int32)
    sizes = np.empty(ends.size - 1, dtype=np.int64)
    n = 0
    for d in range(ends.size - 1):
        start, i = n, ends[d]
        while i < ends[d + 1]:
            m = 1  # words of the chain; the last word of a document links to nothing
            while pairs[i + m - 1] >= 0:
                chain[0, m - 1] = pairs[i + m - 1]
                m += 1
            top = _numbered(slots, places, base, chain, m - 1)
            size, e = _chosen(chain, top, m, worth, best, step), m
            for place in range(n + size - 1, n - 1, -1):
                if step[e] == 1:
                    units[place] = words[i + e - 1]
                else:
                    number = chain[step[e] - 2, e - step[e]]
                    units[place] = width + phrase[number]
                e -= step[e]
            n += size
            i += m
        sizes[d] = n - start
    return units[:n], sizes


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
        self._pairs, self._phrases = self._numbered(phrases)
        self._size = len(phrases)

    def _numbered(self, phrases: Sequence[Phrase]) -> tuple[Table, _Phrases]:
        """Number every part of a phrase, so that a phrase is found by its parts."""
        links = sorted({link for phrase in phrases for link in phrase.links})
        first = {link: number for number, link in enumerate(links)}
        longer: dict[int, int] = {}
        whole: dict[int, int] = {}
        for place, phrase in enumerate(phrases):
            numbers = [first[link] for link in phrase.links]
            while len(numbers) > 1:
                keys = [a << 32 | b for a, b in pairwise(numbers)]
                numbers = [len(first) + longer.setdefault(key, len(longer)) for key in keys]
            whole[numbers[0]] = place
        table = Table(np.array(list(longer), dtype=np.int64))
        phrase_of = np.full(len(first) + len(longer), -1, dtype=np.int32)
        phrase_of[list(whole)] = list(whole.values())
        worth = np.full(len(phrase_of), -np.inf)
        worth[list(whole)] = [
            (len(phrases[place].words) - 1) * phrases[place].cohesion for place in whole.values()
        ]
        return Table(np.array(links, dtype=np.int64)), _Phrases(
            table.slots,
            table.places,
            base=len(links),
            phrase=phrase_of,
            worth=worth,
            longest=max((len(phrase.words) for phrase in phrases), default=2),
            words=len(self._alphabet.words),
        )

    @property
    def units(self) -> int:
        """Number of units."""
        return len(self._alphabet.words) + self._size

    def cut(self, shard: TokenShard) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Units of the documents in order, and how many each document has."""
        links = self._alphabet.links(shard)
        pairs = self._pairs.find(links.keys)
        most = int(np.diff(np.flatnonzero(pairs < 0), prepend=-1).max(initial=1)) + 1
        cut: tuple[NDArray[np.int32], NDArray[np.int64]] = _cut(
            links.words, pairs, links.ends, self._phrases, most
        )
        return cut

    def counts(
        self, shard: TokenShard, column_of: NDArray[np.int32], width: int
    ) -> tuple[csr_array, Occurrences]:
        """Documents by columns: how often the units that belong to a column stand there.

        Also where the phrases stand.
        """
        units, sizes = self.cut(shard)
        return count_matrix(units, sizes, column_of, width), occurrences(
            units, sizes, len(self._alphabet.words)
        )
