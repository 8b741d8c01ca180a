"""Random token streams, and what is in them by enumeration: slow and obviously right."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import strod
from strod.phrases.stream import Alphabet
from strod.workspace.phrases import PhraseIndex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.phrases.mine import Level
    from strod.workspace.workspace import Workspace

Tokens = tuple[int, ...]
BREAKS = [-1, -2, -3]
MOST_STOPS = 2  # in a row


@dataclass(frozen=True)
class TokenRows:
    """Consecutive documents as tokens."""

    tokens: NDArray[np.int32]
    token_offsets: NDArray[np.int64]
    first: int = 0
    size: int = 0

    def open(self) -> TokenRows:
        return self


@dataclass(frozen=True)
class Sample:
    """Documents over a small lexicon, some of whose words are stop words."""

    documents: list[list[int]]
    stop: NDArray[np.bool_]

    @cached_property
    def occurrences(self) -> NDArray[np.int64]:
        tokens = [token for document in self.documents for token in document if token >= 0]
        return np.bincount(np.array(tokens, dtype=np.int64), minlength=len(self.stop))

    def alphabet(self, least: int) -> Alphabet:
        return Alphabet.of(self.occurrences, self.stop, least)

    def shards(self, pieces: int) -> list[TokenRows]:
        """The documents in `pieces` runs, of which some may be empty."""
        borders = np.linspace(0, len(self.documents), pieces + 1).astype(int)
        return [rows(self.documents[begin:end]) for begin, end in pairwise(borders)]

    def chains(self, least: int, longest: int) -> Counter[Tokens]:
        """All frequent chains of two content words and more."""
        found: Counter[Tokens] = Counter()
        for document in self.documents:
            found.update(self._inside(document, least, longest))
        return Counter({chain: count for chain, count in found.items() if count >= least})

    def _inside(self, document: list[int], least: int, longest: int) -> Iterator[Tokens]:
        for begin in range(len(document)):
            for end in range(begin + 2, len(document) + 1):
                chain = tuple(document[begin:end])
                if self._is_chain(chain, least, longest):
                    yield chain

    def _is_chain(self, chain: Tokens, least: int, longest: int) -> bool:
        if min(chain) < 0 or self.stop[chain[0]] or self.stop[chain[-1]]:
            return False
        content = [token for token in chain if not self.stop[token]]
        if not 2 <= len(content) <= longest or self.occurrences[content].min() < least:
            return False
        marks = "".join("s" if self.stop[token] else "c" for token in chain)
        return "s" * (MOST_STOPS + 1) not in marks


def rows(documents: Sequence[Sequence[int]]) -> TokenRows:
    """Documents as one shard."""
    sizes = [len(document) for document in documents]
    tokens = [token for document in documents for token in document]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TokenRows(np.array(tokens, dtype=np.int32), offsets)


def random_sample(random: np.random.Generator, documents: int = 12, words: int = 6) -> Sample:
    """Few words, so that much repeats; a passage that stands in several documents."""
    content, stops = int(random.integers(1, words + 1)), int(random.integers(0, 4))
    width = content + stops
    stop = np.zeros(width, dtype=np.bool_)
    stop[random.permutation(width)[:stops]] = True
    chances = np.concatenate([random.gamma(0.7, size=width) + 0.02, random.random(3) * 0.1])
    symbols, chances = [*range(width), *BREAKS], chances / chances.sum()

    def drawn(length: int) -> list[int]:
        return [int(token) for token in random.choice(symbols, length, p=chances)]

    passage = drawn(12)
    found = []
    for _ in range(documents):
        document = drawn(int(random.integers(0, 25)))
        if random.random() < 0.4:
            place = int(random.integers(0, len(document) + 1))
            document[place:place] = passage
        found.append(document)
    return Sample(found, stop)


def decoded(levels: Sequence[Level], alphabet: Alphabet) -> list[list[Tokens]]:
    """Chains of each level as numbers of the lexicon."""
    linked: list[list[Tokens]] = []
    for level in levels:
        if level.size == 2:
            linked.append([(key,) for key in level.keys.tolist()])
            continue
        before, pairs = linked[-1], zip(level.left.tolist(), level.right.tolist(), strict=True)
        linked.append([(*before[left], before[right][-1]) for left, right in pairs])
    return [[spoken(links, alphabet) for links in level] for level in linked]


def spoken(links: Tokens, alphabet: Alphabet) -> Tokens:
    """The words that links join, as numbers of the lexicon."""
    found = [int(alphabet.words[alphabet.unpack(links[0])[0]])]
    for link in links:
        left, gap, right = alphabet.unpack(link)
        assert alphabet.words[left] == found[-1]
        found += [int(alphabet.stops[place]) for place in gap]
        found.append(int(alphabet.words[right]))
    return tuple(found)


def book_of(workspace: Workspace, language: str = "en") -> PhraseIndex:
    """The phrases of a workspace, read from its files."""
    return PhraseIndex(workspace.files, workspace.corpus, language, stemmed=False)


def phrases_of(workspace: Workspace, language: str = "en") -> dict[str, int]:
    """Folded phrases of a workspace and how often they stand there."""
    book = book_of(workspace, language)
    return {
        " ".join(
            book.lexicon.words[token] for token in book.units.form_tokens(phrase)
        ): phrase.count
        for phrase in book.units.phrases
    }


def mined(folder: Path, texts: list[str], language: str = "en", **options: Any) -> dict[str, int]:
    """Folded phrases that a build finds."""
    made = strod.build(texts, out=folder / "w.strod", height=0, language=language, **options)
    return phrases_of(made, language)
