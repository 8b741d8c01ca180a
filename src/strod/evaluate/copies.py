"""Text that stands in several documents: copies, signatures, forms.

A shingle is a run of `SHINGLE` words (Broder, 1997); a document that is shorter is one shingle. A
shingle is copied if `HOLDERS` or more documents have it. To bound memory only shingles whose
digest ends in zeros are looked at ("0 mod p", Manber, 1994): the same ones in every document, so
that copies are still found, and shares of copied text are estimated without bias.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import fixed, helper, kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref
    from strod.phrases.stream import TokenShard
    from strod.progress import Progress

    Numbers = NDArray[np.int64]

__all__ = ["Asked", "Copies", "count_copied", "find_copies", "find_shingles"]

SHINGLE = 8  # words
HOLDERS = 3  # documents
MOST = 1 << 22  # shingles that are looked at, about


class Copies(NamedTuple):
    """How much text is copied.

    Attributes
    ----------
    seen, copied : ndarray of int64
        Of every document: shingles that were looked at, and those that are copied.
    word_seen, word_copied : ndarray of int64
        Of every word that was asked for: how many of these shingles it is part of.
    """

    seen: Numbers
    copied: Numbers
    word_seen: Numbers
    word_copied: Numbers


@helper
def _digest(words: Any, begin: int, end: int) -> Any:
    value = np.uint64(end - begin) * np.uint64(0x94D049BB133111EB)  # no small number
    for i in range(begin, end):
        value = (value ^ np.uint64(words[i] + 1)) * np.uint64(0x9E3779B97F4A7C15)
        value ^= value >> np.uint64(29)
    value *= np.uint64(0xBF58476D1CE4E5B9)
    return value ^ (value >> np.uint64(32))


@helper
def _words(tokens: Any, begin: int, end: int) -> Any:
    """The words of a document, without breaks."""
    words = tokens[begin:end]
    return words[words >= 0]


@kernel
def _find(tokens: Any, offsets: Any, mask: Any) -> tuple[Any, Any]:
    """Digests of the shingles that are looked at, in order, and the document of each."""
    n, room = 0, tokens.size
    digests, owners = np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.int64)
    for d in range(offsets.size - 1):
        words = _words(tokens, offsets[d], offsets[d + 1])
        width = min(SHINGLE, words.size)
        for begin in range(words.size - width + 1 if words.size else 0):
            digest = _digest(words, begin, begin + width)
            if not digest & mask:
                digests[n], owners[n] = digest, d
                n += 1
    return digests[:n].copy(), owners[:n].copy()


class Asked(NamedTuple):
    """The words that are asked for: the number of each row of the lexicon, else -1; how many."""

    number: NDArray[np.int32]
    words: int


@kernel
def _count(tokens: Any, offsets: Any, mask: Any, copied: Any, asked: Asked) -> Any:
    """How often words stand in these shingles, and in those that are `copied`."""
    n, sums = 0, np.zeros((2, asked.words), dtype=np.int64)
    for d in range(offsets.size - 1):
        words = _words(tokens, offsets[d], offsets[d + 1])
        width = min(SHINGLE, words.size)
        for begin in range(words.size - width + 1 if words.size else 0):
            if not _digest(words, begin, begin + width) & mask:
                for i in range(begin, begin + width):
                    word = asked.number[words[i]]
                    if word >= 0:
                        sums[0, word] += 1
                        sums[1, word] += copied[n]
                n += 1
    return sums


class Marked(NamedTuple):
    """Documents, and which of their shingles are copied."""

    ref: Ref[TokenShard]
    copied: NDArray[np.bool_]


def find_shingles(ref: Ref[TokenShard], mask: np.uint64) -> tuple[NDArray[np.uint64], Numbers]:
    """Digests of the shingles of some documents, and the number of the document of each."""
    shard = ref.open()
    digests, owners = _find(*fixed(shard.tokens, shard.token_offsets), mask)
    return digests, owners + ref.first


def count_copied(marked: Marked, mask: np.uint64, asked: Asked) -> Numbers:
    """How often the words stand in shingles, and in shingles that are copied."""
    shard = marked.ref.open()
    sums: Numbers = _count(*fixed(shard.tokens, shard.token_offsets), mask, marked.copied, asked)
    return sums


def find_copies(
    refs: Sequence[Ref[TokenShard]], tokens: int, asked: Asked, engine: Engine, progress: Progress
) -> Copies:
    """How much of every document, and of the occurrences of some words, is copied.

    Parameters
    ----------
    refs : sequence of Ref
        The documents.
    tokens : int
        Words in all of them, about.
    asked : Asked
        The words.
    engine : Engine
        Maps over the documents.
    progress : Progress
        Is told of every shard, twice.
    """
    every = 1 << max(0, int(np.ceil(np.log2(max(tokens, 1) / MOST))))
    mask = np.uint64(every - 1)
    found = []
    for part in engine.map(find_shingles, refs, mask):
        found.append(part)
        progress.advance(1)
    documents = sum(ref.size for ref in refs)
    owner = _joined([own for _, own in found])
    copied = _is_copied(_joined([digests for digests, _ in found]), owner)
    ends = np.cumsum([len(own) for _, own in found], dtype=np.int64)[:-1]
    marked = map(Marked, refs, np.split(copied, ends))
    sums = np.zeros((2, asked.words), dtype=np.int64)
    for again in engine.map(count_copied, marked, mask, asked):
        sums += again
        progress.advance(1)
    return Copies(
        np.bincount(owner, minlength=documents),
        np.bincount(owner[copied], minlength=documents),
        *sums,
    )


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _is_copied(digests: NDArray[np.uint64], owner: Numbers) -> NDArray[np.bool_]:
    """Which shingles stand in `HOLDERS` documents or more; owners come in order."""
    order = np.argsort(digests, kind="stable")
    kind, own = digests[order], owner[order]
    fresh = np.ones(len(kind), dtype=np.bool_)
    fresh[1:] = kind[1:] != kind[:-1]
    group = np.cumsum(fresh) - 1
    other = fresh.copy()
    other[1:] |= own[1:] != own[:-1]
    holders = np.bincount(group[other], minlength=int(group[-1]) + 1 if len(group) else 0)
    result = np.zeros(len(kind), dtype=np.bool_)
    result[order] = holders[group] >= HOLDERS
    return result
