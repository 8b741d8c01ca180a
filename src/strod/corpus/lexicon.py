"""From provisional numbers to the lexicon: sorted, counted, pruned.

All of it works on ids that were set aside; the text is not read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strod.compute.kernels import kernel
from strod.corpus.ingest import MARKERS
from strod.corpus.intern import SEED
from strod.text.characters import HOLE
from strod.text.fold import composed
from strod.text.scan import hash_spans
from strod.text.vocabulary import least_documents, model_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.corpus.spill import SpillReader
    from strod.options import CorpusOptions

__all__ = ["Lexicon", "build_lexicon", "unspaced_share"]

# Han, kana and the scripts of mainland South-East Asia, in the syntax of RE2.
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
RUN_TOKENS = 1 << 21  # read at once
PARTS = 16  # slices in which several epochs are joined


@dataclass(frozen=True)
class Lexicon:
    """The words of the corpus, sorted by their UTF-8 bytes.

    Attributes
    ----------
    table : pa.Table
        word, surface (its commonest written form), documents, occurrences, stop, column
        (in the count matrix, -1 if none).
    number_of : list of int32 arrays
        For each epoch, lexicon number of each provisional number (HOLE if pruned),
        followed by the markers so that a marker maps to itself.
    min_df : int
        The least number of documents a word of the lexicon is in, stop words aside.
    """

    table: pa.Table
    number_of: list[NDArray[np.int32]]
    min_df: int

    @property
    def columns(self) -> NDArray[np.int32]:
        """Column of each word, followed by -1 for each marker."""
        columns = self.table["column"].to_numpy()
        return np.concatenate([columns, np.full(MARKERS.size, -1)]).astype(np.int32)


class _Tallies(NamedTuple):
    """Counts of an epoch.

    Attributes
    ----------
    word_of, uses : ndarray
        The word of each form, and how often the form stands.
    last, documents : ndarray of int64
        The last document of each word, and how many it is in.
    """

    word_of: NDArray[np.int32]
    uses: NDArray[np.int64]
    last: NDArray[np.int64]
    documents: NDArray[np.int64]

    @classmethod
    def empty(cls, folder: Path, epoch: int) -> _Tallies:
        """Of an epoch whose words were set aside."""
        word_of = _read(folder, "forms", epoch)["word"].to_numpy()
        size = len(_read(folder, "words", epoch))
        uses, documents = np.zeros(word_of.size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        return cls(word_of, uses, np.full(size, -1, dtype=np.int64), documents)

    def save(self, folder: Path, epoch: int) -> None:
        """Set them aside, too."""
        np.save(folder / f"documents-{epoch}.npy", self.documents)
        np.save(folder / f"uses-{epoch}.npy", self.uses)


@kernel
def _count(tokens: Any, sizes: Any, out: Any, base: int, tallies: _Tallies) -> None:
    """Add to the document frequency and the total of each word."""
    word_of, uses, last, documents = tallies
    place = 0
    for d in range(sizes.size):
        end = place + sizes[d]
        if not out[d]:
            for i in range(place, end):
                form = tokens[i]
                if form >= 0:
                    uses[form] += 1
                    word = word_of[form]
                    if last[word] != base + d:
                        last[word] = base + d
                        documents[word] += 1
        place = end


def _read(folder: Path, name: str, epoch: int) -> pa.Table:
    with pa.OSFile(str(folder / f"{name}-{epoch}"), "rb") as file:
        return pa.ipc.open_file(file).read_all()


def _count_words(spill: SpillReader, folder: Path, out: NDArray[np.bool_]) -> None:
    """Document frequency and total of each word, in files of their own for each epoch."""
    current, tallies = -1, None
    for block in spill:
        lengths = np.ascontiguousarray(block.rows["tokens"])
        for epoch in np.unique(block.rows["epoch"]):
            if tallies is None or epoch != current:
                if tallies is not None:
                    tallies.save(folder, current)
                current, tallies = epoch, _Tallies.empty(folder, epoch)
            for first, end in _runs(block.rows["epoch"] == epoch, lengths):
                offset = block.offsets["tokens"] + int(lengths[:first].sum())
                tokens = spill.tokens(offset, int(lengths[first:end].sum()))
                row = block.first + first
                gone = out[row : block.first + end]
                _count(tokens, lengths[first:end], gone, row, tallies)
    if tallies is not None:
        tallies.save(folder, current)


def _runs(chosen: NDArray[np.bool_], lengths: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut consecutive rows into runs of some million tokens."""
    rows = np.flatnonzero(chosen)
    runs = np.cumsum(lengths[rows]) // RUN_TOKENS
    borders = np.flatnonzero(np.diff(runs, prepend=-1, append=runs[-1] + 1))
    for begin, end in pairwise(borders.tolist()):
        yield int(rows[begin]), int(rows[end - 1]) + 1


