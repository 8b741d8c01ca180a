"""What a search should find, in plain Python: words by the definition, BM25 by the formula."""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import regex

from strod.corpus.build import build_corpus
from strod.corpus.reader import Corpus
from strod.options import CorpusOptions
from strod.progress import Silent
from strod.query.parse import All, Either, Field, Not, parse
from strod.query.terms import Term, Words, value_term
from strod.store.schema import replace
from strod.text.sources import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from strod.query.parse import Query

CHARACTER = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}][\p{M}ー々]*")
K1, B = np.float32(1.2), np.float32(0.75)


def corpus_of(folder: Path, *parts: list[dict[str, Any]], **options: Any) -> Corpus:
    """A corpus with a segment for each part, as additions make them."""
    chosen = CorpusOptions(min_df=1, workers=1, **options)
    abouts = []
    for number, documents in enumerate(parts):
        own = folder / f"part-{number}"
        own.mkdir(parents=True)
        sources = resolve([documents], chosen.format, follow_links=False)
        about = build_corpus(own, sources, chosen, Silent(), allow_empty=True).about
        shutil.copytree(own / "corpus" / "0000", folder / "corpus" / f"{number:04d}")
        abouts.append(replace(about, segments=(replace(about.segments[0], name=f"{number:04d}"),)))
    segments = tuple(one for about in abouts for one in about.segments)
    total = sum(about.documents for about in abouts)
    return Corpus.drafted(folder, replace(abouts[0], documents=total, segments=segments))


class Naive:
    """Searches by reading everything."""

    def __init__(self, corpus: Corpus) -> None:
        self.words, self.fields = Words(corpus.about.settings), corpus.meta
        shards = list(corpus.shards())
        texts = [text for shard in shards for text in shard.texts(list(range(shard.size)))]
        self.texts = [self.words.of(text) for text in texts]
        metas = [meta for shard in shards for meta in shard.metadata()]
        self.values = [self._values(meta) for meta in metas]

    def _values(self, meta: dict[str, Any]) -> set[tuple[int, str]]:
        found = set()
        for number, (name, kind) in enumerate(self.fields.items()):
            value = meta[name]
            many = value if kind == "list" else [value]
            for one in (one for one in many or [] if one is not None):
                found.add((number, value_term(repr(one) if kind == "number" else one)))
        return found

    def search(self, query: str) -> list[tuple[int, float]]:
        """Documents and scores, the best first."""
        asked = parse(query, self.words, self.fields)
        found = [
            (document, score)
            for document in range(len(self.texts))
            if (score := self.score(asked, document)) is not None
        ]
        return sorted(found, key=lambda one: (-one[1], one[0]))

    def score(self, query: Query, document: int) -> float | None:
        """BM25, or None if the document is not found."""
        if isinstance(query, Field):
            own = [term for number, term in self.values[document] if number == query.number]
            same = (one.startswith(query.term) if query.prefix else one == query.term
                    for one in own)  # fmt: skip
            return 0.0 if any(same) else None
        if isinstance(query, Term):
            return self._term(query, document)
        if isinstance(query, Either):
            scores = [self.score(part, document) for part in query.parts]
            there = [score for score in scores if score is not None]
            return sum(there) if there else None
        assert isinstance(query, All)
        total = 0.0
        for part in query.parts:
            inner = part.part if isinstance(part, Not) else part
            score = self.score(inner, document)
            if (score is None) != isinstance(part, Not):
                return None
            total += score or 0.0
        return total

    def _term(self, term: Term, document: int) -> float | None:
        words, first = self.texts[document], term.words[0]
        if term.prefix:
            return 1.0 if any(word.startswith(first) for word in words) else None
        if len(term.words) == 1 and CHARACTER.fullmatch(first):
            return 1.0 if any(first in CHARACTER.findall(word) for word in words) else None
        times = occurrences(words, term.words)
        if not times:
            return None
        idf = sum(self._idf(word) for word in term.words)
        average = sum(map(len, self.texts)) / len(self.texts)
        norm = K1 * (1 - B + B * quantised(len(words)) / average)
        return float(idf * (1 + K1) * times / (times + norm))

    def _idf(self, word: str) -> float:
        frequency = sum(word in words for words in self.texts)
        return math.log(1 + (len(self.texts) - frequency + 0.5) / (frequency + 0.5))


def occurrences(words: list[str], phrase: tuple[str, ...]) -> int:
    """How often words stand one after another."""
    size = len(phrase)
    return sum(tuple(words[i : i + size]) == phrase for i in range(len(words) - size + 1))


def quantised(length: int) -> int:
    """The length of a document as an index keeps it, in one byte: exact up to 40."""
    step, known = 2, 40
    while length > known and length >= known + 8 * step:
        known, step = known + 8 * step, 2 * step
    return length if length <= 40 else known + (length - known) // step * step
