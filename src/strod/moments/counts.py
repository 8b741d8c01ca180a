"""Topical counts: the tokens of some documents, each with the probability of a topic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from strod.compute.kernels import fixed, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LONG", "Counts"]

LONG = 100.0  # tokens beyond which a document weighs no more
ROUNDING = 1e-12  # of the cube of a length: no triple, only rounding


@kernel
def _sums(indptr: Any, tokens: Any, probability: Any, out: Any) -> None:
    """Σ_x c·p^r of every document, one row for each r from 0 to 4."""
    for d in range(indptr.size - 1):
        zero = one = two = three = four = 0.0
        for j in range(indptr[d], indptr[d + 1]):
            value, p = np.float64(tokens[j]), np.float64(probability[j])
            zero += value
            value *= p
            one += value
            value *= p
            two += value
            value *= p
            three += value
            four += value * p
        out[0, d], out[1, d], out[2, d], out[3, d], out[4, d] = zero, one, two, three, four


@dataclass(frozen=True)
class Counts:
    """Topical counts of some documents.

    A word that stands `tokens` times in a document is so many tokens, each of which belongs
    to the topic with the given `probability`. All moments are sums over pairs and triples of
    *distinct* tokens, so they are exact for fractional counts.

    Attributes
    ----------
    indptr, indices : ndarray
        Rows (documents) and columns (words), as in compressed sparse rows.
    tokens : ndarray
        How often the word stands in the document, c.
    probability : ndarray
        p, between 0 and 1.
    width : int
        Number of words, V.
    in_full : bool
        Whether every token counts alike, those of long documents too.
    """

    indptr: NDArray[Any]
    indices: NDArray[np.int32]
    tokens: NDArray[np.float32]
    probability: NDArray[np.float32]
    width: int
    in_full: bool = False

    def __reduce__(self) -> tuple[type[Counts], tuple[Any, ...]]:
        """Without what was computed from them."""
        arrays = self.indptr, self.indices, self.tokens, self.probability
        return Counts, (*arrays, self.width, self.in_full)

    @property
    def size(self) -> int:
        """Number of documents."""
        return len(self.indptr) - 1

    @property
    def sizes(self) -> NDArray[Any]:
        """Distinct words of every document."""
        return np.diff(self.indptr)

    @cached_property
    def expected(self) -> NDArray[np.float64]:
        """c·p: how many of a word's tokens belong to the topic; needed in every sweep."""
        return self.tokens.astype(np.float64) * self.probability

    def values(self, exponent: int) -> NDArray[np.float64]:
        """c·p^exponent of every count."""
        values = self.tokens.astype(np.float64)
        for _ in range(exponent):
            values *= self.probability
        return values

    def power(self, exponent: int) -> csr_array:
        """Documents by words: c·p^exponent."""
        return self.table(self.values(exponent))

    def table(self, values: NDArray[np.float64]) -> csr_array:
        """Documents by words, with other values; scipy copies what is not of one kind."""
        parts = (values, self.indices, self.indptr.astype(np.int32))
        return csr_array(parts, shape=(self.size, self.width), copy=False)

    def weighted(self) -> NDArray[np.float64]:
        """c·p times the weight of the document, of every count."""
        values = self.values(1)  # not `expected`, which would be kept
        values *= np.repeat(self.document_weight, self.sizes)
        return values

    def length(self, exponent: int) -> NDArray[np.float64]:
        """s_r = Σ_x c·p^r of every document."""
        lengths: NDArray[np.float64] = self._lengths[exponent]
        return lengths

    @cached_property
    def _lengths(self) -> NDArray[np.float64]:
        lengths = np.empty((5, self.size))
        _sums(*fixed(self.indptr, self.tokens, self.probability), lengths)
        return lengths

    @cached_property
    def document_weight(self) -> NDArray[np.float64]:
        """How much each token of a document counts: min(1, LONG / s_1).

        A long document counts as if `LONG` of its tokens were drawn; its weight in the
        moment of order r is this number to the power r.
        """
        if self.in_full:
            return np.ones(self.size)
        return np.minimum(1.0, LONG / np.maximum(self.length(1), LONG))

    def pairs(self) -> NDArray[np.float64]:
        """Weighted number of pairs of distinct tokens of each document: s_1² - s_2."""
        one, two = self.length(1), self.length(2)
        return self.document_weight**2 * np.maximum(one**2 - two, 0)

    def triples(self) -> NDArray[np.float64]:
        """Weighted number of triples of distinct tokens: s_1³ - 3·s_1·s_2 + 2·s_3."""
        one, two, three = self.length(1), self.length(2), self.length(3)
        triples = one**3 - 3 * one * two + 2 * three
        return self.document_weight**3 * np.where(triples > ROUNDING * one**3, triples, 0)

    def clipped(self, most: int) -> Counts:
        """A word counts at most so many times in a document; 0 for any number."""
        if not most or self.tokens.max(initial=0) <= most:
            return self
        return replace(self, tokens=np.minimum(self.tokens, np.float32(most)))

    def entire(self) -> Counts:
        """Every token in full, of long documents too: nothing is thinned."""
        return replace(self, probability=np.ones_like(self.probability), in_full=True)

    def renumbered(self, present: NDArray[np.int64]) -> Counts:
        """The same counts over the words in `present` only, which are all that occur."""
        number = np.zeros(self.width, dtype=np.int32)
        number[present] = np.arange(len(present), dtype=np.int32)
        return replace(self, indices=number[self.indices], width=len(present))

    def over(self, words: NDArray[np.bool_]) -> Counts:
        """The same documents over some of the words only, which are numbered anew."""
        return self.words_where(words[self.indices]).renumbered(np.flatnonzero(words))

    def sample(self, documents: NDArray[np.bool_]) -> Counts:
        """Only some of the documents."""
        kept = np.repeat(documents, self.sizes)
        indptr = np.concatenate([[0], np.cumsum(self.sizes[documents])])
        return replace(
            self,
            indptr=indptr,
            indices=self.indices[kept],
            tokens=self.tokens[kept],
            probability=self.probability[kept],
        )

    def speaking(self) -> tuple[Counts, NDArray[np.bool_]]:
        """The documents that have words, without a copy of these, and which they are.

        Far down the tree they are few.
        """
        speak = self.sizes > 0
        return replace(self, indptr=np.append(self.indptr[:-1][speak], self.indptr[-1])), speak

    def words_where(self, kept: NDArray[np.bool_]) -> Counts:
        """All documents with only some of their words; `kept` has one for each count."""
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(
            self,
            indptr=before[self.indptr],
            indices=self.indices[kept],
            tokens=self.tokens[kept],
            probability=self.probability[kept],
        )
