"""The one pass over the text: read, tokenize, number the words, set everything aside."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.corpus import metadata
from strod.corpus.intake import Account, Batch, batches
from strod.corpus.intern import StringTable
from strod.corpus.spill import ROW, SpillWriter
from strod.corpus.words import WordTable
from strod.engine.local import ordered_map
from strod.text.characters import CLAUSE, HOLE, SENTENCE, tables
from strod.text.scan import scan
from strod.text.tokenizers import find_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.options import CorpusOptions, Tokenizer
    from strod.progress import Progress
    from strod.text.sources import Part

__all__ = ["Ingested", "ingest"]

MARKERS = np.array([HOLE, CLAUSE, SENTENCE], dtype=np.int32)  # so that array[marker] == marker
TABLE_SHARE = 5  # the words may take one part in five of the memory


@dataclass(frozen=True)
class Ingested:
    """What the second pass needs to know beside the files.

    Attributes
    ----------
    epochs : int
        How often the table of words was set aside because it was full, plus one.
    kinds : list of sets
        For each metadata field the kinds of values met.
    """

    epochs: int
    kinds: list[set[str]]


@dataclass(frozen=True)
class _Tokenized:
    """A batch as numbers: `tokens` count the batch's own distinct written forms."""

    rows: NDArray[np.void]
    text: bytes
    ids: bytes
    meta: bytes
    tokens: NDArray[np.int32]
    arena: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    kinds: list[set[str]]


class _Scratch(threading.local):
    """Memory that a thread uses again for each batch; fresh pages are slow."""

    def __init__(self) -> None:
        self.starts = np.empty(0, dtype=np.int32)
        self.lengths = np.empty(0, dtype=np.int32)
        self.table = StringTable(1 << 15)

    def spans(self, size: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        if self.starts.size < size:
            self.starts = np.empty(size, dtype=np.int32)
            self.lengths = np.empty(size, dtype=np.int32)
        return self.starts, self.lengths


class _BatchTokenizer:
    """Turns batches into numbers; called from several threads at once."""

    def __init__(self, options: CorpusOptions) -> None:
        self._numbers = options.numbers
        name = options.tokenizer
        self._custom: Tokenizer | None = find_tokenizer(name) if isinstance(name, str) else name
        self._fields = len(options.meta)
        self._tables = tables()
        self._scratch = _Scratch()

    def __call__(self, batch: Batch) -> _Tokenized:
        texts = [document.text for document in batch.documents]
        text = b"".join(texts)
        sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        words, starts, lengths, stops = self._spans(texts, text, sizes)
        table = self._scratch.table
        table.clear()
        tokens = np.empty(lengths.size, dtype=np.int32)
        table.intern(words, starts, lengths, tokens)
        counts = np.bincount(tokens + MARKERS.size, minlength=table.size + MARKERS.size)
        rows = _rows(batch, texts, sizes, np.diff(stops, prepend=0))
        ids = "".join(batch.ids).encode()
        metas = self._metas(batch, rows)
        return _Tokenized(
            rows, text, ids, b"".join(metas), tokens,
            table.arena.copy(), table.offsets.copy(), counts[MARKERS.size :], self._kinds(batch),
        )  # fmt: skip

    def _spans(self, texts: list[bytes], text: bytes, sizes: NDArray[np.int64]) -> Any:
        if self._custom is not None:
            return _custom_spans(self._custom, texts)
        bounds = np.zeros(sizes.size + 1, dtype=np.int64)
        np.cumsum(sizes, out=bounds[1:])
        data = np.frombuffer(text, dtype=np.uint8)
        starts, lengths = self._scratch.spans(data.size)
        stops = np.empty(sizes.size, dtype=np.int64)
        n = scan(data, bounds, self._tables, self._numbers, starts, lengths, stops)
        return data, starts[:n], lengths[:n], stops

    def _metas(self, batch: Batch, rows: NDArray[np.void]) -> list[bytes]:
        if not self._fields:
            return []
        metas = [metadata.encode(document.meta) for document in batch.documents]
        rows["meta"] = [len(meta) for meta in metas]
        return metas

    def _kinds(self, batch: Batch) -> list[set[str]]:
        return [
            {metadata.kind(document.meta[i]) for document in batch.documents}
            for i in range(self._fields)
        ]


def _custom_spans(tokenizer: Tokenizer, texts: list[bytes]) -> Any:
    """The same four arrays as the scanner gives, from a tokenizer of the user's."""
    words: list[bytes] = []
    lengths: list[int] = []
    stops: list[int] = []
    for text in texts:
        first = True
        for sentence in tokenizer(text.decode()):
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
    return data, starts.astype(np.int32), sizes, np.array(stops, dtype=np.int64)


def _digests(values: list[bytes]) -> NDArray[np.uint64]:
    joined = b"".join([sha256(value).digest()[:16] for value in values])
    return np.frombuffer(joined, dtype="<u8").reshape(-1, 2)


def _rows(
    batch: Batch, texts: list[bytes], sizes: NDArray[np.int64], tokens: NDArray[np.int64]
) -> NDArray[np.void]:
    ids = [identifier.encode() for identifier in batch.ids]
    rows = np.zeros(len(texts), dtype=ROW)
    rows["text_digest"] = _digests(texts)
    rows["id_digest"] = _digests(ids)
    rows["text"] = sizes
    rows["tokens"] = tokens
    rows["id"] = [len(identifier) for identifier in ids]
    rows["line"] = [document.line for document in batch.documents]
    rows["part"] = batch.parts
    return rows


def ingest(
    parts: list[Part],
    options: CorpusOptions,
    folder: Path,
    account: Account,
    progress: Progress,
) -> Ingested:
    """Read every document once and set tokens, text and metadata aside in `folder`.

    The table of words is set aside too when it outgrows its share of the memory, and
    begins anew: an epoch. `strod.corpus.lexicon` joins the epochs.
    """
    words = WordTable(options)
    kinds: list[set[str]] = [set() for _ in options.meta]
    epoch = 0
    source = batches(parts, options.fields, account, progress.advance)
    with SpillWriter(folder) as spill:
        for batch in ordered_map(_BatchTokenizer(options), source, options.workers):
            if words.nbytes > options.memory // TABLE_SHARE:
                words.save(folder, epoch)
                words.clear()
                epoch += 1
            numbers = words.add(batch.arena, batch.offsets, batch.counts)
            batch.rows["epoch"] = epoch
            tokens = np.concatenate([numbers, MARKERS])[batch.tokens]
            spill.append(batch.rows, batch.text, tokens, batch.ids, batch.meta)
            for seen, new in zip(kinds, batch.kinds, strict=True):
                seen |= new
    words.save(folder, epoch)
    return Ingested(epoch + 1, kinds)
