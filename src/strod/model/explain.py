"""How well the words of documents are explained by the topics of a decomposition.

A document of the different words x_1 … x_n and u unknown words has, with the share θ_z of the
topics that it was placed in, the log-likelihood per token::

    L = (Σ_j log p(x_j) + u·log p_u) / (n + u)
    p(x_j) = (N(y_j, x_j) + μ·q(x_j)) / (N(y_j) + μ),    p(x_j) = q(x_j) if no word is before
    q(x_j) = ½·Σ_z m_jz·φ_{z,x_j} / Σ_z m_jz + ½·f_{x_j},    m_jz = n·θ_z - r_jz

where r_jz = θ_z·φ_{z,x_j} / Σ_z' θ_z'·φ_{z',x_j} is what the word itself adds to a topic: each
word is foretold by the others, so that a stray word explains nobody. f are the frequencies of the
corpus, and an unknown word is as likely as the rarest one that is known. A word counts once, since
words that were used are used again. y_j is the word before it where it first stands, N(y, x) says
how often the corpus has the two so, N(y) how often it has y: phrases of the corpus are its own,
and words of it that strangers put together are not.

For a document that the model has learnt from, its own c_j tokens of a word are taken away: φ
loses r_jz·c_j of the w_z·T tokens of a topic, f loses c_j of T, N loses its pairs, and a word that
fewer documents than ``least`` would have is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.counting import words_before
from strod.compute.kernels import fixed, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.model.pairs import Pairs
    from strod.model.placed import Streams
    from strod.values.shares import Placed, Shares
    from strod.values.split import Decomposition
    from strod.values.usual import Usual

    Array = NDArray[np.float64]

__all__ = ["Explainer", "FitModel", "Own", "Texts", "Vocabulary"]

OWN = 0.5  # tokens that a word is given where the document's own were all there are
PRIOR = 30.0  # μ: tokens of a word for what stands behind it to say as much as topics do


@kernel
def _explain(
    indptr: Any,
    indices: Any,
    held: Any,
    before: Any,
    pairs: Any,
    rate: float,
    places: Any,
    topics: Any,
    shares: Any,
    words: Any,
    sizes: Any,
    occurrences: Any,
    documents: Any,
    least: int,
    out: Any,
    known: Any,
) -> None:
    """Σ_j log p(x_j) of every document, and how many of its words are known."""
    total = occurrences.sum()
    room = np.empty(words.shape[1])
    for d in range(indptr.size - 1):
        own, theta = topics[places[d] : places[d + 1]], shares[places[d] : places[d + 1]]
        length = np.float64(indptr[d + 1] - indptr[d])
        for j in range(indptr[d], indptr[d + 1]):
            x = indices[j]
            if held[j] > 0 and documents[x] - 1 < least:
                continue
            frequency = max(occurrences[x] - held[j], OWN) / total
            whole = 0.0
            for i in range(own.size):
                room[i] = theta[i] * words[x, own[i]]
                whole += room[i]
            mass = chance = 0.0
            for i in range(own.size):
                part = room[i] / whole if whole > 0.0 else 0.0
                others = max(length * theta[i] - part, 0.0)
                mass += others
                chance += others * max(words[x, own[i]] - part * held[j] / sizes[own[i]], 0.0)
            chance = chance / mass if mass > 0.0 else frequency
            chance = 0.5 * chance + 0.5 * frequency
            if before[j] >= 0:
                seen = rate * occurrences[before[j]] + PRIOR
                chance = (pairs[j] + PRIOR * chance) / seen
            out[d] += np.log(chance)
            known[d] += 1.0


class Texts(NamedTuple):
    """Documents: their words, each once, and which stood before it.

    Attributes
    ----------
    indptr, indices : ndarray
        Where each document begins, and the words.
    before : ndarray of int32
        For each word of a document the one before it, where it first stands; -1 if none does.
    unknown : ndarray
        How many unknown words each document has.
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    before: NDArray[np.int32]
    unknown: NDArray[Any]

    @classmethod
    def read(
        cls,
        counts: csr_array,
        tokens: NDArray[np.int32],
        offsets: NDArray[np.int64],
        columns: NDArray[np.int32],
        unknown: NDArray[Any],
    ) -> Texts:
        """Documents by words and in order; `columns` says what a token is to the model."""
        before = words_before(tokens, np.diff(offsets), columns, counts)
        return cls(counts.indptr, counts.indices, before, unknown)


class Own(NamedTuple):
    """What documents have given to a model: tokens of each word, and its pairs with that before.

    For each word of each document, as the whole document has them.
    """

    tokens: NDArray[Any]
    pairs: NDArray[Any]


