"""Topics of documents: of the corpus from disk, of new text by inference."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from strod.compute.blas import one_blas_thread
from strod.corpus.build import build_corpus
from strod.corpus.reader import Corpus
from strod.errors import UsageError
from strod.options import CorpusOptions, tokenizer_name
from strod.progress import Silent
from strod.store.files import Files
from strod.text.sources import resolve
from strod.text.tokenizers import BUILT_IN
from strod.tree.topic import ROOT
from strod.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from strod.hierarchy import Tree
    from strod.options import Tokenizer
    from strod.progress import Progress
    from strod.store.schema import CorpusSettings
    from strod.workspace import Workspace

    Array = NDArray[np.float64]

__all__ = ["assign_corpus", "assign_new", "same_words"]

DIGITS = 6
# Settings of the corpus that decide which words a text has.
_WORDS = ("text_field", "id_field", "language", "stopwords", "numbers", "stem")


def assign_corpus(
    workspace: Workspace, progress: Progress | None = None
) -> Iterator[dict[str, Any]]:
    """Path and shares of every document of the corpus, in its order."""
    progress = progress or Silent()
    progress.stage("assigning", workspace.corpus.documents, "documents")
    for shard in workspace.corpus.shards():
        shares = workspace.tree.shares(shard.first, shard.size)
        yield from _rows(workspace.tree, shard.ids, shares)
        progress.advance(shard.size)


def assign_new(
    workspace: Workspace,
    sources: list[Any],
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
    **options: Any,
) -> Iterator[dict[str, Any]]:
    """Path and shares of documents that are not in the corpus.

    A text that is in the corpus gets the same answer as its document there, a text of unknown
    words gets the weights of the topics. `tell` is told, in a line each, how many documents
    have no answer or no known word.
    """
    progress = progress or Silent()
    settings = workspace.manifest.corpus.settings
    chosen = same_words(settings, **options)
    folder = Path(mkdtemp(prefix="strod-assign-"))
    try:
        parts = resolve(sources, chosen.format)
        built = build_corpus(folder, parts, chosen, progress, allow_empty=True, same_ids=True)
        new = Corpus(Files(folder), built.about)
        columns = _columns(workspace.corpus, new)
        progress.stage("assigning", new.documents, "documents")
        unknown = 0
        for shard in new.shards():
            counts = _known(shard.counts, *columns)
            unknown += int((np.diff(counts.indptr) == 0).sum())
            with one_blas_thread():
                shares = workspace.tree.place(counts)
            yield from _rows(workspace.tree, shard.ids, shares)
            progress.advance(shard.size)
        if tell is not None:
            _tell(tell, built.report["documents"], unknown)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _tell(tell: Callable[[str], None], read: dict[str, Any], unknown: int) -> None:
    if read["rejected"]:
        why = ", ".join(f"{one['count']} {reason}" for reason, one in read["reasons"].items())
        tell(f"no answer for {counted(read['rejected'], 'document')}: {why}")
    if unknown:
        them = counted(unknown, "document")
        tell(f"no word of the model in {them}: the weights of the topics are their answer")


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
    given = "" if tokenizer is None else tokenizer_name(tokenizer)
    if given != wanted and given.rpartition(":")[2] != wanted:  # older versions kept no module
        but = f", not {given}" if given else ""
        raise UsageError(
            f"the corpus was built with the tokenizer {wanted}{but}; "
            f"give --tokenizer {wanted}, or that function in Python"
        )
    own = {name: getattr(settings, name) for name in _WORDS}
    chosen: dict[str, Any] = {"min_df": 1, "max_vocabulary": 1 << 30, "tokenizer": tokenizer}
    return CorpusOptions(**(own | chosen | options))


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


def _rows(tree: Tree, ids: list[str], shares: dict[str, Array]) -> Iterator[dict[str, Any]]:
    names = [name for name in tree if name != ROOT]
    if not names:
        yield from ({"id": one, "leaf": ROOT, "topics": {}} for one in ids)
        return
    table = np.stack([shares[tree[name].id] for name in names], axis=1).round(DIGITS)
    for one, leaf, row in zip(ids, tree.leaves(shares), table, strict=True):
        held = np.flatnonzero(row)
        yield {"id": one, "leaf": leaf, "topics": {names[i]: float(row[i]) for i in held}}
