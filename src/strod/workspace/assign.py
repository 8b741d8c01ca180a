"""Topics of new documents, by inference."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from scipy.sparse import csr_array

from strod.compute.blas import one_blas_thread
from strod.corpus.build import build_corpus
from strod.corpus.reader import Corpus
from strod.errors import UsageError
from strod.options import CorpusOptions, check_names, option_value, tokenizer_name
from strod.progress import Silent
from strod.store.files import Files
from strod.text.sources import resolve
from strod.text.tokenizers import BUILT_IN
from strod.wording import counted
from strod.workspace.placements import placement_rows
from strod.workspace.warned import left_out, warned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from strod.keywords import AssignOptions
    from strod.options import Tokenizer
    from strod.progress import Progress
    from strod.store.schema import CorpusSettings
    from strod.text.sources import Source
    from strod.workspace.workspace import Workspace

    Array = NDArray[np.float64]

__all__ = ["assign_new", "same_words"]

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
        ``progress`` is told how far it is. ``tell`` is told, in a line each, how many documents
        have no answer and why, and how many have no known word; without it a `StrodWarning`
        names those without an answer.

    Yields
    ------
    dict
        A text that is in the corpus gets the same answer as its document there. One without
        any known word has no leaf and says ``"known": 0``; its shares are the weights of the
        topics. (Such a document of the corpus has a leaf all the same: it is counted there.)
    """
    progress, tell = options.pop("progress", None), options.pop("tell", None)
    chosen = same_words(workspace.manifest.corpus.settings, **options)
    parts = resolve(_sources(source, more), chosen.format, follow_links=chosen.follow_links)
    return _assigned(workspace, parts, chosen, progress or Silent(), tell)


def _sources(source: Any, more: tuple[Any, ...]) -> list[Any]:
    """One source each; a list of lists or tables is several."""
    if not more and isinstance(source, list | tuple) and source:
        inner = [one for one in source if not isinstance(one, str | bytes | Mapping | os.PathLike)]
        if len(inner) == len(source) and all(isinstance(one, Iterable) for one in inner):
            return list(source)
    return [source, *more]


def _assigned(
    workspace: Workspace,
    parts: list[Source],
    chosen: CorpusOptions,
    progress: Progress,
    tell: Callable[[str], None] | None,
) -> Iterator[dict[str, Any]]:
    folder = Path(mkdtemp(prefix="strod-assign-"))
    try:
        built = build_corpus(folder, parts, chosen, progress, allow_empty=True, same_ids=True)
        new = Corpus(Files(folder), built.about)
        columns = _columns(workspace.corpus, new)
        progress.stage("assigning", new.documents, "documents")
        unknown = 0
        for shard in new.shards():
            counts = _known(shard.counts, *columns)
            known = np.diff(counts.indptr) > 0
            unknown += int((~known).sum())
            with one_blas_thread():
                shares = workspace.tree.place(counts)
            for row, good in zip(
                placement_rows(workspace.tree, shard.ids, shares), known, strict=True
            ):
                yield row if good else row | {"leaf": None, "known": 0}
            progress.advance(shard.size)
        if rejected := left_out(built.report["documents"]):
            (tell or warned)(f"no answer for {rejected}")
        if unknown and tell is not None:  # else the rows say so
            tell(f"no word of the model in {counted(unknown, 'document')}: they have no leaf")
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