def _counted(folder: Path, epoch: int) -> pa.Table:
    """Words of an epoch with their counts."""
    documents = np.load(folder / f"documents-{epoch}.npy")
    word_of = _read(folder, "forms", epoch)["word"].to_numpy()
    occurrences = np.zeros(documents.size, dtype=np.int64)
    np.add.at(occurrences, word_of, np.load(folder / f"uses-{epoch}.npy"))
    table = _read(folder, "words", epoch).append_column("documents", pa.array(documents))
    return table.append_column("occurrences", pa.array(occurrences))


def _slice_of(words: pa.LargeStringArray, parts: int, part: int) -> NDArray[np.bool_]:
    """Which words belong to a slice: by their hash, so the same in each epoch."""
    if parts == 1:
        return np.ones(len(words), dtype=bool)
    _, places, data = words.buffers()
    offsets = np.frombuffer(places, dtype=np.int64)[: len(words) + 1]
    hashes = np.empty(len(words), dtype=np.uint32)
    starts, lengths = offsets[:-1].astype(np.int32), np.diff(offsets).astype(np.int32)
    hash_spans(np.frombuffer(data, dtype=np.uint8), starts, lengths, SEED, hashes)
    mask: NDArray[np.bool_] = hashes % np.uint32(parts) == part
    return mask


def _summed(table: pa.Table) -> pa.Table:
    """Each word once, with the sum of its counts."""
    words = table["word"].combine_chunks().dictionary_encode()
    sums = {
        name: np.bincount(words.indices, weights=table[name], minlength=len(words.dictionary))
        for name in ("documents", "occurrences")
    }
    counts = {name: values.astype(np.int64) for name, values in sums.items()}  # below 2 ** 53
    return pa.table({"word": words.dictionary, **counts})


def _join(words: list[pa.Table], least: int, stop: pa.Array) -> pa.Table:
    """Sum each word's counts over the epochs and keep what is frequent enough."""
    table = words[0] if len(words) == 1 else _summed(pa.concat_tables(words))
    documents = table["documents"].to_numpy()
    is_stop = pc.is_in(table["word"], value_set=stop)
    kept = (documents > 0) & ((documents >= least) | is_stop.to_numpy())
    return table.append_column("stop", is_stop).filter(pa.array(kept))


def _commonest_forms(forms: list[pa.Table], words: pa.Table) -> pa.Array:
    """The commonest written form of each word; of equally common ones the first in order."""
    table = pa.concat_tables(forms)
    accented = pc.match_substring(table["form"], "\\").to_numpy()
    if accented.any():
        written = np.array(table["form"].to_pylist(), dtype=object)
        written[accented] = [composed(form) for form in written[accented]]
        table = table.set_column(0, "form", pa.array(written, type=pa.large_string()))
    grouped = table.group_by(["word", "form"], use_threads=False)
    table = grouped.aggregate([("count", "sum")]).sort_by(
        [("word", "ascending"), ("count_sum", "descending"), ("form", "ascending")]
    )
    numbers = table["word"].to_numpy()
    first = np.flatnonzero(np.diff(numbers, prepend=-1))
    if first.size != len(words):
        raise AssertionError("every word has a written form")
    return table["form"].take(pa.array(first)).combine_chunks()