@dataclass(frozen=True)
class Vocabulary:
    """The words of a corpus as the first build counted them.

    Attributes
    ----------
    occurrences, documents : ndarray of shape (V,), float64
        Tokens of each word, and documents that have it.
    least : int
        Documents without which a word is unknown.
    pairs : Pairs
        Those of them that stand side by side.
    """

    occurrences: Array
    documents: Array
    least: int
    pairs: Pairs

    def texts(self, shard: Streams) -> Texts:
        """Documents of the corpus."""
        order = shard.tokens, shard.token_offsets, self.pairs.columns
        return Texts.read(shard.counts, *order, shard.unknown)


class Explainer:
    """The words of the topics of a decomposition, as whole documents have them.

    Parameters
    ----------
    split : Decomposition
        The topics.
    retention : ndarray of shape (V,)
        Share of a word's tokens that they were learnt from.
    vocabulary : Vocabulary
        The words.
    """

    def __init__(
        self, split: Decomposition, retention: NDArray[np.float32], vocabulary: Vocabulary
    ) -> None:
        words = split.topics.counts.T / retention.astype(np.float64)[:, None]
        self._words = np.ascontiguousarray(words / words.sum(axis=0))
        total = vocabulary.occurrences.sum()
        self._unknown = float(np.log(vocabulary.occurrences.min() / total))
        sizes = split.overlap.weights * total
        if split.apart:  # its documents are none of those that were counted first
            own, sizes = words.sum(axis=1), words.sum(axis=0)
            occurrences, documents = vocabulary.occurrences + own, vocabulary.documents + own
            vocabulary = replace(vocabulary, occurrences=occurrences, documents=documents)
        self.vocabulary, self._sizes = vocabulary, np.maximum(sizes, 1.0)

    def likelihoods(
        self, texts: Texts, shares: Shares, own: Own | None = None
    ) -> tuple[Array, Array]:
        """L of every document, and the number of its tokens n + u.

        Parameters
        ----------
        texts : Texts
            The documents.
        shares : Shares
            Of the documents in the decomposition.
        own : Own, optional
            What the model has learnt from them, if it has.
        """
        size, words = len(texts.indptr) - 1, self.vocabulary
        indices = np.asarray(texts.indices, dtype=np.int32)
        total, known = np.zeros(size), np.zeros(size)
        pairs = words.pairs.times(texts.before, indices)
        held = np.zeros(len(indices)) if own is None else own.tokens.astype(np.float64)
        if own is not None:
            pairs = np.maximum(pairs - own.pairs, 0)
        given = (
            np.asarray(texts.indptr, dtype=np.int64),
            indices,
            held,
            texts.before,
            pairs,
        )
        places = (
            np.asarray(shares.indptr, dtype=np.int64),
            np.asarray(shares.indices, dtype=np.int64),
            np.asarray(shares.values, dtype=np.float64),
            self._words,
            self._sizes,
            words.occurrences,
            words.documents,
        )
        rate = float(words.pairs.rate)
        _explain(*fixed(*given), rate, *fixed(*places), words.least, total, known)
        lost = texts.unknown + np.diff(texts.indptr) - known
        lengths: Array = known + lost
        return (total + lost * self._unknown) / np.maximum(lengths, 1), lengths


@dataclass(frozen=True)
class FitModel:
    """How well documents fit the topics of a tree.

    Attributes
    ----------
    name : str
        The decomposition of all there is.
    explainer : Explainer
        The words of its topics.
    usual : Usual
        What documents have that were held out.
    apart : tuple of FitModel
        The same for documents that fitted nowhere and have topics of their own now.
    """

    name: str
    explainer: Explainer
    usual: Usual
    apart: tuple[FitModel, ...] = ()

    def of(self, texts: Texts, placed: Placed) -> Array:
        """Fit of documents, from 0 to 1: the share of held-out ones that fit no better."""
        found = self.usual.fit(*self.explainer.likelihoods(texts, placed[self.name]))
        for one in self.apart:
            there = placed[one.name].there
            found[there] = one.of(texts, placed)[there]
        return found

    def texts(self, shard: Streams) -> Texts:
        """Documents of the corpus."""
        return self.explainer.vocabulary.texts(shard)

    def joining(self, name: str, texts: Texts, placed: Placed) -> NDArray[np.bool_]:
        """Which documents a decomposition apart explains better, and none before it well."""
        names = [one.name for one in self.apart]
        if name not in names:  # nobody knows what is usual there
            return np.zeros(len(texts.unknown), dtype=bool)
        number = names.index(name)
        before = replace(self, apart=self.apart[:number])
        strange: NDArray[np.bool_] = before.of(texts, placed) < before.threshold
        ours, theirs = (
            one.explainer.likelihoods(texts, placed[one.name])[0]
            for one in (self, self.apart[number])
        )
        return strange & (theirs > ours)

    @property
    def threshold(self) -> float:
        """Fit below which a document fits no topic; so many held-out ones do so."""
        return self.usual.threshold
