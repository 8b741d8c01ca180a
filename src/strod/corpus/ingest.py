"""The one pass over the text: read, tokenize, number the words, set everything aside."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.compute.threads import ordered_map
from strod.corpus.intern import SEED, StringTable
from strod.corpus.spill import ROW, SpillWriter
from strod.corpus.texts import TextWriter
from strod.corpus.words import WordTable
from strod.errors import UsageError
from strod.text.characters import CLAUSE, HOLE, SENTENCE, tables
from strod.text.scan import scan
from strod.text.tokenizers import find_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.corpus.intake import Batch
    from strod.options import CorpusOptions, Tokenizer

__all__ = ["Ingested", "ingest"]

MARKERS = np.array([HOLE, CLAUSE, SENTENCE], dtype=np.int32)  # so that array[marker] == marker
_SHOWN = 40  # characters of a text in a message
TABLE_SHARE = 16  # the words may take one part in sixteen of the memory


@dataclass(frozen=True)
class Ingested:
    """What the second pass needs to know beside the files.

    Attributes
    ----------
    epochs : int
        How often the table of words was set aside because it was full, plus one.
    kinds : list of sets
        For each metadata field the kinds of values met.
    text_blocks : list of int
        The row with which each block of texts begins, and the number of rows.
    """

    epochs: int
    kinds: list[set[str]]
    text_blocks: list[int]


@dataclass(frozen=True)
class _Tokenized:
    """A batch as numbers: `tokens` count the batch's own distinct written forms."""

    rows: NDArray[np.void]
    text: bytes
    sizes: NDArray[np.int64]
    ids: bytes
    meta: bytes
    tokens: NDArray[np.int32]
    arena: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    kinds: list[set[str]]


class _Scratch(threading.local):
    """Memory that a thread uses again for each batch; fresh pages are slow."""

    def __init__(self) -> None:
        self.starts = np.empty(0, dtype=np.int32)
        self.lengths = np.empty(0, dtype=np.int32)
        self.hashes = np.empty(0, dtype=np.uint32)
        self.table = StringTable(1 << 15)

    def make_room(self, size: int) -> None:
        if self.starts.size < size:
            self.starts = np.empty(size, dtype=np.int32)
            self.lengths = np.empty(size, dtype=np.int32)
            self.hashes = np.empty(size, dtype=np.uint32)


class _BatchTokenizer:
    """Turns batches into numbers; called from several threads at once."""

    def __init__(self, options: CorpusOptions) -> None:
        self._numbers = options.numbers
        name = options.tokenizer
        self._custom: Tokenizer | None = find_tokenizer(name) if isinstance(name, str) else name
        self._tables = tables()
        self._scratch = _Scratch()

    def __call__(self, batch: Batch) -> _Tokenized:
        text = b"".join(batch.texts)
        sizes = np.array(batch.sizes, dtype=np.int64)
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        words, starts, lengths, hashes, stops = self._spans(text, bounds)
        table = self._scratch.table
        table.clear()
        tokens = np.empty(lengths.size, dtype=np.int32)
        table.intern(words, starts, lengths, tokens, hashes)
        rows = _rows(batch, _slices(text, bounds), np.diff(stops, prepend=0))
        return _Tokenized(
            rows,
            text,
            sizes,
            b"".join(batch.ids),
            b"".join(batch.metas),
            tokens,
            table.arena.copy(),
            table.offsets.copy(),
            batch.kinds,
        )

    def _spans(self, text: bytes, bounds: NDArray[np.int64]) -> Any:
        if self._custom is not None:
            return _custom_spans(self._custom, _slices(text, bounds))
        data = np.frombuffer(text, dtype=np.uint8)
        memory = self._scratch
        memory.make_room(data.size)
        stops = np.empty(bounds.size - 1, dtype=np.int64)
        spans = memory.starts, memory.lengths, memory.hashes
        n = scan(data, bounds, *self._tables, self._numbers, SEED, *spans, stops)
        return data, *(array[:n] for array in spans), stops


def _slices(text: bytes, bounds: NDArray[np.int64]) -> list[memoryview]:
    view, places = memoryview(text), bounds.tolist()
    return [view[begin:end] for begin, end in pairwise(places)]


