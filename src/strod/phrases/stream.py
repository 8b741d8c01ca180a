"""The token stream as chains of content words.

A phrase begins and ends with a content word and may have stop words inside. So the stream
is read as content words and the links between neighbours; a link knows the up to two stop
words it jumps over. Ends of sentences and clauses, unknown things, rare words and longer
runs of stop words break a chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from strod.compute.kernels import fixed, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Alphabet", "Links", "TokenShard"]

BREAK = -1
WORD_BITS = 21
GAP_BITS = 20
MOST_WORDS = 1 << WORD_BITS
MOST_STOPS = 1000  # 1 + S + S² gaps have to fit `GAP_BITS`


class TokenShard(Protocol):
    """Consecutive documents as tokens."""

    @property
    def tokens(self) -> NDArray[np.int32]:
        """Lexicon numbers in order; negative ones are breaks."""

    @property
    def token_offsets(self) -> NDArray[np.int64]:
        """Where each document begins, and the end."""


class Links(NamedTuple):
    """The chains of some documents.

    Attributes
    ----------
    words : ndarray of int32
        Content words in order, as numbers of the alphabet.
    keys : ndarray of int64
        For each word the link to the next one, -1 if the chain ends.
    ends : ndarray of int64
        Document d has ``words[ends[d]:ends[d + 1]]``.
    """

    words: NDArray[np.int32]
    keys: NDArray[np.int64]
    ends: NDArray[np.int64]


@kernel
def _link(tokens: Any, offsets: Any, code: Any, stops: int) -> Links:
    words = np.empty(tokens.size, dtype=np.int32)
    keys = np.empty(tokens.size, dtype=np.int64)
    ends = np.zeros(offsets.size, dtype=np.int64)
    n = 0
    for d in range(offsets.size - 1):
        gap = -1  # nothing links across documents
        for i in range(offsets[d], offsets[d + 1]):
            kind = code[tokens[i]] if tokens[i] >= 0 else -1
            if kind >= 0:
                if gap >= 0:
                    left = np.int64(words[n - 1])
                    keys[n - 1] = (((left << 21) | kind) << 20) | gap
                words[n] = kind
                keys[n] = -1
                n += 1
                gap = 0
            elif kind == -1 or gap > stops:
                gap = -1
            elif gap > 0:
                gap = 1 + stops + (gap - 1) * stops - 2 - kind
            elif gap == 0:
                gap = -1 - kind
        ends[d + 1] = n
    return Links(words[:n], keys[:n], ends)


@dataclass(frozen=True)
class Alphabet:
    """Which words can be part of phrases.

    Attributes
    ----------
    words : ndarray of int32
        Lexicon numbers of the content words.
    stops : ndarray of int32
        Lexicon numbers of the stop words that may stand inside.
    code : ndarray of int32
        For every lexicon number: of a content word its place in `words`, -1 for what breaks
        a chain, -2 - place for a stop word.
    """

    words: NDArray[np.int32]
    stops: NDArray[np.int32]
    code: NDArray[np.int32]

    @classmethod
    def of(cls, occurrences: NDArray[np.int64], stop: NDArray[np.bool_], least: int) -> Alphabet:
        """Words that occur at least `least` times; if there are too many, the commonest."""
        words = _commonest(occurrences, ~stop & (occurrences >= least), MOST_WORDS)
        stops = _commonest(occurrences, stop & (occurrences >= least), MOST_STOPS)
        return cls.from_words(words, stops, len(occurrences))

    @classmethod
    def from_words(cls, words: NDArray[np.int32], stops: NDArray[np.int32], size: int) -> Alphabet:
        """Of given words of a lexicon of `size` words."""
        code = np.full(size, BREAK, dtype=np.int32)
        code[words] = np.arange(len(words), dtype=np.int32)
        code[stops] = -2 - np.arange(len(stops), dtype=np.int32)
        return cls(words, stops, code)

    def links(self, shard: TokenShard) -> Links:
        """The chains of some documents."""
        tokens = fixed(shard.tokens, shard.token_offsets)
        links: Links = _link(*tokens, self.code, len(self.stops))
        return links

    def key(self, left: int, gap: list[int], right: int) -> int:
        """The link between two content words over a gap of stop words."""
        size = len(self.stops)
        number = 0
        for place in gap:
            number = 1 + size + (number - 1) * size + place if number else 1 + place
        return (((left << WORD_BITS) | right) << GAP_BITS) | number

    def chain(self, tokens: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Content words and links of a phrase, given as numbers of the lexicon."""
        return self.linked(self.code[tokens].tolist())

    def linked(self, codes: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The same, from the codes of the words."""
        words, links, gap = [codes[0]], [], []
        for code in codes[1:]:
            if code < 0:
                gap.append(-2 - code)
                continue
            links.append(self.key(words[-1], gap, code))
            words.append(code)
            gap = []
        return tuple(words), tuple(links)

    def unpack(self, key: int) -> tuple[int, list[int], int]:
        """What `key` packed."""
        size = len(self.stops)
        number = key & ((1 << GAP_BITS) - 1)
        pair = key >> GAP_BITS
        gap = [] if not number else [number - 1]
        if number > size:
            gap = list(divmod(number - 1 - size, size))
        return pair >> WORD_BITS, gap, pair & (MOST_WORDS - 1)


def _commonest(
    occurrences: NDArray[np.int64], chosen: NDArray[np.bool_], most: int
) -> NDArray[np.int32]:
    places = np.flatnonzero(chosen)
    if len(places) > most:
        places = np.sort(places[np.argsort(-occurrences[places], kind="stable")[:most]])
    return places.astype(np.int32)
