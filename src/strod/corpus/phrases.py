"""Phrases on disk: the forms of all units, and documents by units."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy.sparse import csr_array

from strod.phrases.quality import Phrase
from strod.phrases.stream import Alphabet
from strod.phrases.units import Units
from strod.store.arrays import ArrayWriter, read_array
from strod.store.tables import numbers, read_table
from strod.store.validate import check_counts, naming

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.phrases.units import PhraseLexicon
    from strod.store.files import Files

__all__ = ["UnitShard", "read_counts", "read_units", "write_counts", "write_units"]

FORMS = "phrases/forms.parquet"
_ARRAYS = {"indptr": "<i8", "indices": "<i4", "counts": "<i4"}
_SCHEMA = pa.schema(
    [
        pa.field("tokens", pa.list_(pa.field("element", pa.int32())), nullable=False),
        pa.field("count", pa.int64()),
        pa.field("significance", pa.float64()),
        pa.field("cohesion", pa.float64()),
        pa.field("varied", pa.float64()),
        pa.field("unit", pa.int32(), nullable=False),
    ]
)


def write_units(folder: Path, units: Units) -> None:
    """Write every form: its words, how often it stands in the text, its unit."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [[int(word)] for word in units.alphabet.words]
    phrases = [units.form_tokens(phrase) for phrase in units.phrases]
    nothing: list[float | None] = [None] * len(words)
    table = pa.table(
        {
            "tokens": words + phrases,
            "count": [*units.counts.tolist(), *(phrase.count for phrase in units.phrases)],
            "significance": nothing + [phrase.significance for phrase in units.phrases],
            "cohesion": nothing + [phrase.cohesion for phrase in units.phrases],
            "varied": nothing + units.varied.tolist(),
            "unit": units.unit_of,
        },
        schema=_SCHEMA,
    )
    pq.write_table(table, folder / "forms.parquet", compression="zstd", write_page_checksum=True)


def read_units(files: Files, lexicon: PhraseLexicon) -> Units:
    """What `write_units` wrote."""
    table = read_table(files, FORMS, _SCHEMA)
    with naming(files.path(FORMS)):
        try:
            return _units(table, lexicon)
        except (LookupError, TypeError) as error:
            raise ValueError(str(error)) from error


def _units(table: pa.Table, lexicon: PhraseLexicon) -> Units:
    forms: list[list[int]] = table["tokens"].to_pylist()
    size = len(lexicon.words)
    tokens = numbers(pc.list_flatten(table["tokens"]))
    if not all(forms) or not np.all((tokens >= 0) & (tokens < size)):
        raise ValueError("a form has words that are not in the lexicon")
    words = np.array([form[0] for form in forms if len(form) == 1], dtype=np.int32)
    if any(len(form) == 1 for form in forms[len(words) :]):
        raise ValueError("single words do not come first")
    stop = lexicon.stop.tolist()
    inside = {token for form in forms[len(words) :] for token in form if stop[token]}
    stops = np.array(sorted(inside), dtype=np.int32)
    alphabet = Alphabet.from_words(words, stops, len(lexicon.words))
    rest = table.slice(len(words)).select(["count", "significance", "cohesion"])
    if any(column.null_count for column in rest.columns):
        raise ValueError("numbers of phrases are missing")
    scores = zip(*(column.to_pylist() for column in rest.columns), strict=True)
    code = alphabet.code.tolist()
    phrases = [
        Phrase(*alphabet.linked([code[token] for token in form]), *some)
        for form, some in zip(forms[len(words) :], scores, strict=True)
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


def read_counts(files: Files, name: str, size: int, width: int) -> dict[str, NDArray[Any]]:
    """Arrays of a segment of `size` documents by `width` units."""
    where = f"phrases/{name}"
    found = {
        array: read_array(files, f"{where}/{array}.npy", kind) for array, kind in _ARRAYS.items()
    }
    if files.digests is not None:  # what is being written is not looked at again
        with naming(files.path(where)):
            check_counts(found["indptr"], found["indices"], found["counts"], size, width)
    return found
