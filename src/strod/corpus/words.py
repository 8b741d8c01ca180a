"""The words met so far: written forms, and the words they fold to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from strod.corpus.intern import StringTable, fold_ascii
from strod.store.tables import string_array
from strod.text.fold import has_elisions, word_folder

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.options import CorpusOptions

__all__ = ["WordTable"]


class WordTable:
    """Grows with the text; numbers are given in order of appearance and are provisional.

    Parameters
    ----------
    options : CorpusOptions
        Language and stemming decide how written forms are folded.
    """

    def __init__(self, options: CorpusOptions) -> None:
        # An unknown language ends here.
        self._fold = word_folder(options.language, options.stop, stem=options.stem)
        self._genitive = options.language == "en"
        self._elisions = has_elisions(options.language)
        self._general = options.stem
        self.forms = StringTable()
        self.words = StringTable()
        self._word_of = np.empty(1 << 14, dtype=np.int32)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.forms.nbytes + self.words.nbytes + self._word_of.nbytes

    def add(self, arena: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        """Take in the distinct written forms of a batch; return the number of each."""
        before = self.forms.size
        numbers = np.empty(offsets.size - 1, dtype=np.int32)
        starts, lengths = offsets[:-1].astype(np.int32), np.diff(offsets).astype(np.int32)
        self.forms.intern(arena, starts, lengths, numbers)
        self._make_room(self.forms.size)
        if self.forms.size > before:
            self._word_of[before : self.forms.size] = self._words_from(before)
        return numbers

    def words_of(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """The number in `words` of each written form."""
        return self._word_of[numbers]

    def _make_room(self, size: int) -> None:
        if size > self._word_of.size:
            self._word_of = np.resize(self._word_of, max(size, 2 * self._word_of.size))

    def _words_from(self, first: int) -> NDArray[np.int32]:
        """Fold the forms from `first` on and number their words."""
        offsets = self.forms.offsets
        folded, lengths, plain = fold_ascii(
            self.forms.arena, offsets, first, self._genitive, self._elisions
        )
        if self._general:
            plain[:] = False
        starts = (offsets[first:-1] - offsets[first]).astype(np.int32)
        numbers = np.empty(plain.size, dtype=np.int32)
        numbers[plain] = self._number(folded, starts[plain], lengths[plain])
        others = np.flatnonzero(~plain)
        if others.size:
            words = [
                self._fold(self.forms.string(first + i).decode()).encode() for i in others.tolist()
            ]
            sizes = np.array([len(word) for word in words], dtype=np.int32)
            text = np.frombuffer(b"".join(words), dtype=np.uint8)
            places = (np.cumsum(sizes) - sizes).astype(np.int32)
            numbers[others] = self._number(text, places, sizes)
        return numbers

    def _number(
        self, text: NDArray[np.uint8], starts: NDArray[np.int32], lengths: NDArray[np.int32]
    ) -> NDArray[np.int32]:
        numbers = np.empty(lengths.size, dtype=np.int32)
        self.words.intern(text, starts, lengths, numbers)
        return numbers

    def save(self, folder: Path, epoch: int) -> None:
        """Set the words aside; `strod.corpus.lexicon` reads them."""
        words = pa.table({"word": string_array(self.words.arena, self.words.offsets)})
        forms = pa.table(
            {
                "form": string_array(self.forms.arena, self.forms.offsets),
                "word": self._word_of[: self.forms.size],
            }
        )
        for name, table in (("words", words), ("forms", forms)):
            path = str(folder / f"{name}-{epoch}")
            with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)

    def clear(self) -> None:
        """Forget everything and free the memory, or the table would be full for ever."""
        self.forms = StringTable()
        self.words = StringTable()
        self._word_of = np.empty(1 << 14, dtype=np.int32)