def _numbered(words: pa.ChunkedArray, among: pa.ChunkedArray, missing: int) -> NDArray[np.int32]:
    found = pc.index_in(words, value_set=among.combine_chunks())
    numbers: NDArray[np.int32] = pc.fill_null(found, missing).to_numpy().astype(np.int32)
    return numbers


def _merge(folder: Path, epochs: int, least: int, stop: pa.Array) -> pa.Table:
    """Join the epochs, some words at a time."""
    parts = 1 if epochs == 1 else PARTS
    found = []
    for part in range(parts):
        words, forms, masks = [], [], []
        for epoch in range(epochs):
            table = _counted(folder, epoch)
            masks.append(_slice_of(table["word"].combine_chunks(), parts, part))
            words.append(table.filter(pa.array(masks[-1])))
        kept = _join(words, least, stop)
        for epoch, mask in enumerate(masks):
            number = np.full(mask.size, -1, dtype=np.int32)
            number[mask] = _numbered(words[epoch]["word"], kept["word"], -1)
            table = _read(folder, "forms", epoch)
            word = number[table["word"].to_numpy()]
            uses = np.load(folder / f"uses-{epoch}.npy")  # in the documents that are kept
            table = table.set_column(1, "word", pa.array(word)).append_column("count", [uses])
            forms.append(table.filter(pa.array((word >= 0) & (uses > 0))))
        found.append(kept.append_column("surface", _commonest_forms(forms, kept)))
    return pa.concat_tables(found).sort_by("word")


def _number_file(folder: Path, epoch: int, table: pa.Table) -> NDArray[np.int32]:
    """Lexicon number of each provisional number, mapped from a file."""
    numbers = _numbered(_read(folder, "words", epoch)["word"], table["word"], HOLE)
    numbers = numbers[_read(folder, "forms", epoch)["word"].to_numpy()]
    path = folder / f"numbers-{epoch}.npy"
    np.save(path, np.concatenate([numbers, MARKERS]))
    mapped: NDArray[np.int32] = np.load(path, mmap_mode="r")
    return mapped


def unspaced_share(folder: Path, epochs: int) -> float:
    """Share of the tokens that are in a script written without spaces."""
    found = total = 0
    for epoch in range(epochs):
        forms = _read(folder, "forms", epoch)["form"]
        uses = np.load(folder / f"uses-{epoch}.npy")
        total += uses.sum()
        found += uses[pc.match_substring_regex(forms, _UNSPACED).to_numpy()].sum()
    return float(found / total) if total else 0.0


def build_lexicon(
    spill: SpillReader,
    folder: Path,
    epochs: int,
    out: NDArray[np.bool_],
    options: CorpusOptions,
) -> Lexicon:
    """Count the words of all documents that are not `out`, prune, sort and number them."""
    documents = int(out.size - out.sum())
    least = options.min_df or least_documents(documents)
    stop = pa.array(sorted(options.stop), type=pa.large_string())
    _count_words(spill, folder, out)
    table = _merge(folder, epochs, least, stop)
    columns = model_columns(
        table["documents"].to_numpy(),
        table["stop"].to_numpy(zero_copy_only=False),
        least=least,
        most=options.max_df * documents + 1e-6,  # 0.29 * 100 is below 29
        limit=options.max_vocabulary,
    )
    table = table.append_column("column", pa.array(columns))
    table = table.select(["word", "surface", "documents", "occurrences", "stop", "column"])
    numbers = [_number_file(folder, epoch, table) for epoch in range(epochs)]
    return Lexicon(table, numbers, least)