def _sentences(tokenizer: Tokenizer, text: str) -> list[list[str]]:
    """What a tokenizer of the user's gives, if that is sentences of words."""
    try:
        found = [one if isinstance(one, str) else list(one) for one in tokenizer(text)]
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UsageError(f"the tokenizer failed ({why}) at {text[:_SHOWN]!r}") from error
    for sentence in found:
        if isinstance(sentence, str) or not all(isinstance(word, str) for word in sentence):
            raise UsageError(
                "a tokenizer must give sentences, each a sequence of words: [words], not words"
            )
    return [list(sentence) for sentence in found]


def _custom_spans(tokenizer: Tokenizer, texts: list[memoryview]) -> Any:
    """The same arrays as the scanner gives, hashes aside, from a tokenizer of the user's."""
    words: list[bytes] = []
    lengths: list[int] = []
    stops: list[int] = []
    for text in texts:
        first = True
        for sentence in _sentences(tokenizer, str(text, "utf-8")):
            found = [word.encode(errors="replace") for word in sentence if word.strip()]
            if found and not first:
                lengths.append(SENTENCE)
            first = first and not found
            words += found
            lengths += map(len, found)
        stops.append(len(lengths))
    sizes = np.array(lengths, dtype=np.int32)
    starts = np.cumsum(np.maximum(sizes, 0)) - np.maximum(sizes, 0)
    data = np.frombuffer(b"".join(words), dtype=np.uint8)
    return data, starts.astype(np.int32), sizes, None, np.array(stops, dtype=np.int64)


def _digests(values: Sequence[bytes | memoryview]) -> NDArray[np.uint64]:
    joined = b"".join([sha256(value).digest()[:16] for value in values])
    return np.frombuffer(joined, dtype="<u8").reshape(-1, 2)


def _rows(batch: Batch, texts: list[memoryview], tokens: NDArray[np.int64]) -> NDArray[np.void]:
    rows = np.zeros(len(texts), dtype=ROW)
    rows["text_digest"] = _digests(texts)
    rows["id_digest"] = _digests(batch.ids)
    rows["tokens"] = tokens
    rows["id"] = [len(identifier) for identifier in batch.ids]
    rows["meta"] = batch.meta_sizes or 0
    rows["line"] = batch.lines
    rows["part"] = batch.parts
    rows["numbered"] = batch.numbered
    return rows


def ingest(
    source: Iterator[Batch],
    options: CorpusOptions,
    folder: Path,
    text_file: Path,
) -> Ingested:
    """Take in every document once: texts go to `text_file`, all else is set aside in `folder`.

    The table of words is set aside too when it outgrows its share of the memory, and
    begins anew: an epoch. `strod.corpus.lexicon` joins the epochs.
    """
    tokenized = ordered_map(_BatchTokenizer(options), source, options.threads)
    numbering = _Numbering(options, folder)
    with SpillWriter(folder) as spill, TextWriter(text_file) as texts:

        def write(batch: _Tokenized) -> None:
            spill.append(batch.rows, batch.tokens, batch.ids, batch.meta)
            texts.append(batch.text, batch.sizes)

        for _ in ordered_map(write, map(numbering, tokenized), workers=1):
            pass
    numbering.close()
    return Ingested(numbering.epoch + 1, numbering.kinds, texts.blocks)


class _Numbering:
    """Replaces the numbers of a batch's written forms by those of the words of the corpus."""

    def __init__(self, options: CorpusOptions, folder: Path) -> None:
        self._words = WordTable(options)
        self._folder = folder
        self._limit = options.memory // TABLE_SHARE
        self.epoch = 0
        self.kinds: list[set[str]] = [set() for _ in options.meta]

    def __call__(self, batch: _Tokenized) -> _Tokenized:
        if self._words.nbytes > self._limit:
            self.close()
            self._words.clear()
            self.epoch += 1
        numbers = self._words.add(batch.arena, batch.offsets)
        batch.rows["epoch"] = self.epoch
        for seen, new in zip(self.kinds, batch.kinds, strict=True):
            seen.update(new)
        return replace(batch, tokens=np.concatenate([numbers, MARKERS])[batch.tokens])

    def close(self) -> None:
        """Set the words aside."""
        self._words.save(self._folder, self.epoch)
