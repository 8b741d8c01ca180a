"""Search without a server: words of some documents in small files, each found by its name.

A reader's browser cannot fold words as the corpus does: it knows no stems. So the files list words
as they are written, without case and accents, and say which word of the corpus each one is. What
the browser does is in `web/src/lib/looking.ts`; `form` and `shard_of` are the same there.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from strod.explorer.spans import found_words

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Postings", "form", "shard_of"]

LETTERS = 2  # of a word, which say in which file it is
DIGITS = "0123456789abcdefghijklmnopqrstuv"
PLAIN = frozenset("0123456789abcdefghijklmnopqrstuvwxyz")


def form(word: str) -> str:
    """A written word without case, accents and kinds of apostrophes."""
    apart = unicodedata.normalize("NFKD", word.replace("\u2019", "'").replace("\uff07", "'"))
    bare = "".join(sign for sign in apart if unicodedata.category(sign)[0] != "M")
    return unicodedata.normalize("NFC", bare.lower())


def shard_of(text: str) -> str:
    """Name of the file in which a form is: of letters, digits and underlines alone."""
    return "".join(_step(sign) for sign in text[:LETTERS])


def _step(sign: str) -> str:
    return sign if sign in PLAIN else f"_{DIGITS[ord(sign) % len(DIGITS)]}"


class Postings:
    """Which documents have which words.

    Parameters
    ----------
    fold : callable
        Written form to word, as in the corpus.
    """

    def __init__(self, fold: Callable[[str], str]) -> None:
        self._fold = fold
        self._counts: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._words: dict[str, set[str]] = defaultdict(set)
        self.lengths: list[int] = []

    def add(self, text: str) -> None:
        """The next document."""
        words = []
        for _, _, written in found_words(text):
            words.append(self._fold(written))
            self._words[form(written)].add(words[-1])
        for word, count in sorted(Counter(words).items()):
            self._counts[word].append((len(self.lengths), count))
        self.lengths.append(len(words))

    def shards(self) -> dict[str, dict[str, Any]]:
        """Content of the files: words of each form, and documents of each word.

        Documents of a word are numbers in a row: how far the next document is, and how often it
        has the word.
        """
        found: dict[str, dict[str, Any]] = {}
        for written in sorted(one for one in self._words if one):
            shard = found.setdefault(shard_of(written), {"forms": {}, "words": {}})
            words = sorted(self._words[written])
            shard["forms"][written] = words
            shard["words"] |= {word: self._row(word) for word in words}
        return found

    def _row(self, word: str) -> list[int]:
        known = [(0, 0), *self._counts[word]]
        return [
            number for (before, _), (here, count) in pairwise(known)
            for number in (here - before, count)
        ]  # fmt: skip
