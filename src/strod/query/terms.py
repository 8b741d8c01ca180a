"""What a search looks for: words as the corpus counts them, and the terms of a query.

Words are found and folded as for the corpus, with its stems. Two things differ, because who
searches has no tokenizer of the user's at hand and expects to find what can be seen: numbers are
words, and in scripts without spaces pairs of characters are, whatever the tokenizer was.
`text/reference.py` does the reading, so that a question loads no compiled code; `feed.py` is the
fast twin for whole corpora.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from strod.options import CorpusOptions
from strod.text.fold import fold, word_folder
from strod.text.tokenizers import bigrams

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.store.schema import CorpusSettings

__all__ = ["Term", "Terms", "Words", "value_term"]

KNOWN = 1 << 16  # folded words that are remembered


class Words:
    """How the words of a corpus are found and folded.

    Parameters
    ----------
    settings : CorpusSettings
        Of the corpus.
    """

    def __init__(self, settings: CorpusSettings) -> None:
        self.options = CorpusOptions(
            language=settings.language, stopwords=settings.stopwords, stem=settings.stem
        )

    @cached_property
    def fold(self) -> Callable[[str], str]:
        """Written form → word."""
        options = self.options
        return lru_cache(KNOWN)(word_folder(options.language, options.stop, stem=options.stem))

    def of(self, text: str) -> list[str]:
        """The words of a text, in order."""
        return [self.fold(word) for part in bigrams(text, numbers=True) for word in part]

    def prefix(self, written: str) -> str:
        """The beginning of a word, which has no stem and no ending of its own."""
        return fold(written, "none")


@dataclass(frozen=True)
class Term:
    """Words that a document has one after another, or the beginning of one word.

    Attributes
    ----------
    words : tuple of str
        Folded.
    prefix : bool
        Whether other words may begin with it.
    """

    words: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True)
class Terms:
    """What to mark in the documents that a query found.

    Attributes
    ----------
    terms : tuple of Term
        Each once, in the order of the query, without those that a document must not have.
    fold : callable
        Written form → word, as in the corpus.
    """

    terms: tuple[Term, ...]
    fold: Callable[[str], str]


def value_term(value: str) -> str:
    """A value of metadata without regard to case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", value).casefold())
