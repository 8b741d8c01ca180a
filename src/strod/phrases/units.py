"""What lists are made of: words and phrases, all forms of a thing as one unit.

"neural network" and "neural networks" are forms of one unit, "graph theory" and "theory of
graphs" too: the same content words in the singular. The commonest form stands for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from strod.phrases.forms import base_forms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from strod.phrases.quality import Phrase
    from strod.phrases.stream import Alphabet

__all__ = ["PhraseLexicon", "Units"]


@dataclass(frozen=True)
class PhraseLexicon:
    """The words of a corpus.

    Attributes
    ----------
    words : list of str
        Folded.
    occurrences : ndarray of int64
        How often each occurs.
    stop : ndarray of bool
        Which are stop words.
    column : ndarray of int32
        Columns of the model, -1 for words that it leaves out.
    language : str
        Decides what a plural is.
    """

    words: list[str]
    occurrences: NDArray[np.int64]
    stop: NDArray[np.bool_]
    column: NDArray[np.int32]
    language: str = "en"


@dataclass(frozen=True)
class Units:
    """Words and phrases of a corpus.

    Attributes
    ----------
    alphabet : Alphabet
        The words that occur often enough.
    phrases : list of Phrase
        Every form.
    base : ndarray of int64
        Singular of each word of the alphabet.
    counts : ndarray of int64
        How often each word of the alphabet occurs.
    varied : ndarray of float
        Share of the occurrences of each phrase whose neighbours differ.
    """

    alphabet: Alphabet
    phrases: list[Phrase]
    base: NDArray[np.int64]
    counts: NDArray[np.int64]
    varied: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        alphabet: Alphabet,
        phrases: Sequence[Phrase],
        lexicon: PhraseLexicon,
        varied: NDArray[np.float64] | None = None,
    ) -> Units:
        """Put the forms of a thing together."""
        words = [lexicon.words[place] for place in alphabet.words]
        base = base_forms(words, lexicon.language)
        given = np.ones(len(phrases)) if varied is None else varied
        return cls(alphabet, list(phrases), base, lexicon.occurrences[alphabet.words], given)

    @cached_property
    def _grouped(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For each form its unit, for each unit the form that stands for it."""
        base = self.base.tolist()
        keys = [(one,) for one in base]
        keys += [tuple(sorted([base[word] for word in phrase.words])) for phrase in self.phrases]
        number: dict[tuple[int, ...], int] = {}
        unit_of = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.int32)
        phrases = np.array([phrase.count for phrase in self.phrases], dtype=np.int64)
        order = np.argsort(-np.concatenate([self.counts, phrases]), kind="stable")
        commonest = order[np.unique(unit_of[order], return_index=True)[1]].astype(np.int32)
        return unit_of, commonest

    @property
    def unit_of(self) -> NDArray[np.int32]:
        """Unit of each form: words of the alphabet, then phrases."""
        return self._grouped[0]

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self._grouped[1])

    @cached_property
    def words(self) -> list[tuple[int, ...]]:
        """Content words of each unit, as numbers of the alphabet."""
        width = len(self.alphabet.words)
        return [
            (int(form),) if form < width else self.phrases[form - width].words
            for form in self._grouped[1]
        ]

    @cached_property
    def flat(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Content words of all units, one after another, and how many each has."""
        sizes = np.fromiter(map(len, self.words), dtype=np.int64, count=self.size)
        words = np.fromiter(chain.from_iterable(self.words), dtype=np.int64, count=sizes.sum())
        return words, sizes

    @property
    def frequency(self) -> NDArray[np.int64]:
        """How often the form that stands for each unit occurs."""
        phrases = np.array([phrase.count for phrase in self.phrases], dtype=np.int64)
        return np.concatenate([self.counts, phrases])[self._grouped[1]]

    @property
    def variety(self) -> NDArray[np.float64]:
        """Share of each unit's occurrences whose neighbours differ; 1 for words."""
        words = np.ones(len(self.alphabet.words))
        return np.concatenate([words, self.varied])[self._grouped[1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words of each phrase, stop words too."""
        sizes = (len(self.form_tokens(phrase)) for phrase in self.phrases)
        return np.fromiter(sizes, dtype=np.int64, count=len(self.phrases))

    def tokens(self, unit: int) -> list[int]:
        """All words of a unit, stop words too, as numbers of the lexicon."""
        form = int(self._grouped[1][unit])
        width = len(self.alphabet.words)
        if form < width:
            return [int(self.alphabet.words[form])]
        return self.form_tokens(self.phrases[form - width])

    def form_tokens(self, phrase: Phrase) -> list[int]:
        """All words of a phrase, stop words too, as numbers of the lexicon."""
        result = [int(self.alphabet.words[phrase.words[0]])]
        for link in phrase.links:
            _, gap, right = self.alphabet.unpack(link)
            result += [int(self.alphabet.stops[place]) for place in gap]
            result.append(int(self.alphabet.words[right]))
        return result
