"""Ranked phrases for topics: counts, scores, lists, and how they are written."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array

from strod.passes.cooccur import cooccurrences
from strod.phrases.counts import topical_counts
from strod.phrases.forms import unnumbered
from strod.phrases.ranking import Candidates, candidates, drawn, popular
from strod.phrases.surface import Speller
from strod.phrases.topical import batches, evidence
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.engine.protocol import Engine
    from strod.model.placed import Ref, Rows
    from strod.phrases.counts import ShareReader
    from strod.phrases.units import PhraseLexicon, Units
    from strod.values.topic import Node

    Lists = dict[str, list[tuple[int, float]]]

__all__ = ["TextShard", "UnitCorpus", "describe", "rank", "spelled"]

VARIED = 0.4  # share of a pair's occurrences whose neighbours must differ
FURTHER = 0.1  # more for each further word
LONGEST = 5  # content words of what is listed
ROOM, FEW = 1 << 28, 16  # bytes for the counts of a batch; topics that are always taken
SHARDS = 8  # that spellings are looked up in
PLACES = 40  # documents in all


class UnitCorpus(NamedTuple):
    """A corpus that is cut into units.

    Attributes
    ----------
    units : Units
        Words and phrases.
    lexicon : PhraseLexicon
        The words of the corpus.
    refs : sequence of Ref
        Documents by units.
    totals : ndarray of int64, optional
        How often every unit stands in them, if that is known.
    """

    units: Units
    lexicon: PhraseLexicon
    refs: Sequence[Ref[Rows]]
    totals: NDArray[np.int64] | None = None


class TextShard(Protocol):
    """Consecutive documents with their texts."""

    def texts(self, documents: list[int]) -> list[str]:
        """Texts of documents numbered from 0 in this shard."""


def describe(
    nodes: Mapping[str, Node],
    parents: Sequence[str],
    corpus: UnitCorpus,
    shares: ShareReader,
    engine: Engine,
    only: Collection[str] | None = None,
) -> Lists:
    """Lists of units for the children of `parents`, and of the root if it is among them.

    Parameters
    ----------
    nodes : mapping of Node
        The tree.
    parents : sequence of str
        Topics whose children are described, parents before children.
    corpus : UnitCorpus
        Documents by units.
    shares : callable
        Shares of the topics, by id, of documents from a number on.
    engine : Engine
        Maps over the documents.
    only : collection of str, optional
        Topics that are described, if not all of them.
    """
    units, refs = corpus.units, corpus.refs
    ranked = rank(nodes, parents, corpus, shares, engine, only)
    frequency = units.frequency
    found = {name: _once(one.best, corpus, frequency) for name, one in ranked}
    met = cooccurrences(refs, [one.units for one in found.values()], units.size, engine)
    documents = sum(ref.size for ref in refs)
    return {
        name: drawn(one, pairs, documents, [_singulars(units, unit) for unit in one.units])
        for (name, one), pairs in zip(found.items(), met, strict=True)
    }


def rank(
    nodes: Mapping[str, Node],
    parents: Sequence[str],
    corpus: UnitCorpus,
    shares: ShareReader,
    engine: Engine,
    only: Collection[str] | None = None,
) -> Iterator[tuple[str, Candidates]]:
    """All units of topics by their scores, with the arguments of `describe`."""
    units, lexicon, refs, totals = corpus
    columns = _columns(units, lexicon, len(nodes[ROOT].words))
    lengths = _lengths(units)
    for batch in batches(nodes, parents, max(ROOM // (8 * max(units.size, 1)), FEW), only):
        likely = evidence(batch, nodes, columns)
        known = None if ROOT in batch.wanted else totals
        counts = topical_counts(batch, likely, refs, shares, engine, known)
        place = {name: counts[:, number] for number, name in enumerate(batch.names)}
        if ROOT in batch.wanted and (only is None or ROOT in only):
            yield ROOT, popular(place[ROOT], lengths)
        for parent in batch.wanted:
            for child in nodes[parent].children:
                if only is not None and child not in only:
                    continue
                above = place[parent], place[ROOT]
                yield child, candidates(place[child], *above, lengths, nodes[child].level)


def _columns(units: Units, lexicon: PhraseLexicon, width: int) -> csr_array:
    """Units by words of the model, 1 where a word is part of a unit."""
    words, sizes = units.flat
    rows = np.repeat(np.arange(units.size), sizes)
    columns = lexicon.column[units.alphabet.words[words]] if len(words) else words
    known = columns >= 0
    parts = (np.ones(known.sum()), (rows[known], columns[known]))
    return csr_array(parts, shape=(units.size, width))


def _lengths(units: Units) -> NDArray[np.int64]:
    """Content words of each unit; 0 for those that nobody wants to read in a list.

    They have a word twice, are long, or always stand between the same neighbours: parts of a
    passage that was copied.
    """
    words, sizes = units.flat
    rows = np.repeat(np.arange(units.size), sizes)
    width = len(units.alphabet.words) + 1
    distinct = np.unique(rows * width + units.base[words]) // width
    twice = np.bincount(distinct, minlength=units.size) < sizes
    copied = units.variety < VARIED + FURTHER * (sizes - 2)
    unread = (sizes > 1) & (twice | copied | (sizes > LONGEST))
    return np.where(unread, 0, sizes)


def _once(found: Candidates, corpus: UnitCorpus, frequency: NDArray[np.int64]) -> Candidates:
    """Of units that differ in a number or a letter alone the most frequent one."""
    forms: dict[tuple[str, ...], list[int]] = {}
    for place, unit in enumerate(found.units.tolist()):
        forms.setdefault(_unnumbered(corpus, unit), []).append(place)
    kept = sorted(
        max(same, key=lambda place: frequency[found.units[place]]) for same in forms.values()
    )
    return Candidates(found.units[kept], found.scores[kept])


def _unnumbered(corpus: UnitCorpus, unit: int) -> tuple[str, ...]:
    words = corpus.units.alphabet.words[_singulars(corpus.units, unit)]
    return unnumbered([corpus.lexicon.words[word] for word in words])


def _singulars(units: Units, unit: int) -> list[int]:
    return [int(units.base[word]) for word in units.words[unit]]


def spelled(
    wanted: Sequence[int],
    corpus: UnitCorpus,
    surfaces: Sequence[str],
    texts: Sequence[TextShard],
    *,
    stemmed: bool = False,
) -> dict[int, str]:
    """How authors write the units `wanted`, from some of the texts they stand in.

    Parameters
    ----------
    wanted : sequence of int
        Units.
    corpus : UnitCorpus
        Documents by units.
    surfaces : sequence of str
        The words of the lexicon, as each is written most often.
    texts : sequence of TextShard
        The same documents.
    stemmed : bool
        Whether words are stems.
    """
    units, lexicon, refs, _ = corpus
    tokens = {unit: units.tokens(unit) for unit in wanted}
    spellers = {
        unit: Speller([lexicon.words[token] for token in found], stemmed=stemmed)
        for unit, found in tokens.items()
    }
    some = {len(refs) * part // SHARDS for part in range(SHARDS)} if refs else set()
    for number in sorted(some):
        places = _places(refs[number].open().counts, wanted, PLACES // len(some))
        documents = sorted({document for found in places.values() for document in found})
        found_texts = ((text, text.lower()) for text in texts[number].texts(documents))
        read = dict(zip(documents, found_texts, strict=True))
        for unit, found in places.items():
            for document in found:
                spellers[unit].read(*read[document])
    return {
        unit: spellers[unit].written([surfaces[token] for token in tokens[unit]]) for unit in wanted
    }


def _places(counts: csr_array, wanted: Sequence[int], most: int) -> dict[int, list[int]]:
    """Some documents of a shard that hold each unit, from its beginning to its end."""
    chosen = counts[:, list(wanted)].tocsc()
    ends = pairwise(chosen.indptr.tolist())
    return {
        unit: chosen.indices[begin:end][:: max((end - begin) // most, 1)][:most].tolist()
        for unit, (begin, end) in zip(wanted, ends, strict=True)
    }
