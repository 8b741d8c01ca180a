"""How often words meet within a window that slides over the text.

A document of n words has the windows of `size` words that begin at its words 0 to n - size, or one
if it is shorter. An occurrence at p is in the windows that begin at p - size + 1 to p, so a word is
in a union of intervals of windows, and two words meet where theirs overlap: no window is visited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, helper, kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref
    from strod.phrases.stream import TokenShard
    from strod.progress import Progress

    Numbers = NDArray[np.int64]

__all__ = ["WINDOW", "Chosen", "count_windows", "window_meetings"]

WINDOW = 110  # words; Röder et al.


class Chosen(NamedTuple):
    """Words of some lists, and where each stands in them.

    Attributes
    ----------
    number : ndarray of int32
        For every row of the lexicon the number of the word, -1 if no list has it.
    first : ndarray of int64
        Word w stands at the places ``first[w]:first[w + 1]`` of the next two.
    list, place : ndarray of int64
        Number of a list, and where in it.
    sizes : ndarray of int64
        Lengths of the lists.
    """

    number: NDArray[np.int32]
    first: Numbers
    list: Numbers
    place: Numbers
    sizes: Numbers

    @classmethod
    def of(cls, lists: Sequence[NDArray[np.int64]], column: NDArray[np.int32]) -> Chosen:
        """Of lists of columns; `column` has the column of every row of the lexicon."""
        sizes = np.array([len(words) for words in lists], dtype=np.int64)
        words = np.concatenate([*lists, np.zeros(0, dtype=np.int64)])
        names, numbers = np.unique(words, return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        of_column = np.full(int(max(column.max(initial=0), words.max(initial=0))) + 1, -1, np.int32)
        of_column[names] = np.arange(len(names))
        number = np.where(column >= 0, of_column[column], -1).astype(np.int32)
        first = np.searchsorted(numbers[order], np.arange(len(names) + 1)).astype(np.int64)
        list_of = np.repeat(np.arange(len(lists)), sizes)[order]
        place = np.concatenate([*map(np.arange, sizes.tolist()), np.zeros(0, dtype=np.int64)])[
            order
        ]
        return cls(number, first, list_of, place.astype(np.int64), sizes)


class _Chains(NamedTuple):
    """Chains of intervals of windows: first and last of each word, -1 if there is none.

    An interval has its first and last window, and the next one of its chain.
    """

    head: Numbers
    tail: Numbers
    begin: Numbers
    end: Numbers
    after: Numbers


@helper
def _overlap(a: int, b: int, chains: _Chains) -> int:
    """Windows that are in an interval of each of two chains."""
    begin, end, after = chains.begin, chains.end, chains.after
    total = 0
    while a >= 0 and b >= 0:
        low, high = max(begin[a], begin[b]), min(end[a], end[b])
        if high >= low:
            total += high - low + 1
        if end[a] < end[b]:
            a = after[a]
        else:
            b = after[b]
    return total


@helper
def _fill(words: Any, size: int, number: Any, seen: Any, chains: _Chains) -> tuple[int, int]:
    """Chains of intervals of the chosen words of a document.

    Returns how many words were seen, and the number of windows.
    """
    head, tail, begin, end, after = chains
    length = 0
    for token in words:
        length += token >= 0
    windows = max(length - size + 1, min(length, 1))
    found = used = position = 0
    for token in words:
        if token < 0:
            continue
        word = number[token]
        if word >= 0:
            low, high = max(position - size + 1, 0), min(position, windows - 1)
            if head[word] < 0:
                seen[found] = word
                found += 1
            if head[word] >= 0 and low <= end[tail[word]] + 1:
                end[tail[word]] = high
            else:
                begin[used], end[used], after[used] = low, high, -1
                if head[word] < 0:
                    head[word] = used
                else:
                    after[tail[word]] = used
                tail[word] = used
                used += 1
        position += 1
    return found, windows


@kernel
def _count(tokens: Any, offsets: Any, chosen: Chosen, size: int, out: Any) -> int:
    """Add the windows of each two words of a list to `out`; returns the number of all windows."""
    number, first, lists, places, _ = chosen
    total, words = 0, first.size - 1
    head, seen = np.full(words, -1), np.empty(words, dtype=np.int64)
    room = np.empty((3, np.append(np.diff(offsets), 0).max()), dtype=np.int64)
    chains = _Chains(head, np.empty_like(head), room[0], room[1], room[2])
    for d in range(offsets.size - 1):
        document = tokens[offsets[d] : offsets[d + 1]]
        found, windows = _fill(document, size, number, seen, chains)
        total += windows
        for x in range(found):
            for y in range(x + 1):
                a, b = seen[x], seen[y]
                met = -1
                for i in range(first[a], first[a + 1]):
                    for j in range(first[b], first[b + 1]):
                        if lists[i] != lists[j]:
                            continue
                        if met < 0:
                            met = _overlap(head[a], head[b], chains)
                        out[lists[i], places[i], places[j]] += met
                        if a != b:
                            out[lists[i], places[j], places[i]] += met
        for x in range(found):
            head[seen[x]] = -1
    return total


def count_windows(ref: Ref[TokenShard], chosen: Chosen, size: int) -> tuple[NDArray[np.int64], int]:
    """For every list the windows of some documents with two of its words, and all windows."""
    shard, out = ref.open(), _empty(chosen)
    tokens, offsets = fixed(shard.tokens, shard.token_offsets)
    return out, _count(tokens, offsets, chosen, size, out)


def _empty(chosen: Chosen) -> NDArray[np.int64]:
    """For every list a table of its words by its words."""
    widest = int(chosen.sizes.max(initial=0))
    return np.zeros((len(chosen.sizes), widest, widest), dtype=np.int64)


def window_meetings(
    refs: Iterable[Ref[TokenShard]], chosen: Chosen, size: int, engine: Engine, progress: Progress
) -> tuple[list[NDArray[np.float64]], int]:
    """For every list the number of windows in which two of its words stand, and of all windows.

    Words are those of the stream, stop words too; breaks take no room.
    """
    out, total = _empty(chosen), 0
    for part, windows in engine.map(count_windows, refs, chosen, size):
        out += part
        total += windows
        progress.advance(1)
    tables = [out[i, :n, :n].astype(np.float64) for i, n in enumerate(chosen.sizes.tolist())]
    return tables, total
