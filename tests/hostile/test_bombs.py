"""Tables and texts of a stranger that unpack to far more than the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strod.store.blocks import unpacked
from tests.hostile.forge import reseal
from tests.hostile.trial import tried

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROOM = 600 << 20  # bytes of all rows
LONG = "x" * (10 << 20)  # of each
MEMORY = 300 << 20
PLAIN: dict[str, Any] = {"use_dictionary": False}
DELTA: dict[str, Any] = {"use_dictionary": False, "column_encoding": {"id": "DELTA_BYTE_ARRAY"}}
DOCUMENTS = "corpus/0000/documents.parquet"
TEXTS = "corpus/0000/texts.arrow"


def table(name: str, column: str, how: dict[str, Any]) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        found = pq.read_table(root / name)
        place = found.schema.get_field_index(column)
        field = found.schema.field(place)
        size = len(found)
        long = _long(size).cast(field.type)
        found = found.set_column(place, field, long)
        how_all = {"compression": "zstd", "write_statistics": False} | how
        pq.write_table(found, root / name, **how_all)
        reseal(root)

    return apply


def _long(size: int) -> pa.Array:
    """Long texts that differ in their first letters, put together in one place."""
    width = min(ROOM // size, len(LONG))
    data = np.full((size, width), ord("x"), dtype=np.uint8)
    for number in range(size):
        data[number, :5] = list(f"{number:04} ".encode())
    offsets = np.arange(size + 1, dtype=np.int64) * width
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data.reshape(-1))]
    return pa.Array.from_buffers(pa.large_string(), size, buffers)


def texts(root: Path) -> None:
    with pa.OSFile(str(root / TEXTS)) as file:
        batch = pa.ipc.open_file(file).get_batch(0)
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    long = pa.array([LONG] * len(batch), batch.schema.field(0).type)
    with (
        pa.OSFile(str(root / TEXTS), "wb") as file,
        pa.ipc.new_file(file, batch.schema, options=options) as writer,
    ):
        writer.write_batch(pa.record_batch([long], schema=batch.schema))
    reseal(root)


BOMBS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "words": ("corpus/lexicon.parquet", table("corpus/lexicon.parquet", "word", PLAIN)),
    "ids": (DOCUMENTS, table(DOCUMENTS, "id", PLAIN)),
    "ids that repeat each other": (DOCUMENTS, table(DOCUMENTS, "id", DELTA)),
    "texts": (TEXTS, texts),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_nothing_is_unpacked(base: Path, tmp_path: Path, bomb: str) -> None:
    name, change = BOMBS[bomb]

    def forge(root: Path) -> None:
        change(root)
        pa.default_memory_pool().release_unused()  # what this took is no peak of a command

    ended = tried(base, tmp_path / "w", forge, ["check", "documents", "assign", "add dry"])
    assert (ended.wrong, ended.signal) == ([], 0)
    assert ended.peak < MEMORY
    assert ended.codes["check"] == 1
    assert name in ended.said["check"]


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("legacy", [False, True])
def test_what_blocks_become_is_known(compression: str | None, legacy: bool) -> None:
    schema, sink = pa.schema([("text", pa.large_string())]), pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression, use_legacy_format=legacy)
    with pa.ipc.new_file(sink, schema, options=options) as writer:
        for size in range(3):
            texts = pa.array(["abcd" * 1000 * size] * 5, pa.large_string())
            writer.write_batch(pa.record_batch([texts], schema=schema))
    data = sink.getvalue().to_pybytes()
    assert [unpacked(data, i)[1] for i in range(3)] == [48 + 20_000 * i for i in range(3)]
    for cut in range(0, len(data), 7):
        with pytest.raises((ValueError, IndexError)):
            unpacked(data[:cut], 0)
