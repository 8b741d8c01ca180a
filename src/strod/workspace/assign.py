"""Topics of new documents, by inference."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import fields
from itertools import compress, islice
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pyarrow.compute as pc
from scipy.sparse import csr_array

from strod.compute.blas import one_blas_thread
from strod.corpus.build import build_corpus
from strod.corpus.reader import Corpus
from strod.errors import UsageError
from strod.model.explain import Texts
from strod.model.model import Judge
from strod.model.pairs import coded
from strod.options import CorpusOptions, check_names, option_value, tokenizer_name
from strod.progress import Silent
from strod.store.files import Files
from strod.store.tables import numbers
from strod.text.characters import HOLE
from strod.text.sources import resolve
from strod.text.tokenizers import BUILT_IN
from strod.wording import counted, listed
from strod.workspace.placements import Chosen, assignments, placement_rows
from strod.workspace.warned import left_out, warned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from strod.corpus.reader import Shard
    from strod.keywords import AssignOptions
    from strod.options import Tokenizer
    from strod.progress import Progress
    from strod.store.schema import CorpusSettings
    from strod.text.sources import Source
    from strod.workspace.workspace import Workspace

    Array = NDArray[np.float64]

__all__ = ["assign_new", "same_words"]

NAMED = 3  # documents that fit no topic
# Settings of the corpus that decide which words a text has.
_WORDS = ("text_field", "id_field", "language", "stopwords", "numbers", "stem")


def assign_new(
    workspace: Workspace,
    source: Any,
    *more: Any,
    **options: Unpack[AssignOptions],
) -> Iterator[dict[str, Any]]:
    """Path and shares of documents that are not in the corpus.

    Parameters
    ----------
    workspace : Workspace
        Whose topics.
    source, *more
        As for `strod.build`: paths, lists of texts or of mappings, data frames, Arrow tables.
    **options
        How they are read (``text_field``, ``id_field``, ``format``, ``tokenizer``, ``strict``, …);
        ``least`` and ``top`` leave out small shares and all but the largest of each level.
        ``progress`` is told how far it is. ``tell`` is told, in a line each, how many documents
        have no answer and why, and how many have no known word; without it a `StrodWarning`
        names those without an answer.

    Yields
    ------
    dict
        A text that is in the corpus gets the same answer as its document there. One without
        any known word, an empty one too, has no leaf and says ``"known": 0``; its shares are the
        weights of the topics. ``"fit"`` is the share of the corpus' own documents, as they would
        be if they were new, that are explained no better; below 0.04 a text fits no topic. It is
        None where the corpus is too small to say.
    """
    progress, tell = options.pop("progress", None), options.pop("tell", None)
    told = Chosen(options.pop("least", 0.0), options.pop("top", 0))
    chosen = same_words(workspace.manifest.corpus.settings, **options)
    parts = resolve(_sources(source, more), chosen.format, follow_links=chosen.follow_links)
    rows = _Rows(workspace, told)
    return _assigned(rows, parts, chosen, progress or Silent(), tell)


def _sources(source: Any, more: tuple[Any, ...]) -> list[Any]:
    """One source each; a list of lists or tables is several."""
    if not more and isinstance(source, list | tuple) and source:
        inner = [one for one in source if not isinstance(one, str | bytes | Mapping | os.PathLike)]
        if len(inner) == len(source) and all(isinstance(one, Iterable) for one in inner):
            return list(source)
    return [source, *more]


class _Rows:
    """Rows of new documents: how many there were, have no known word, and fit no topic."""

    def __init__(self, workspace: Workspace, chosen: Chosen) -> None:
        self.corpus, self._tree, self._chosen = workspace.corpus, workspace.tree, chosen
        self.documents = self.unknown = self.strange = 0
        self._strangers: list[str] = []  # the first of them

    def of(self, new: Corpus) -> Iterator[list[dict[str, Any]]]:
        """The rows, shard by shard."""
        tree, model = self._tree, self._tree.fit_model
        columns, codes = _columns(self.corpus, new), _codes(self.corpus, new)
        for shard in new.shards():
            counts = _known(shard.counts, *columns)
            with one_blas_thread():
                texts = _texts(shard, counts, codes)
                placed = tree.model.place_new(
                    counts, None if model is None else Judge(model, texts)
                )
                shares = tree.model.shares(placed)
                fits = None if model is None else model.of(texts, placed)
            known = _totals(counts.data, counts.indptr)
            self.documents += shard.size
            self.unknown += int((known == 0).sum())
            if model is not None and fits is not None:
                strange = (fits < model.threshold) & (known > 0)
                self.strange += int(strange.sum())
                self._strangers += islice(compress(shard.ids, strange), NAMED + 1)
            rows = placement_rows(tree, shard.ids, shares, known, self._chosen)
            yield list(assignments(rows, known, fits))

    def remarks(self) -> Iterator[str]:
        """What is to be said about all of them; nothing of what is usual."""
        model = self._tree.fit_model
        if model is not None and self.strange > model.threshold * self.documents:
            yield (
                f"{self.strange:,} of {counted(self.documents, 'document')} fit no topic "
                f"({listed(self._strangers, NAMED)}), fit below {model.threshold:g}; "
                f"usual is {100 * model.threshold:.0f}%"
            )
        if self.unknown:
            yield f"no word of the model in {counted(self.unknown, 'document')}: they have no leaf"


def _assigned(
    rows: _Rows,
    parts: list[Source],
    chosen: CorpusOptions,
    progress: Progress,
    tell: Callable[[str], None] | None,
) -> Iterator[dict[str, Any]]:
    folder = Path(mkdtemp(prefix="strod-assign-"))
    try:
        built = build_corpus(folder, parts, chosen, progress, allow_empty=True, as_given=True)
        new = Corpus(Files(folder), built.about)
        progress.stage("assigning", new.documents, "documents")
        for some in rows.of(new):
            yield from some
            progress.advance(len(some))
        if rejected := left_out(built.report["documents"]):
            (tell or warned)(f"no answer for {rejected}")
        if tell is not None:  # else the rows say so
            for remark in rows.remarks():
                tell(remark)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def same_words(
    settings: CorpusSettings, *, tokenizer: str | Tokenizer | None = None, **options: Any
) -> CorpusOptions:
    """Options under which a text has the words that it would have in the corpus.

    A tokenizer that is not built in is never taken from the workspace, which may be a
    stranger's: it is given again, and compared by its name.
    """
    wanted = settings.tokenizer
    if tokenizer is None and wanted in BUILT_IN:
        tokenizer = wanted
    named = "" if tokenizer is None else tokenizer_name(tokenizer)
    if named != wanted and named.rpartition(":")[2] != wanted:  # older versions kept no module
        but = f", not {named}" if named else ""
        raise UsageError(
            f"the corpus was built with the tokenizer {wanted}{but}; "
            f"give `tokenizer` {wanted}, or that function in Python"
        )
    check_names(options, [field.name for field in fields(CorpusOptions)])
    own = {name: getattr(settings, name) for name in _WORDS}
    chosen: dict[str, Any] = {"min_df": 1, "max_vocabulary": 1 << 30, "tokenizer": tokenizer}
    given = {name: option_value(name, value) for name, value in options.items()}
    return CorpusOptions(**(own | chosen | given))


def _columns(corpus: Corpus, new: Corpus) -> tuple[NDArray[np.int64], int]:
    """Column in the vocabulary of `corpus` of each word of `new`, -1 if it has none."""
    known = {word: column for column, word in enumerate(corpus.vocabulary["word"].to_pylist())}
    found = [known.get(word, -1) for word in new.vocabulary["word"].to_pylist()]
    return np.array(found, dtype=np.int64), len(known)


def _known(counts: csr_array, columns: NDArray[np.int64], width: int) -> csr_array:
    """Counts of the words that the model knows, in the order of its columns."""
    mapped = columns[counts.indices]
    keep = mapped >= 0
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[keep]
    order = np.lexsort((mapped[keep], row))
    indptr = np.searchsorted(row, np.arange(counts.shape[0] + 1))
    parts = (counts.data[keep][order], mapped[keep][order].astype(np.int32), indptr)
    return csr_array(parts, shape=(counts.shape[0], width))


def _codes(corpus: Corpus, new: Corpus) -> NDArray[np.int32]:
    """What each row of the lexicon of `new` is to the model of `corpus`; -3 if it lacks it."""
    rows = pc.index_in(new.lexicon["word"], value_set=corpus.lexicon["word"].combine_chunks())
    known = np.asarray(rows.fill_null(-1).to_numpy(), dtype=np.int64)
    return np.append(numbers(corpus.lexicon["column"]), np.int32(HOLE))[known]


def _texts(shard: Shard, counts: csr_array, codes: NDArray[np.int32]) -> Texts:
    """The documents of a shard, with the words of the model."""
    lost = coded(shard.tokens, codes) == HOLE
    unknown = _totals(lost, shard.token_offsets)
    return Texts.read(counts, shard.tokens, shard.token_offsets, codes, unknown)


def _totals(values: NDArray[Any], offsets: NDArray[Any]) -> NDArray[np.int64]:
    """Sums of consecutive values."""
    totals: NDArray[np.int64] = np.diff(np.concatenate([[0], np.cumsum(values)])[offsets])
    return totals
