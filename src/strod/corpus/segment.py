"""The second pass: from what was set aside to shards of tokens, counts and documents.

A segment is what one build or one addition wrote; it is never changed afterwards.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from strod.compute.counting import count_matrix
from strod.corpus import metadata
from strod.corpus.metadata import Misfits
from strod.corpus.spill import STREAMS
from strod.store.arrays import ArrayWriter
from strod.store.tables import string_array

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.corpus.spill import SpillReader
    from strod.engine.protocol import Engine
    from strod.progress import Progress
    from strod.text.forms import MetaField

__all__ = [
    "SHARD_DOCUMENTS",
    "SHARD_TOKENS",
    "Kept",
    "WrittenSegment",
    "count_shard",
    "write_segment",
]

# A shard ends with the document that reaches either bound: a function of the documents alone.
SHARD_TOKENS = 1 << 20
SHARD_DOCUMENTS = 1 << 16
SHARD_META = 1 << 24  # bytes of metadata as JSON
RUN_TOKENS = 1 << 21  # read at once, of documents that stay and documents that don't
ROW_GROUP = 4096  # documents that are decompressed together

ARRAYS = {
    "tokens": "<i4",  # words and markers of all documents, one after another
    "token_offsets": "<i8",
    "indices": "<i4",  # the count matrix in compressed sparse rows
    "counts": "<i4",
    "indptr": "<i8",
}


@dataclass(frozen=True)
class _Plan:
    """The rows of a shard and where their contents begin."""

    first: int
    end: int
    offsets: dict[str, int]


@dataclass(frozen=True)
class _Shard:
    tokens: NDArray[np.int32]
    sizes: NDArray[np.int64]
    counts: csr_array
    documents: pa.Table
    misfits: list[Misfits]


@dataclass
class WrittenSegment:
    """What was written.

    Attributes
    ----------
    boundaries : list of int
        Shard `i` holds the documents from `boundaries[i]` to `boundaries[i + 1]`.
    tokens : int
        Words in the streams, markers aside.
    misfits : list of Misfits
        For each metadata field the values that are not of its type.
    """

    boundaries: list[int] = field(default_factory=lambda: [0])
    tokens: int = 0
    misfits: list[Misfits] = field(default_factory=list)

    @property
    def documents(self) -> int:
        """How many there are."""
        return self.boundaries[-1]


def _plans(spill: SpillReader, out: NDArray[np.bool_]) -> Iterator[_Plan]:
    first, start = 0, dict.fromkeys(STREAMS, 0)
    limits = {"tokens": SHARD_TOKENS, "documents": SHARD_DOCUMENTS, "meta": SHARD_META}
    before = dict.fromkeys(limits, 0)  # in the open shard, before the block
    for block in spill:
        keep = ~out[block.first : block.first + block.rows.size]
        ends = {name: block.offsets[name] + np.cumsum(block.rows[name]) for name in STREAMS}
        sizes = {"tokens": block.rows["tokens"], "documents": np.ones(keep.size, dtype=np.int64)}
        sizes["meta"] = block.rows["meta"]
        totals = {name: before[name] + np.cumsum(sizes[name] * keep) for name in limits}
        spent = dict.fromkeys(limits, 0)
        while True:
            last = min(np.searchsorted(totals[n], spent[n] + limits[n]) for n in limits)
            if last == keep.size:
                break
            yield _Plan(first, block.first + int(last) + 1, start)
            first = block.first + int(last) + 1
            start = {name: int(ends[name][last]) for name in STREAMS}
            spent = {name: int(totals[name][last]) for name in limits}
        before = {name: int(totals[name][-1]) - spent[name] for name in limits}
    if before["documents"]:
        yield _Plan(first, spill.size, start)


def _kept(data: NDArray[Any], sizes: NDArray[np.int64], keep: NDArray[np.bool_]) -> NDArray[Any]:
    """The contents of the documents to keep."""
    return data if keep.all() else data[np.repeat(keep, sizes)]


def _offsets(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _relabelled(
    tokens: NDArray[np.int32], rows: NDArray[np.void], number_of: list[NDArray[np.int32]]
) -> NDArray[np.int32]:
    """Lexicon numbers instead of provisional ones; a pruned word becomes a hole."""
    epochs = rows["epoch"]
    if epochs[0] == epochs[-1]:
        numbers: NDArray[np.int32] = number_of[epochs[0]][tokens]
        return numbers
    of_token = np.repeat(epochs, rows["tokens"])
    pieces = [number_of[epoch][tokens[of_token == epoch]] for epoch in np.unique(epochs)]
    return np.concatenate(pieces)


class Kept(NamedTuple):
    """What becomes of the documents that were set aside.

    Attributes
    ----------
    spill : SpillReader
        Where they are.
    out : ndarray of bool
        Those that are left out.
    number_of : list of ndarray of int32
        Of each epoch, the lexicon numbers of its words.
    columns : ndarray of int32
        Column of each word of the lexicon, -1 if none.
    fields : list of MetaField
        The metadata, with the types that were found.
    mixed_ids : bool
        Whether some documents have ids and others numbers.
    """

    spill: SpillReader
    out: NDArray[np.bool_]
    number_of: list[NDArray[np.int32]]
    columns: NDArray[np.int32]
    fields: list[MetaField]
    mixed_ids: bool


def count_shard(plan: _Plan, kept: Kept) -> _Shard:
    """Tokens, counts and metadata of the documents of a shard."""
    spill = kept.spill
    rows = spill.rows(plan.first, plan.end - plan.first)
    keep = ~kept.out[plan.first : plan.end]
    tokens = _tokens(plan, rows, keep, kept)
    sizes = np.ascontiguousarray(rows["tokens"][keep])
    contents = {}
    for name in ("id", "meta"):
        data = spill.content(name, plan.offsets[name], int(rows[name].sum()))
        contents[name] = string_array(_kept(data, rows[name], keep), _offsets(rows[name][keep]))
    if kept.mixed_ids:
        contents["id"] = _marked(contents["id"], rows["numbered"][keep])
    width = int(kept.columns.max(initial=-1)) + 1
    numbers = np.flatnonzero(keep) + plan.first
    documents, misfits = _documents(contents, numbers, kept.fields)
    counts = count_matrix(tokens, sizes, kept.columns, width)
    return _Shard(tokens, sizes, counts, documents, misfits)


def _tokens(
    plan: _Plan,
    rows: NDArray[np.void],
    keep: NDArray[np.bool_],
    kept: Kept,
) -> NDArray[np.int32]:
    """The tokens of the documents to keep, read in runs so that dropped ones cost no memory."""
    runs = np.cumsum(rows["tokens"]) // RUN_TOKENS
    offset, pieces = plan.offsets["tokens"], []
    for run in np.unique(runs):
        part, stay = rows[runs == run], keep[runs == run]
        size = int(part["tokens"].sum())
        if stay.any():
            numbers = _relabelled(kept.spill.tokens(offset, size), part, kept.number_of)
            pieces.append(_kept(numbers, part["tokens"], stay))
        offset += size
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _documents(
    contents: dict[str, pa.Array], text_rows: NDArray[np.int64], fields: list[MetaField]
) -> tuple[pa.Table, list[Misfits]]:
    table = pa.table({"id": contents["id"], "text_row": text_rows})
    misfits = []
    columns: list[list[Any]] = [[] for _ in fields]
    for json in contents["meta"].to_pylist() if fields else ():
        for values, value in zip(columns, metadata.decode(json), strict=True):
            values.append(value)
    for values, (name, kind, form) in zip(columns, fields, strict=True):
        column, wrong = metadata.column(values, kind, form)
        table = table.append_column(f"meta.{name}", column)
        misfits.append(wrong)
    return table, misfits


class _Writer:
    """Appends shards to the files of a segment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()  # closes every file even if closing one fails
        self._arrays: dict[str, ArrayWriter] = {}
        self._documents: pq.ParquetWriter | None = None

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            for name, kind in ARRAYS.items():
                self._arrays[name] = ArrayWriter(self._folder / f"{name}.npy", kind)
                opening.callback(self._arrays[name].close)
            self._arrays["token_offsets"].append(np.zeros(1))
            self._arrays["indptr"].append(np.zeros(1))
            self._stack = opening.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def append(self, shard: _Shard) -> None:
        arrays, matrix = self._arrays, shard.counts
        arrays["token_offsets"].append(arrays["tokens"].size + np.cumsum(shard.sizes))
        arrays["indptr"].append(arrays["indices"].size + matrix.indptr[1:].astype(np.int64))
        arrays["tokens"].append(shard.tokens)
        arrays["indices"].append(matrix.indices)
        arrays["counts"].append(matrix.data)
        if self._documents is None:
            path = self._folder / "documents.parquet"
            self._documents = pq.ParquetWriter(
                path,
                shard.documents.schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=False,
                write_statistics=False,
            )
            self._stack.callback(self._documents.close)
        self._documents.write_table(shard.documents, row_group_size=ROW_GROUP)


def _marked(ids: pa.LargeStringArray, numbered: NDArray[np.bool_]) -> pa.LargeStringArray:
    """Numbers as #N where other documents have ids, so that no id is there twice."""
    sign, nothing = pa.scalar("#", pa.large_string()), pa.scalar("", pa.large_string())
    marked = pc.binary_join_element_wise(sign, ids, nothing)
    return pc.if_else(pa.array(numbered), marked, ids)


def write_segment(folder: Path, kept: Kept, engine: Engine, progress: Progress) -> WrittenSegment:
    """Write the documents that are not left out as shards."""
    segment = WrittenSegment(misfits=[Misfits()] * len(kept.fields))
    with _Writer(folder) as writer:
        for shard in engine.map(count_shard, _plans(kept.spill, kept.out), kept):
            writer.append(shard)
            segment.boundaries.append(segment.documents + shard.sizes.size)
            segment.tokens += int((shard.tokens >= 0).sum())
            pairs = zip(segment.misfits, shard.misfits, strict=True)
            segment.misfits = [before.joined(more) for before, more in pairs]
            progress.advance(shard.sizes.size)
    return segment
