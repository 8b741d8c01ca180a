"""Documents of a corpus as the index takes them: words separated by spaces, block by block.

The fast twin of `Words.of` in `terms.py`: texts are read in the blocks in which they are stored,
words are found by the scanner that made the corpus, each distinct form is folded once, and the
result is put together in columns.
"""

from __future__ import annotations

from threading import Lock, local
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from strod.corpus.folded import Documents, Entries, insert_words, write_words
from strod.corpus.intern import SEED, StringTable
from strod.corpus.words import WordTable
from strod.store.tables import numbers, string_array
from strod.text.characters import tables
from strod.text.tokenizers import is_unspaced, spaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from strod.corpus.folded import Plain
    from strod.corpus.reader import Segment
    from strod.options import CorpusOptions

__all__ = ["Tokenizer", "text_columns"]

BATCH = 4 << 20  # bytes of texts that are looked at together
MOST = 256 << 20  # bytes of words that are remembered


def text_columns(segment: Segment, begin: int, end: int) -> Iterator[pa.Array]:
    """Documents of consecutive documents of a segment, some megabytes at a time."""
    rows = numbers(segment.documents["text_row"])[begin:end]
    waiting, size = list[pa.Array](), 0
    for column in segment.text_columns(rows):
        waiting.append(column)
        size += column.nbytes
        if size >= BATCH:
            yield pa.concat_arrays(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.concat_arrays(waiting)


class _Scratch(local):
    """Memory that a thread uses again for each batch."""

    def __init__(self) -> None:
        self.table = StringTable(1 << 15)
        self._make(0)

    def room(self, size: int) -> tuple[Entries, NDArray[np.uint8]]:
        """For the entries of some bytes, and for as many bytes."""
        if self.bytes.size < size:
            self._make(size)
        return self.entries, self.bytes

    def _make(self, size: int) -> None:
        starts, lengths, places = (np.empty(size, dtype=np.int32) for _ in range(3))
        self.entries = Entries(starts, lengths, np.empty(size, dtype=np.uint32), places)
        self.bytes = np.empty(size, dtype=np.uint8)


class Tokenizer:
    """Turns columns of texts into their words; called from several threads at once.

    Words of plain letters and digits are copied in lower case; the others, or all if there are
    stems, go the way of those of the corpus, each distinct form once.

    Parameters
    ----------
    options : CorpusOptions
        Language, stop words and stems.
    """

    def __init__(self, options: CorpusOptions) -> None:
        self._words = WordTable(options)
        self._stem = options.stem
        self._lock = Lock()
        self._tables = tables()
        self._scratch = _Scratch()

    def __call__(self, texts: pa.Array) -> list[str]:
        """For each text its words, with white space between them."""
        if not len(texts):
            return []
        texts, odd = _all_spaced(texts)
        data, bounds = _buffers(texts)
        entries, room = self._scratch.room(data.size)
        documents = Documents(data, bounds, odd | self._stem)
        plain = write_words(documents, self._tables, SEED, entries, room)
        words, ends = self._with(data, entries, plain)
        joined: list[str] = string_array(words, np.append(np.int64(0), ends)).to_pylist()
        return joined

    def _with(
        self, data: NDArray[np.uint8], entries: Entries, plain: Plain
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Plain words and the others between them; where each text ends."""
        odd, table = np.flatnonzero(entries.lengths[: plain.stops[-1]] > 0), self._scratch.table
        if not odd.size:
            return plain.text, plain.ends
        forms, places = np.empty(odd.size, dtype=np.int32), entries.places[odd]
        table.clear()
        table.intern(data, entries.starts[odd], entries.lengths[odd], forms, entries.hashes[odd])
        words, arena, offsets = self._folded(*_paired(forms, odd, plain.stops, table))
        joined: tuple[NDArray[np.uint8], NDArray[np.int64]] = insert_words(
            plain, odd, places, words, arena, offsets
        )
        return joined

    def _folded(
        self, forms: NDArray[np.int32], arena: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]:
        """The words of written forms: their numbers, and where their bytes are."""
        with self._lock:
            if self._words.nbytes > MOST:
                self._words.clear()
            numbers = np.append(self._words.words_of(self._words.add(arena, offsets)), np.int32(-1))
            words = self._words.words
            return numbers[forms], words.arena, words.offsets


def _buffers(texts: pa.LargeStringArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all texts, and where each begins and the last one ends."""
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int64)
    offsets = offsets[texts.offset : texts.offset + len(texts) + 1]
    data = texts.buffers()[2]
    own = np.frombuffer(data if data is not None else b"", dtype=np.uint8)[offsets[0] : offsets[-1]]
    own.flags.writeable = False  # one type of array, one compilation
    return own, offsets - offsets[0]


def _all_spaced(texts: pa.LargeStringArray) -> tuple[pa.LargeStringArray, NDArray[np.bool_]]:
    """Documents with spaces in scripts that have none, and which ones have such a script.

    Its characters take three bytes or more.
    """
    data, bounds = _buffers(texts)
    changed = np.zeros(len(texts), dtype=bool)
    long = np.flatnonzero(data >= 0xE0)
    if not long.size:
        return texts, changed
    values: list[str] = texts.to_pylist()
    for row in np.unique(np.searchsorted(bounds, long, side="right") - 1).tolist():
        text = spaced(values[row])
        changed[row], values[row] = text != values[row], text
    return pa.array(values, type=pa.large_string()), changed


def _unspaced(table: StringTable) -> NDArray[np.bool_]:
    """Which forms are single characters of scripts without spaces."""
    arena, offsets = table.arena, table.offsets
    found = np.zeros(table.size, dtype=bool)
    first = arena[offsets[:-1]] if table.size else np.empty(0, dtype=np.uint8)
    for number in np.flatnonzero(first >= 0xE0).tolist():
        found[number] = is_unspaced(table.string(number).decode())
    return found


def _paired(
    forms: NDArray[np.int32], odd: NDArray[np.int64], stops: NDArray[np.int64], table: StringTable
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]]:
    """Characters of scripts without spaces as overlapping pairs, each a form of its own.

    `odd` says where the forms stand. The last character of a run becomes -1.
    """
    alone = _unspaced(table)[forms]
    if not alone.any():
        return forms, table.arena, table.offsets
    followed = alone[:-1] & alone[1:] & (np.diff(odd) == 1) & ~np.isin(odd[1:], stops)
    where = np.flatnonzero(followed)
    codes = forms[where].astype(np.int64) << 32 | forms[where + 1]
    pairs, numbers = np.unique(codes, return_inverse=True)
    strings = [table.string(one >> 32) + table.string(one & 0xFFFFFFFF) for one in pairs.tolist()]
    paired = forms.copy()
    paired[where + 1] = -1
    paired[where] = table.size + numbers
    arena = np.concatenate([table.arena, np.frombuffer(b"".join(strings), dtype=np.uint8)])
    ends = table.offsets[-1] + np.cumsum([len(one) for one in strings], dtype=np.int64)
    return paired, arena, np.concatenate([table.offsets, ends])
