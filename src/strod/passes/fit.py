"""Documents held out, whole and cut short: how well they would be explained if they were new."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.compute.counting import count_matrix
from strod.model.explain import Own, Texts
from strod.model.inference import document_shares
from strod.model.model import MOST
from strod.model.pairs import SKIPPED, coded, counted_pairs, hashed
from strod.text.characters import CLAUSE, HOLE
from strod.values.shares import Placed
from strod.values.usual import LENGTHS

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.model.explain import Explainer, FitModel
    from strod.model.model import Model
    from strod.model.pairs import PairCounts
    from strod.model.placed import Ref, Streams
    from strod.moments.counts import Counts
    from strod.values.shares import Kept
    from strod.values.split import FineTopics
    from strod.values.topic import Component

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["Held", "Stray", "count_pairs", "hold_out", "stray"]


class Held(NamedTuple):
    """Documents that are held out: a share of those there are, or of those apart."""

    ref: Ref[Streams]
    rate: float
    apart: NDArray[np.bool_] | None = None

    def chosen(self, shard: Streams) -> Numbers:
        """Their numbers in the shard."""
        some = shard.draws < self.rate
        return np.flatnonzero(some if self.apart is None else some & self.apart)


def hold_out(
    held: Held, model: Model, topics: FineTopics, explainer: Explainer
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Log-likelihood per token and tokens of a sample of documents and of pieces of them.

    The third array says which are whole documents. Each is taken as if the model had not learnt
    from it. What a short document may say is seen from pieces of longer ones: some consecutive
    words, from anywhere.
    """
    shard = held.ref.open()
    chosen = held.chosen(shard)
    words = _words(shard, chosen, explainer.vocabulary.pairs.columns)
    size = (len(LENGTHS) + 1) * len(chosen)
    counts, texts = _counted(_pieces(words, len(chosen)), size, shard.counts.shape[1])
    own = _own(counts, texts, words, len(chosen))
    if held.apart is not None:  # in whose documents no pairs were counted
        own = own._replace(pairs=np.zeros(len(own.pairs)))
    shares = document_shares(topics, model.root_counts(counts))
    likelihoods = explainer.likelihoods(texts, shares, own)
    return *likelihoods, np.arange(size) >= size - len(chosen)


def count_pairs(ref: Ref[Streams], rate: float, columns: NDArray[np.int32]) -> PairCounts:
    """Words that stand side by side, in a share of the documents."""
    shard = ref.open()
    return counted_pairs(*_words(shard, np.flatnonzero(shard.draws < rate), columns))


class Stray(NamedTuple):
    """Documents of a shard that fit nowhere: which they are, and what they have of a topic."""

    there: NDArray[np.bool_]
    counts: Counts


def stray(
    ref: Ref[Streams], model: Model, kept: Kept, fit_model: FitModel, mass: list[Component]
) -> Stray:
    """Documents that fit nowhere and of which a topic, made of `mass`, has most."""
    shard, placed = ref.open(), Placed(ref.first, ref.size, kept)
    counts = shard.counts
    there = fit_model.of(fit_model.texts(shard), placed) < fit_model.threshold
    there &= model.masses(placed).of(mass) >= MOST
    own = model.root_counts(counts)
    if mass:
        [own] = model.topical_counts(own, [mass], placed)
    there &= own.sizes > 0
    return Stray(there, own.sample(there))


class _Words(NamedTuple):
    """Documents word by word: what each token is to the model, and whose it is."""

    codes: NDArray[np.int32]
    owner: Numbers


def _words(shard: Streams, chosen: Numbers, columns: NDArray[np.int32]) -> _Words:
    """Documents, without words that the model does not count."""
    begins = shard.token_offsets[chosen]
    sizes = shard.token_offsets[chosen + 1] - begins
    owner = np.repeat(np.arange(len(chosen)), sizes)
    tokens = np.arange(len(owner)) + (begins - np.cumsum(sizes) + sizes)[owner]
    codes = coded(shard.tokens[tokens], columns)
    return _Words(codes[codes != SKIPPED], owner[codes != SKIPPED])


def _pieces(words: _Words, size: int) -> _Words:
    """Pieces of 4, 8, 16 … tokens of documents that have more, and then the documents."""
    codes, owner = words
    said = codes != CLAUSE
    before = np.cumsum(said) - said  # words in front, in all documents
    lengths = np.bincount(owner[said], minlength=size)
    place = before - (np.cumsum(lengths) - lengths)[owner]
    random, parts = np.random.default_rng(0).random((len(LENGTHS), size)), []
    for length, draws in zip(LENGTHS, random, strict=True):
        first = np.floor(draws * (lengths - length + 1)).astype(np.int64)[owner]
        inside = (place >= first + ~said) & (place < first + length)
        parts.append(np.flatnonzero(inside & (lengths[owner] > length)))
    parts.append(np.arange(len(codes)))
    owners = [number * size + owner[tokens] for number, tokens in enumerate(parts)]
    return _Words(codes[np.concatenate(parts)], np.concatenate(owners))


def _counted(words: _Words, size: int, width: int) -> tuple[csr_array, Texts]:
    """Documents by words, and as they are explained."""
    columns = np.arange(width, dtype=np.int32)
    sizes = np.bincount(words.owner, minlength=size)
    counts = count_matrix(words.codes, sizes, columns, width)
    unknown = np.bincount(words.owner[words.codes == HOLE], minlength=size)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return counts, Texts.read(counts, words.codes, offsets, columns, unknown)


def _own(counts: csr_array, texts: Texts, words: _Words, size: int) -> Own:
    """What whole documents, of which there are `size`, have of the words of their pieces."""
    width = counts.shape[1]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    keys = rows % max(size, 1) * width + counts.indices
    last = counts.indptr[-1 - size]
    tokens = counts.data[last:][np.searchsorted(keys[last:], keys)]
    codes, owner = words
    pair = (codes[:-1] >= 0) & (codes[1:] >= 0) & (owner[:-1] == owner[1:])
    there = _keyed(owner[1:][pair], hashed(codes[:-1][pair], codes[1:][pair]))
    asked = _keyed(rows % max(size, 1), hashed(np.maximum(texts.before, 0), texts.indices))
    found, times = np.unique(there, return_counts=True)
    place = np.minimum(np.searchsorted(found, asked), max(len(found) - 1, 0))
    if not len(found):
        return Own(tokens, np.zeros(len(tokens)))
    return Own(tokens, np.where(found[place] == asked, times[place], 0))


def _keyed(owner: Numbers, hashes: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """A number for what a document has of a pair."""
    return owner.astype(np.uint64) << np.uint64(32) | hashes.astype(np.uint64)
