"""What the first pass sets aside comes back as it was."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.corpus import spill
from strod.corpus.spill import ROW, SpillReader, SpillWriter

if TYPE_CHECKING:
    from pathlib import Path


def batch(sizes: list[int], seed: int = 0):
    generator = np.random.default_rng(seed)
    rows = np.zeros(len(sizes), dtype=ROW)
    rows["text_digest"] = generator.integers(0, 1 << 60, (len(sizes), 2))
    rows["tokens"] = sizes
    rows["id"] = [size + 1 for size in sizes]
    rows["meta"] = [2 * size for size in sizes]
    rows["line"] = range(len(sizes))
    tokens = generator.integers(-3, 100, sum(sizes)).astype(np.int32)
    ids = generator.bytes(sum(sizes) + len(sizes))
    meta = generator.bytes(2 * sum(sizes))
    return rows, tokens, ids, meta


BATCHES = [batch([3, 0, 2], 1), batch([1], 2), batch([], 3), batch([4, 4, 0, 7], 4)]


def written(folder: Path) -> SpillReader:
    with SpillWriter(folder / "spill") as writer:
        for entry in BATCHES:
            writer.append(*entry)
        assert writer.rows == 8
    return SpillReader(folder / "spill")


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_round_trip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(spill, "_ROWS_AT_ONCE", at_once)
    reader = written(tmp_path)
    assert reader.size == 8
    rows = np.concatenate([entry[0] for entry in BATCHES])
    tokens = np.concatenate([entry[1] for entry in BATCHES])
    contents = {"id": b"".join(e[2] for e in BATCHES), "meta": b"".join(e[3] for e in BATCHES)}
    place = 0
    for block in reader:
        size = block.rows.size
        assert block.first == place
        assert (block.rows == rows[place : place + size]).all()
        assert block.offsets["tokens"] == rows["tokens"][:place].sum()
        count = int(block.rows["tokens"].sum())
        begin = block.offsets["tokens"]
        found = reader.tokens(begin, count)
        assert found.tolist() == tokens[begin : begin + count].tolist()
        for name, wanted in contents.items():
            begin, count = block.offsets[name], int(block.rows[name].sum())
            assert reader.content(name, begin, count).tobytes() == wanted[begin : begin + count]
        place += size
    assert place == 8


def test_rows_of_a_range(tmp_path: Path) -> None:
    rows = np.concatenate([entry[0] for entry in BATCHES])
    assert (written(tmp_path).rows(2, 3) == rows[2:5]).all()


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    calls = []

    def short(descriptor: int, data: memoryview) -> int:
        calls.append(len(data))
        return write(descriptor, data[:7])

    monkeypatch.setattr(os, "write", short)
    reader = written(tmp_path)
    monkeypatch.undo()
    assert len(calls) > 50
    tokens = np.concatenate([entry[1] for entry in BATCHES])
    assert reader.tokens(0, tokens.size).tolist() == tokens.tolist()


def test_nothing(tmp_path: Path) -> None:
    with SpillWriter(tmp_path / "spill"):
        pass
    reader = SpillReader(tmp_path / "spill")
    assert (reader.size, list(reader)) == (0, [])
