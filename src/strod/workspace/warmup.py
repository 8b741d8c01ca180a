"""Compile every kernel at once, so that the first run can say what it pays for."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numba.core import event

from strod.compute.kernels import COMPILED, kept_on_disk
from strod.corpus.build import build_corpus
from strod.corpus.folded import Documents, Entries, insert_words, write_words
from strod.corpus.intern import SEED
from strod.corpus.reader import Corpus
from strod.engine.threads import Serial
from strod.model.explain import Explainer, Texts, Vocabulary
from strod.model.inference import document_shares, likely, posterior, shares_in_context
from strod.model.pairs import Pairs, added_pairs
from strod.moments.counts import Counts
from strod.moments.moments import Moments
from strod.options import CorpusOptions
from strod.passes.cooccur import cooccurrences
from strod.phrases.contexts import Contexts
from strod.phrases.counts import topical_counts
from strod.phrases.options import PhraseOptions
from strod.phrases.segmentation import Segmenter
from strod.phrases.topical import TopicBatch
from strod.progress import Silent
from strod.store.files import Files
from strod.text.characters import tables
from strod.text.sources import resolve
from strod.tree.matrix import MatrixShard
from strod.values.split import Cooccurrence, Decomposition, FineTopics
from strod.workspace.phrases import PhraseIndex

if TYPE_CHECKING:
    from strod.progress import Progress

__all__ = ["compile_kernels"]

_TEXTS = [" ".join(f"w{i}{j}" for j in range(200)) + " don't Schr\\\"odinger." for i in range(200)]
_done: list[bool] = []  # once per process is enough


class _Stopwatch(event.Listener):
    """Adds up compilations; those inside another one count with it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._depth = 0
        self._started = 0.0
        self.seconds = 0.0

    def on_start(self, _: event.Event) -> None:
        if self._depth == 0:
            self._started = time.perf_counter()
            if self.seconds == 0:
                once = ", on the first run only" if kept_on_disk() else ""
                self._progress.stage(f"compiling{once}", 0, "")
        self._depth += 1

    def on_end(self, _: event.Event) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._started


def compile_kernels(progress: Progress) -> float:
    """Run a tiny build, so that each kernel is called; return the seconds spent compiling.

    Machine code is kept on disk: only the first run on a machine pays, later ones get 0.
    """
    if _done or not COMPILED:
        return 0.0
    watch = _Stopwatch(progress)
    with event.install_listener("numba:compile", watch), TemporaryDirectory() as folder:
        built = build_corpus(Path(folder), resolve([_TEXTS]), CorpusOptions(workers=1), Silent())
        _fold_once()
        _infer_once()
        _mine_once(Corpus(Files(Path(folder)), built.about))
    _done.append(True)
    return watch.seconds


def _fold_once() -> None:
    """One word, written out for the search index."""
    text, one = np.frombuffer(b"w", dtype=np.uint8), np.ones(1, dtype=np.int32)
    texts = Documents(text, np.arange(2), np.zeros(1, dtype=bool))
    entries = Entries(one, one, one.astype(np.uint32), one)
    plain = write_words(texts, tables(), SEED, entries, np.ones(1, dtype=np.uint8))
    none = np.empty(0, dtype=np.int32)
    insert_words(plain, none.astype(np.int64), none, none, np.ones(1, dtype=np.uint8), np.arange(2))


def _mine_once(corpus: Corpus) -> None:
    """Phrases of a tiny corpus that meet, for a tree of one topic with one child."""
    options, root = CorpusOptions(workers=1), Path()
    wanted = PhraseOptions(phrase_min_count=2)
    book = PhraseIndex.collected(root, corpus, options, wanted, Serial(), Silent())
    segmenter = Segmenter(book.units.alphabet, book.units.phrases)
    shard = next(corpus.shards())
    counts, found = segmenter.counts(shard, book.units.unit_of, book.units.size)
    Contexts(book.units.lengths).add(found)
    batch = TopicBatch(
        ["o", "a"], np.array([1, 2]), np.array([1, 0]), ["o"], np.ones(2, dtype=bool)
    )
    likely = np.ones((book.units.size, 2), dtype=np.float32)
    rows = MatrixShard(0, shard.size, counts)
    cooccurrences([rows], [np.zeros(1, dtype=np.int64)], book.units.size, Serial())
    one, two = np.ones((2, shard.size))
    topical_counts(batch, likely, [rows], lambda *_: (None, {"o": one, "a": two}), Serial())


def _infer_once() -> None:
    """Two topics and the moments of one document of one word."""
    one = np.ones(1, dtype=np.float32)
    document = Counts(np.array([0, 1]), np.zeros(1, dtype=np.int32), one, one, 1)
    topics = FineTopics(np.ones((2, 1), dtype=np.float32))
    moments = Moments.of([document], 1)
    moments.second(np.ones((1, 1)))
    replace(moments, triples=1.0).third(np.ones((1, 1)))
    shares_in_context(topics, document, document)
    found = document_shares(topics, document)
    likely(document, posterior(topics, document, found.dense(2), np.array([0, -1]))[0], 2)
    overlap = Cooccurrence(np.full(2, 0.5), np.full((2, 2), 0.25), np.ones(2))
    split = Decomposition(topics, overlap, [], 1.0, 1.0, [], 0.0, 1)
    pairs = Pairs(np.zeros(1, dtype=np.int32), added_pairs([]), 0.0)
    explainer = Explainer(split, one, Vocabulary(np.ones(1), np.ones(1), 1, pairs))
    order = np.zeros(1, dtype=np.int32), np.arange(2), pairs.columns
    texts = Texts.read(document.power(1), *order, np.zeros(1))
    explainer.likelihoods(texts, found)
