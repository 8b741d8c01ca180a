"""The phrases of a workspace: collected once, read again whenever topics change."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from strod.corpus.phrases import read_units, write_counts, write_units
from strod.corpus.units import UnitRef
from strod.phrases.collect import collect
from strod.phrases.contexts import Contexts
from strod.phrases.counts import total_counts
from strod.phrases.cut import cut
from strod.phrases.describe import UnitCorpus, describe, rank, spelled
from strod.phrases.names import name_children
from strod.phrases.segmentation import Segmenter
from strod.phrases.units import PhraseLexicon
from strod.store.files import Files
from strod.store.tables import numbers
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.corpus.reader import Corpus
    from strod.engine.protocol import Engine
    from strod.options import CorpusOptions
    from strod.phrases.contexts import Occurrences
    from strod.phrases.counts import ShareReader
    from strod.phrases.options import PhraseOptions
    from strod.phrases.ranking import Candidates
    from strod.phrases.units import Units
    from strod.progress import Progress
    from strod.values.topic import Node

__all__ = ["PhraseIndex", "lexicon_of"]


class PhraseIndex:
    """Words and phrases of a corpus, and documents by them.

    Parameters
    ----------
    files : Files
        The workspace.
    corpus : Corpus
        Its corpus.
    language : str
        Decides what a plural is.
    stemmed : bool
        Whether words are stems.
    units : Units, optional
        If they are known already.
    """

    def __init__(
        self,
        files: Files,
        corpus: Corpus,
        language: str,
        *,
        stemmed: bool,
        units: Units | None = None,
    ) -> None:
        self._files, self._folder = files, files.root / "phrases"
        self._corpus, self._stemmed = corpus, stemmed
        self._refs = corpus.refs()
        self.lexicon = lexicon_of(corpus, language)
        self._totals: NDArray[np.int64] | None = None
        if units is not None:
            self.units = units

    @classmethod
    def collected(
        cls,
        root: Path,
        corpus: Corpus,
        chosen: CorpusOptions,
        wanted: PhraseOptions,
        engine: Engine,
        progress: Progress,
    ) -> PhraseIndex:
        """Mine the phrases of a corpus."""
        lexicon = lexicon_of(corpus, chosen.language)
        units = collect(corpus.refs(), lexicon, wanted, engine, progress)
        return cls(Files(root), corpus, chosen.language, stemmed=chosen.stem, units=units)

    @cached_property
    def units(self) -> Units:
        """Words and phrases."""
        return read_units(self._files, self.lexicon)

    def write(self, engine: Engine, progress: Progress) -> None:
        """Cut the documents into units and write both: one pass."""
        units = self.units
        segmenter = Segmenter(units.alphabet, units.phrases)
        contexts = Contexts(units.lengths)
        progress.stage("cutting into phrases", len(self._refs), "shards")
        for name, refs in groupby(self._refs, key=attrgetter("segment")):
            found = engine.map(cut, refs, segmenter, units.unit_of, units.size)
            write_counts(self._folder / name, _noted(found, contexts, progress))
        self.units = replace(units, varied=contexts.varied)
        write_units(self._folder, self.units)

    @cached_property
    def refs(self) -> list[UnitRef]:
        """Documents by units."""
        return [UnitRef(ref, self.units.size) for ref in self._refs]

    def count(self, engine: Engine) -> None:
        """Know how often each unit stands in the corpus: then a topic takes its documents alone."""
        if self._totals is None:
            self._totals = total_counts(self.refs, self.units.size, engine)

    @property
    def _cut(self) -> UnitCorpus:
        return UnitCorpus(self.units, self.lexicon, self.refs, self._totals)

    @cached_property
    def _surfaces(self) -> list[str]:
        """Words of the lexicon as they are written."""
        surfaces: list[str] = self._corpus.lexicon["surface"].to_pylist()
        return surfaces

    def describe(
        self,
        nodes: dict[str, Node],
        parents: Sequence[str],
        shares: ShareReader,
        engine: Engine,
        progress: Progress,
        only: Collection[str] | None = None,
    ) -> None:
        """Give phrases and names to the children of `parents`, and phrases to the root.

        If `only` is given, to those topics and no others.
        """
        progress.stage("ranking phrases", 0, "")
        if only is not None:
            self.count(engine)
        lists = describe(nodes, parents, self._cut, shares, engine, only)
        texts = self._spelled({unit for found in lists.values() for unit, _ in found})
        for name, found in lists.items():
            nodes[name].phrases = [(texts[unit], score) for unit, score in found]
            nodes[name].units = [unit for unit, _ in found]
        name_children(nodes, parents, self._corpus.vocabulary["surface"].to_pylist(), only)

    def every(
        self,
        nodes: Mapping[str, Node],
        names: Collection[str],
        shares: ShareReader,
        engine: Engine,
    ) -> dict[str, list[tuple[str, float]]]:
        """All phrases and words that say something of topics: those listed, then all others.

        Scores fall; those of the others are to scale.
        """
        above = {str(nodes[name].parent or ROOT) for name in names}
        parents = [name for name in nodes if name in above and nodes[name].children]
        self.count(engine)
        found = dict(rank(nodes, parents, self._cut, shares, engine, set(names)))
        lists = {name: _completed(nodes[name], one) for name, one in found.items()}
        texts = self._spelled({unit for one in lists.values() for unit, _ in one})
        return {
            name: [
                *nodes[name].phrases,
                *((texts[unit], score) for unit, score in lists.get(name, ())),
            ]
            for name in names
        }

    def _spelled(self, wanted: Collection[int]) -> dict[int, str]:
        """How authors write units."""
        texts = [ref.open() for ref in self._refs]
        return spelled(sorted(wanted), self._cut, self._surfaces, texts, stemmed=self._stemmed)


def _completed(node: Node, found: Candidates) -> list[tuple[int, float]]:
    """The units that are not in a topic's list, with scores that go on from there."""
    others = ~np.isin(found.units, node.units)
    units, scores = found.units[others], found.scores[others]
    last = node.phrases[-1][1] if node.phrases else 1.0
    scaled = scores * (last / scores[0]) if len(scores) else scores
    return list(zip(units.tolist(), scaled.tolist(), strict=True))


def _noted(
    parts: Iterable[tuple[csr_array, Occurrences]], contexts: Contexts, progress: Progress
) -> Iterator[csr_array]:
    """Documents by units; where phrases stand is noted."""
    for counts, occurrences in parts:
        contexts.add(occurrences)
        progress.advance(1)
        yield counts


def lexicon_of(corpus: Corpus, language: str) -> PhraseLexicon:
    """The words of a corpus."""
    table = corpus.lexicon
    return PhraseLexicon(
        table["word"].to_pylist(),
        numbers(table["occurrences"]),
        numbers(table["stop"]),
        numbers(table["column"]),
        language,
    )
