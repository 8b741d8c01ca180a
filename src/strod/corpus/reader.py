"""Reading a corpus: memory-mapped, shard by shard."""

from __future__ import annotations

from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from strod.corpus.metadata import arrow_type
from strod.corpus.texts import read_texts
from strod.errors import DamagedError
from strod.store.arrays import read_array
from strod.store.tables import read_table
from strod.store.validate import check_columns, check_counts, check_offsets, check_tokens, naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from strod.store.files import Files
    from strod.store.schema import CorpusRecord, SegmentRecord

__all__ = ["Corpus", "Shard"]

_LEXICON = pa.schema(
    [
        pa.field("word", pa.large_string(), nullable=False),
        pa.field("surface", pa.large_string(), nullable=False),
        pa.field("documents", pa.int64(), nullable=False),
        pa.field("occurrences", pa.int64(), nullable=False),
        pa.field("stop", pa.bool_(), nullable=False),
        pa.field("column", pa.int32(), nullable=False),
    ]
)
LONGEST_ID = 1000  # bytes
PREFIX = "meta."  # of the columns of metadata


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    return value.isoformat() if isinstance(value, date) else value


class Segment:
    """The files that one build or addition wrote; each is looked at when it is first used."""

    def __init__(self, files: Files, about: SegmentRecord, corpus: CorpusRecord) -> None:
        self.name, self.about = about.name, about
        self._files, self._corpus = files, corpus

    @property
    def where(self) -> str:
        """Its folder in the workspace."""
        return f"corpus/{self.name}"

    def _array(self, name: str, kind: str) -> NDArray[Any]:
        return read_array(self._files, f"{self.where}/{name}.npy", kind)

    @property
    def _trusted(self) -> bool:
        """What is being written is not looked at again."""
        return self._files.digests is None

    @property
    def meta(self) -> dict[str, str]:
        """Metadata fields and their types."""
        return dict(self._corpus.meta)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the counts of each document begin."""
        indptr = self._array("indptr", "<i8")
        if not self._trusted:
            with naming(self._files.path(self.where)):
                check_offsets(indptr, self.about.documents)
        return indptr

    @cached_property
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Offsets, columns and counts."""
        indptr, indices = self._array("indptr", "<i8"), self._array("indices", "<i4")
        counts = self._array("counts", "<i4")
        if not self._trusted:
            with naming(self._files.path(self.where)):
                size, width = self.about.documents, self._corpus.vocabulary
                check_counts(indptr, indices, counts, size, width)
        return indptr, indices, counts

    @cached_property
    def tokens(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Offsets and tokens."""
        offsets, tokens = self._array("token_offsets", "<i8"), self._array("tokens", "<i4")
        if not self._trusted:
            with naming(self._files.path(self.where)):
                check_tokens(tokens, offsets, self.about.documents, self._corpus.lexicon)
        return offsets, tokens

    @cached_property
    def documents(self) -> pa.Table:
        """Ids, rows of texts, metadata."""
        name = f"{self.where}/documents.parquet"
        fields = [
            (f"{PREFIX}{field}", arrow_type(kind)) for field, kind in self._corpus.meta.items()
        ]
        schema = pa.schema(
            [
                pa.field("id", pa.large_string(), nullable=False),
                pa.field("text_row", pa.int64(), nullable=False),
                *(pa.field(*one) for one in fields),
            ]
        )
        table = read_table(self._files, name, schema, self.about.documents)
        if not self._trusted:
            with naming(self._files.path(name)):
                self._check_documents(table)
        return table

    def _check_documents(self, table: pa.Table) -> None:
        rows = table["text_row"].to_numpy()
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.about.text_blocks[-1]:
            raise ValueError("texts that are not there")
        sizes = pc.max(pc.binary_length(table["id"])).as_py()
        if (sizes or 0) > LONGEST_ID:
            raise ValueError("an id that is too long")

    def check_texts(self) -> None:
        """Look at every block of texts."""
        for first in self.about.text_blocks[:-1]:
            self.texts(np.array([first]))

    def texts(self, rows: NDArray[np.int64]) -> list[str]:
        """Texts as they were read, by row."""
        name = f"{self.where}/texts.arrow"
        try:
            return read_texts(self._files.mapped(name), self.about.text_blocks, rows)
        except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
            why = " ".join(str(error).split())
            path = self._files.path(name)
            raise DamagedError(f"cannot be read ({why})", file=path) from error


class Shard:
    """Consecutive documents of a corpus.

    Attributes
    ----------
    first, size : int
        Number of its first document in the corpus, and how many there are.
    segment : str
        Name of the segment it is a part of.
    begin : int
        Number of its first document in the segment.
    """

    def __init__(self, segment: Segment, index: int, base: int, width: int) -> None:
        self._segment = segment
        self._begin, self._end = segment.about.boundaries[index : index + 2]
        self.segment, self.begin = segment.name, self._begin
        self._width = width
        self.first = base + self._begin
        self.size = self._end - self._begin

    def _slice(self, offsets: NDArray[np.int64]) -> tuple[slice, NDArray[np.int64]]:
        bounds = offsets[self._begin : self._end + 1]
        return slice(int(bounds[0]), int(bounds[-1])), np.asarray(bounds - bounds[0])

    @property
    def counts(self) -> csr_array:
        """Documents by vocabulary; the values stay on disk until they are used."""
        offsets, indices, counts = self._segment.counts
        where, indptr = self._slice(offsets)
        # Of one kind with the indices, or scipy would copy them.
        parts = (counts[where], indices[where], indptr.astype(np.int32))
        return csr_array(parts, shape=(self.size, self._width), copy=False)

    @property
    def tokens(self) -> NDArray[np.int32]:
        """Lexicon numbers of all words in order; negative numbers are breaks.

        -1 ends a sentence, -2 a clause, -3 stands for something that is not a word of
        the lexicon.
        """
        offsets, tokens = self._segment.tokens
        return tokens[self._slice(offsets)[0]]

    @property
    def token_offsets(self) -> NDArray[np.int64]:
        """Document `d` of the shard is ``tokens[token_offsets[d]:token_offsets[d + 1]]``."""
        return self._slice(self._segment.tokens[0])[1]

    def documents(self) -> pa.Table:
        """Ids and metadata: ``id``, ``text_row``, ``meta.NAME`` for each field."""
        return self._segment.documents.slice(self._begin, self.size)

    def metadata(self, documents: list[int] | None = None) -> list[dict[str, Any]]:
        """Kept fields as JSON has them, of documents numbered from 0 in this shard, or of all."""
        table = self.documents()
        fields = [name for name in table.column_names if name.startswith(PREFIX)]
        if not fields:
            return [{} for _ in range(self.size if documents is None else len(documents))]
        table = table.select(fields).rename_columns([one.removeprefix(PREFIX) for one in fields])
        if documents is not None:
            table = table.take(documents)
        rows: list[dict[str, Any]] = table.to_pylist()
        if "date" in self._segment.meta.values():
            rows = [{name: _plain(value) for name, value in row.items()} for row in rows]
        return rows

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many different words of the model each document has."""
        return np.diff(self._segment.offsets[self._begin : self._end + 1])

    @property
    def ids(self) -> list[str]:
        """Ids of the documents."""
        ids: list[str] = self.documents()["id"].to_pylist()
        return ids

    def texts(self, documents: list[int]) -> list[str]:
        """Texts as they were read, of documents numbered from 0 in this shard."""
        return self._segment.texts(self.documents()["text_row"].to_numpy()[documents])


class Corpus:
    """A collection on disk.

    Parameters
    ----------
    files : Files
        The workspace.
    about : CorpusRecord
        What its manifest says.
    """

    def __init__(self, files: Files, about: CorpusRecord) -> None:
        self._files, self.about = files, about
        self.folder = files.root / "corpus"
        self.documents, self.tokens = about.documents, about.tokens
        self.sha256, self.meta = about.sha256, dict(about.meta)

    @property
    def segments(self) -> list[tuple[str, int]]:
        """Names of the segments, and how many documents each has."""
        return [(one.name, one.documents) for one in self.about.segments]

    @cached_property
    def _segments(self) -> dict[str, Segment]:
        return {one.name: Segment(self._files, one, self.about) for one in self.about.segments}

    def segment(self, name: str) -> Segment:
        """What one build or addition wrote."""
        return self._segments[name]

    @cached_property
    def lexicon(self) -> pa.Table:
        """Every word: word, surface, documents, occurrences, stop, column."""
        name = "corpus/lexicon.parquet"
        table = read_table(self._files, name, _LEXICON, self.about.lexicon)
        with naming(self._files.path(name)):
            check_columns(table["column"].to_numpy(), self.about.vocabulary)
            if len(table) and pc.min(table["occurrences"]).as_py() < 0:
                raise ValueError("words that occur less than never")
        return table

    @cached_property
    def vocabulary(self) -> pa.Table:
        """The words of the model, in the order of the columns of the counts."""
        return self.lexicon.filter(self.lexicon["column"].to_numpy() >= 0)

    def shards(self) -> Iterator[Shard]:
        """The documents in their order, some at a time."""
        base = 0
        for segment in self._segments.values():
            for index in range(len(segment.about.boundaries) - 1):
                yield Shard(segment, index, base, self.about.vocabulary)
            base += segment.about.documents
