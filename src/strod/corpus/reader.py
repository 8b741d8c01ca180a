"""Reading a corpus: memory-mapped, shard by shard."""

from __future__ import annotations

import os
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from strod.corpus.document import Document
from strod.corpus.ids import IdIndex
from strod.corpus.layout import FIRST_DAY, LAST_DAY, LEXICON, LONGEST_ID, PREFIX, fields_of
from strod.corpus.metadata import arrow_type
from strod.corpus.texts import TextReader
from strod.errors import DamagedError
from strod.model.draws import draws
from strod.store.arrays import read_array
from strod.store.files import Files, read_small
from strod.store.manifest import NAME, read_manifest, seal
from strod.store.publish import write_json
from strod.store.schema import CorpusRecord, as_json, parse
from strod.store.tables import numbers, read_table, taken
from strod.store.validate import check_columns, check_counts, check_offsets, check_tokens, naming
from strod.text.characters import HOLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from mmap import mmap

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.store.schema import SegmentRecord

__all__ = ["DRAFT", "Corpus", "Segment", "Shard", "ShardRef"]

DRAFT = "draft.json"  # what there is to know of a corpus that has no manifest yet


class Segment:
    """The files that one build or addition wrote; each is looked at when it is first used."""

    def __init__(self, files: Files, about: SegmentRecord, corpus: CorpusRecord) -> None:
        self.name, self.about = about.name, about
        self.files, self._corpus = files, corpus
        self.units: dict[int, Any] = {}  # documents by units, once somebody has read them

    @property
    def key(self) -> tuple[str, str, str]:
        """Where it is, and a checksum of what is said of it."""
        own = as_json(self.about) | {"lexicon": self._corpus.lexicon, "meta": self._corpus.meta}
        content = own | {"vocabulary": self.width}
        return str(self.files.root.absolute()), self.name, seal(content)

    @property
    def width(self) -> int:
        """Words of the vocabulary."""
        return self._corpus.vocabulary

    @property
    def where(self) -> str:
        """Its folder in the workspace."""
        return f"corpus/{self.name}"

    def _array(self, name: str, kind: str) -> NDArray[Any]:
        return read_array(self.files, f"{self.where}/{name}.npy", kind)

    @property
    def _trusted(self) -> bool:
        """What is being written is not looked at again."""
        return self.files.digests is None

    @property
    def meta(self) -> dict[str, str]:
        """Metadata fields and their types."""
        return dict(self._corpus.meta)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the counts of each document begin."""
        indptr = self._array("indptr", "<i8")
        if not self._trusted:
            with naming(self.files.path(self.where)):
                check_offsets(indptr, self.about.documents)
        return indptr

    @cached_property
    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Offsets, columns and counts."""
        indptr, indices = self._array("indptr", "<i8"), self._array("indices", "<i4")
        counts = self._array("counts", "<i4")
        if not self._trusted:
            with naming(self.files.path(self.where)):
                size, width = self.about.documents, self._corpus.vocabulary
                check_counts(indptr, indices, counts, size, width)
        return indptr, indices, counts

    @cached_property
    def tokens(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Offsets and tokens."""
        offsets, tokens = self._array("token_offsets", "<i8"), self._array("tokens", "<i4")
        if not self._trusted:
            with naming(self.files.path(self.where)):
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
        table = read_table(self.files, name, schema, self.about.documents)
        if not self._trusted:
            with naming(self.files.path(name)):
                self._check_documents(table)
        return table

    def _check_documents(self, table: pa.Table) -> None:
        rows = numbers(table["text_row"])
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.about.text_blocks[-1]:
            raise ValueError("texts that are not there")
        sizes = pc.max(pc.binary_length(table["id"])).as_py()
        if (sizes or 0) > LONGEST_ID:
            raise ValueError("an id that is too long")
        days = [table[f"meta.{name}"] for name, kind in self._corpus.meta.items() if kind == "date"]
        for column in days:
            found = pc.min_max(column.cast(pa.int32()))
            first, last = (found[one].as_py() or 0 for one in ("min", "max"))
            if first < FIRST_DAY or last > LAST_DAY:
                raise ValueError("a date that no calendar has")

    @cached_property
    def ids(self) -> IdIndex:
        """Where each id stands."""
        return IdIndex(self.documents["id"])

    @cached_property
    def draws(self) -> NDArray[np.float64]:
        """A number for every document, from its id: whether it is in a sample."""
        chunks = self.documents["id"].chunks
        return np.concatenate([draws(chunk.to_pylist()) for chunk in chunks] or [np.empty(0)])

    def check_texts(self) -> None:
        """Look at every block of texts."""
        for first in self.about.text_blocks[:-1]:
            self.texts(np.array([first]))

    @cached_property
    def _text_file(self) -> mmap | bytes:
        return self.files.mapped(f"{self.where}/texts.arrow")

    @cached_property
    def _texts(self) -> TextReader:
        return TextReader(self._text_file, self.about.text_blocks)

    def texts(self, rows: NDArray[np.int64]) -> list[str]:
        """Texts as they were read, by row."""
        with self._reading_texts():
            return self._texts.texts(rows)

    def text_columns(self, rows: NDArray[np.int64]) -> Iterator[pa.LargeStringArray]:
        """Texts by row, as columns, some at a time."""
        with self._reading_texts():
            yield from self._texts.columns(rows)

    @contextmanager
    def _reading_texts(self) -> Iterator[None]:
        _ = self._text_file  # which says itself if it cannot be opened
        try:
            yield
        except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
            why = " ".join(str(error).split())
            path = self.files.path(f"{self.where}/texts.arrow")
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

    def __init__(self, segment: Segment, first: int, begin: int, end: int) -> None:
        self._segment, self._begin, self._end = segment, begin, end
        self.segment, self.begin = segment.name, begin
        self.first, self.size = first, end - begin

    def _slice(self, offsets: NDArray[np.int64]) -> tuple[slice, NDArray[np.int64]]:
        bounds = offsets[self._begin : self._end + 1]
        return slice(int(bounds[0]), int(bounds[-1])), np.asarray(bounds - bounds[0])

    @property
    def counts(self) -> csr_array:
        """Documents by vocabulary; the values stay on disk until they are used."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - readers of a tree need none

        offsets, indices, counts = self._segment.counts
        where, indptr = self._slice(offsets)
        # Of one kind with the indices, or scipy would copy them.
        parts = (counts[where], indices[where], indptr.astype(np.int32))
        return csr_array(parts, shape=(self.size, self._segment.width), copy=False)

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
        table = table.select(fields)
        if documents is not None:
            table = taken(table, np.array(documents, dtype=np.int64))
        return list(map(fields_of, table.to_pylist()))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many different words of the model each document has."""
        return np.diff(self._segment.offsets[self._begin : self._end + 1])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many tokens of the model each document has."""
        offsets, _, counts = self._segment.counts
        where, indptr = self._slice(offsets)
        return np.diff(np.concatenate([[0], np.cumsum(counts[where])])[indptr])

    @property
    def unknown(self) -> NDArray[np.int64]:
        """How many tokens of each document are no word of the lexicon."""
        before = np.concatenate([[0], np.cumsum(self.tokens == HOLE)])
        return np.diff(before[self.token_offsets])

    @property
    def ids(self) -> list[str]:
        """Ids of the documents."""
        ids: list[str] = self.documents()["id"].to_pylist()
        return ids

    @property
    def draws(self) -> NDArray[np.float64]:
        """A number in [0, 1) for every document, from its id alone."""
        return self._segment.draws[self._begin : self._end]

    def texts(self, documents: list[int]) -> list[str]:
        """Texts as they were read, of documents numbered from 0 in this shard."""
        return self._segment.texts(numbers(self.documents()["text_row"])[documents])


@dataclass(frozen=True, slots=True)
class ShardRef:
    """Where consecutive documents of a corpus are: all that it takes to open them elsewhere.

    Attributes
    ----------
    url : str
        Folder of the workspace, or of one that is being written.
    segment : str
        Name of the segment.
    seal : str
        Checksum of its record: other documents under the same name are refused.
    first : int
        Number of the first document in the corpus.
    begin, end : int
        The documents, as numbers of the segment.
    """

    url: str
    segment: str
    seal: str
    first: int
    begin: int
    end: int

    @property
    def size(self) -> int:
        """How many documents there are."""
        return self.end - self.begin

    def opened(self) -> Segment:
        """The segment; in a process it is opened once."""
        return _segments.get((self.url, self.segment, self.seal))

    def open(self) -> Shard:
        """The documents."""
        return Shard(self.opened(), self.first, self.begin, self.end)


class _Segments:
    """The segments that are open in this process.

    Those of a corpus are there as long as the corpus; of those that were opened by a reference
    alone the last few are kept.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: WeakValueDictionary[tuple[str, str, str], Segment] = WeakValueDictionary()
        self._last: deque[Segment] = deque(maxlen=16)

    def add(self, key: tuple[str, str, str], segment: Segment) -> None:
        with self._lock:
            self._known[key] = segment

    def get(self, key: tuple[str, str, str]) -> Segment:
        with self._lock:
            found = self._known.get(key)
            if found is None:
                found = self._known[key] = _reopened(key)
                self._last.append(found)
            return found


_segments = _Segments()


def _reopened(key: tuple[str, str, str]) -> Segment:
    """The segment that a reference means, in a process that has not got it yet."""
    url, name, _ = key
    root = Path(url)
    if not os.path.lexists(root / NAME):  # only what has no manifest yet is trusted without one
        content = orjson.loads(read_small(root, DRAFT))
        files, records = Files(root), [parse(content, CorpusRecord, root / DRAFT)]
    else:
        manifest = read_manifest(root)
        files = Files(root, manifest.parts)
        records = [manifest.corpus, *manifest.tree.corpora.values()]
    for record in records:
        for about in record.segments:
            segment = Segment(files, about, record)
            if about.name == name and segment.key == key:
                return segment
    raise DamagedError(f"{root}: segment {name} is no longer what it was; run strod check")


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
        self.files, self.about = files, about
        self.folder = files.root / "corpus"
        self.documents, self.tokens = about.documents, about.tokens
        self.sha256, self.meta = about.sha256, dict(about.meta)

    @classmethod
    def drafted(cls, root: Path, about: CorpusRecord) -> Corpus:
        """A corpus that is being written; its record is left there for other processes."""
        write_json(root / DRAFT, as_json(about))
        return cls(Files(root), about)

    @property
    def segments(self) -> list[tuple[str, int]]:
        """Names of the segments, and how many documents each has."""
        return [(one.name, one.documents) for one in self.about.segments]

    @cached_property
    def _segments(self) -> dict[str, Segment]:
        return {one.name: Segment(self.files, one, self.about) for one in self.about.segments}

    def segment(self, name: str) -> Segment:
        """What one build or addition wrote."""
        return self._segments[name]

    @cached_property
    def lexicon(self) -> pa.Table:
        """Every word: word, surface, documents, occurrences, stop, column."""
        name = "corpus/lexicon.parquet"
        table = read_table(self.files, name, LEXICON, self.about.lexicon)
        with naming(self.files.path(name)):
            check_columns(numbers(table["column"]), self.about.vocabulary)
            if (numbers(table["occurrences"]) < 0).any():
                raise ValueError("words that occur less than never")
        return table

    @cached_property
    def vocabulary(self) -> pa.Table:
        """The words of the model, in the order of the columns of the counts."""
        return taken(self.lexicon, np.flatnonzero(numbers(self.lexicon["column"]) >= 0))

    def refs(self) -> list[ShardRef]:
        """The documents in their order, as references for tasks."""
        found, base = [], 0
        for segment in self._segments.values():
            key = segment.key
            _segments.add(key, segment)
            for begin, end in pairwise(segment.about.boundaries):
                found.append(ShardRef(*key, base + begin, begin, end))
            base += segment.about.documents
        return found

    def shards(self) -> Iterator[Shard]:
        """The documents in their order, some at a time."""
        base = 0
        for segment in self._segments.values():
            for begin, end in pairwise(segment.about.boundaries):
                yield Shard(segment, base + begin, begin, end)
            base += segment.about.documents

    def document(self, name: str) -> Document | None:
        """A document by its id, or None; of several with one id the first."""
        first = 0
        for segment in self._segments.values():
            for row in segment.ids.rows(name)[:1]:
                shard = Shard(segment, first + row, row, row + 1)
                return Document(first + row, name, shard.texts([0])[0], shard.metadata()[0])
            first += segment.about.documents
        return None

    def text(self, number: int) -> str:
        """The text of a document as it was read; one block of texts is unpacked."""
        return self.alone(number).texts([0])[0]

    def alone(self, number: int) -> Shard:
        """One document, by its number."""
        first = 0
        for segment in self._segments.values():
            row = number - first
            if 0 <= row < segment.about.documents:
                return Shard(segment, number, row, row + 1)
            first += segment.about.documents
        raise IndexError(f"there is no document {number}: they are numbered from 0 to {first - 1}")

    def texts(self, documents: Sequence[int]) -> list[str]:
        """Texts of documents by number; only the blocks that hold them are unpacked."""
        wanted, found, first = np.array(documents, dtype=np.int64), dict[int, str](), 0
        for segment in self._segments.values():
            last = first + segment.about.documents
            inside = np.unique(wanted[(wanted >= first) & (wanted < last)])
            if inside.size:
                rows = numbers(segment.documents["text_row"])[inside - first]
                found |= zip(inside.tolist(), segment.texts(rows), strict=True)
            first = last
        return [found[number] for number in wanted.tolist()]
