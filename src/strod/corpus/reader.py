"""Reading a corpus: memory-mapped, shard by shard."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import csr_array

from strod.corpus.texts import read_texts
from strod.errors import DamagedError
from strod.store.arrays import mapped
from strod.store.manifest import file_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Corpus", "Shard"]


def _table(path: Path, digests: dict[str, Any], steps: int) -> pa.Table:
    """A table that is what was written; `steps` of its path are its name."""
    wanted = digests.get("/".join(path.parts[-steps:]))
    try:
        if wanted is not None and file_digest(path) != wanted:
            raise DamagedError(f"{path}: has changed since it was written; run strod check")
        with pq.ParquetFile(path) as file:
            return file.read()
    except (OSError, ValueError, pa.ArrowException) as error:
        why = " ".join(str(error).split())
        raise DamagedError(f"{path}: cannot be read ({why}); run strod check") from error


class _Segment:
    """The files that one build or addition wrote."""

    def __init__(self, folder: Path, about: dict[str, Any], digests: dict[str, Any]) -> None:
        self.folder, self._digests = folder, digests
        self.boundaries: list[int] = about["boundaries"]
        self.text_blocks: list[int] = about["text_blocks"]

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        names = ("tokens", "token_offsets", "indices", "counts", "indptr")
        return {name: mapped(self.folder / f"{name}.npy") for name in names}

    @cached_property
    def documents(self) -> pa.Table:
        return _table(self.folder / "documents.parquet", self._digests, 3)


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

    def __init__(self, segment: _Segment, index: int, base: int, width: int) -> None:
        self._segment = segment
        self._begin, self._end = segment.boundaries[index : index + 2]
        self.folder = segment.folder
        self.segment, self.begin = segment.folder.name, self._begin
        self._width = width
        self.first = base + self._begin
        self.size = self._end - self._begin

    def _slice(self, offsets: str) -> tuple[slice, NDArray[np.int64]]:
        bounds = self._segment.arrays[offsets][self._begin : self._end + 1]
        return slice(int(bounds[0]), int(bounds[-1])), np.asarray(bounds - bounds[0])

    @property
    def counts(self) -> csr_array:
        """Documents by vocabulary; the values stay on disk until they are used."""
        where, indptr = self._slice("indptr")
        arrays = self._segment.arrays
        # Of one kind with the indices, or scipy would copy them.
        parts = (arrays["counts"][where], arrays["indices"][where], indptr.astype(np.int32))
        return csr_array(parts, shape=(self.size, self._width), copy=False)

    @property
    def tokens(self) -> NDArray[np.int32]:
        """Lexicon numbers of all words in order; negative numbers are breaks.

        -1 ends a sentence, -2 a clause, -3 stands for something that is not a word of
        the lexicon.
        """
        tokens: NDArray[np.int32] = self._segment.arrays["tokens"][self._slice("token_offsets")[0]]
        return tokens

    @property
    def token_offsets(self) -> NDArray[np.int64]:
        """Document `d` of the shard is ``tokens[token_offsets[d]:token_offsets[d + 1]]``."""
        return self._slice("token_offsets")[1]

    def documents(self) -> pa.Table:
        """Ids and metadata: ``id``, ``text_row``, ``meta.NAME`` for each field."""
        return self._segment.documents.slice(self._begin, self.size)

    @property
    def ids(self) -> list[str]:
        """Ids of the documents."""
        ids: list[str] = self.documents()["id"].cast("string").to_pylist()
        return ids

    def texts(self, documents: list[int]) -> list[str]:
        """Texts as they were read, of documents numbered from 0 in this shard."""
        rows = self.documents()["text_row"].to_numpy()[documents]
        path = self._segment.folder / "texts.arrow"
        try:
            return read_texts(path, self._segment.text_blocks, rows)
        except (OSError, ValueError, LookupError) as error:
            raise DamagedError(f"{path}: cannot be read ({error}); run strod check") from error


class Corpus:
    """A collection on disk.

    Parameters
    ----------
    root : Path
        The workspace.
    manifest : dict
        Its manifest.
    """

    def __init__(self, root: Path, manifest: dict[str, Any]) -> None:
        self._root = root
        self.folder = root / "corpus"
        self.about: dict[str, Any] = manifest["corpus"]
        self._digests: dict[str, Any] = manifest.get("parts", {})
        self.documents: int = self.about["documents"]
        self.tokens: int = self.about["tokens"]
        self.sha256: str = self.about["sha256"]
        self.meta: dict[str, str] = self.about["meta"]

    @property
    def segments(self) -> list[tuple[str, int]]:
        """Names of the segments, and how many documents each has."""
        return [(one["name"], one["boundaries"][-1]) for one in self.about["segments"]]

    @cached_property
    def lexicon(self) -> pa.Table:
        """Every word: word, surface, documents, occurrences, stop, column."""
        return _table(self._root / "corpus" / "lexicon.parquet", self._digests, 2)

    @cached_property
    def vocabulary(self) -> pa.Table:
        """The words of the model, in the order of the columns of the counts."""
        return self.lexicon.filter(self.lexicon["column"].to_numpy() >= 0)

    def shards(self) -> Iterator[Shard]:
        """The documents in their order, some at a time."""
        base = 0
        for about in self.about["segments"]:
            segment = _Segment(self._root / "corpus" / about["name"], about, self._digests)
            for index in range(len(about["boundaries"]) - 1):
                yield Shard(segment, index, base, self.about["vocabulary"])
            base += about["boundaries"][-1]
