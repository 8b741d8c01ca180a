"""Phrases on disk: the forms of all units, and documents by units."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import csr_array

from strod.errors import DamagedError
from strod.phrases.quality import Phrase
from strod.phrases.stream import Alphabet
from strod.phrases.units import Units
from strod.store.publish import ArrayWriter
from strod.store.trees import load_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.phrases.units import Lexicon

__all__ = ["UnitShard", "read_units", "unit_shards", "write_counts", "write_units"]

_ARRAYS = {"indptr": "<i8", "indices": "<i4", "counts": "<i4"}


def write_units(folder: Path, units: Units) -> None:
    """Write every form: its words, how often it stands in the text, its unit."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [[int(word)] for word in units.alphabet.words]
    phrases = [units.form_tokens(phrase) for phrase in units.phrases]
    nothing: list[float | None] = [None] * len(words)
    table = pa.table(
        {
            "tokens": pa.array(words + phrases, type=pa.list_(pa.int32())),
            "count": [*units.counts.tolist(), *(phrase.count for phrase in units.phrases)],
            "significance": nothing + [phrase.significance for phrase in units.phrases],
            "cohesion": nothing + [phrase.cohesion for phrase in units.phrases],
            "varied": nothing + units.varied.tolist(),
            "unit": pa.array(units.unit_of, type=pa.int32()),
        }
    )
    pq.write_table(table, folder / "forms.parquet", compression="zstd", write_page_checksum=True)


def read_units(folder: Path, lexicon: Lexicon) -> Units:
    """What `write_units` wrote."""
    path = folder / "forms.parquet"
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            return _units(file.read(), lexicon)
    except (OSError, ValueError, LookupError, TypeError, pa.ArrowException) as error:
        why = " ".join(str(error).split())
        raise DamagedError(f"{path}: cannot be read ({why}); run strod check") from error


def _units(table: pa.Table, lexicon: Lexicon) -> Units:
    forms: list[list[int]] = table["tokens"].to_pylist()
    words = np.array([form[0] for form in forms if len(form) == 1], dtype=np.int32)
    stop = lexicon.stop.tolist()
    inside = {token for form in forms[len(words) :] for token in form if stop[token]}
    stops = np.array(sorted(inside), dtype=np.int32)
    alphabet = Alphabet.from_words(words, stops, len(lexicon.words))
    rest = table.slice(len(words)).select(["count", "significance", "cohesion"])
    if any(column.null_count for column in rest.columns):
        raise ValueError("numbers of phrases are missing")
    numbers = zip(*(column.to_pylist() for column in rest.columns), strict=True)
    code = alphabet.code.tolist()
    phrases = [
        Phrase(*alphabet.linked([code[token] for token in form]), *some)
        for form, some in zip(forms[len(words) :], numbers, strict=True)
    ]
    varied = np.array(table["varied"].to_pylist()[len(words) :], dtype=np.float64)
    return Units.of(alphabet, phrases, lexicon, varied)


def write_counts(folder: Path, parts: Iterable[csr_array]) -> None:
    """Write documents by units, shard after shard."""
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        writers = {
            name: ArrayWriter(folder / f"{name}.npy", kind) for name, kind in _ARRAYS.items()
        }
        for writer in writers.values():
            stack.callback(writer.discard)
        writers["indptr"].append(np.zeros(1, dtype=np.int64))
        for part in parts:
            writers["indptr"].append(part.indptr[1:].astype(np.int64) + writers["counts"].size)
            writers["indices"].append(part.indices.astype(np.int32))
            writers["counts"].append(part.data.astype(np.int32))
        for writer in writers.values():
            writer.close()


class Place(Protocol):
    """Where consecutive documents lie: a shard of the corpus."""

    first: int
    size: int
    segment: str
    begin: int


@dataclass(frozen=True)
class UnitShard:
    """Consecutive documents by units."""

    first: int
    size: int
    arrays: dict[str, NDArray[Any]]
    begin: int
    width: int

    @property
    def counts(self) -> csr_array:
        """How often each unit stands in each document."""
        bounds = self.arrays["indptr"][self.begin : self.begin + self.size + 1]
        where = slice(int(bounds[0]), int(bounds[-1]))
        rows = (bounds - bounds[0]).astype(np.int32)
        parts = (self.arrays["counts"][where], self.arrays["indices"][where], rows)
        return csr_array(parts, shape=(self.size, self.width), copy=False)


def unit_shards(folder: Path, shards: Sequence[Place], width: int) -> list[UnitShard]:
    """Documents by units, in the shards of the corpus."""
    arrays: dict[str, dict[str, NDArray[Any]]] = {}
    found = []
    for shard in shards:
        name = shard.segment
        if name not in arrays:
            arrays[name] = {
                array: load_array(folder / name / f"{array}.npy", kind)
                for array, kind in _ARRAYS.items()
            }
            if not _fit(**arrays[name], width=width):
                raise DamagedError(f"{folder / name}: is damaged; run strod check")
        found.append(UnitShard(shard.first, shard.size, arrays[name], shard.begin, width))
    return found


def _fit(indptr: NDArray[Any], indices: NDArray[Any], counts: NDArray[Any], width: int) -> bool:
    """Whether these can be rows of counts of so many units."""
    sizes = np.diff(indptr)
    held = len(indices)
    if not len(indptr) or indptr[0] or (sizes < 0).any() or not indptr[-1] == held == len(counts):
        return False
    return not held or bool(indices.min() >= 0 and indices.max() < width)
