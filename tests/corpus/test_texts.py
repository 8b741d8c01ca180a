"""Texts are stored in blocks and read back by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.corpus.texts import BLOCK, TextReader, TextWriter

if TYPE_CHECKING:
    from pathlib import Path

BLOCKS = [["one", "zwölf"], ["主题"], ["x" * 10_000, "", "last"]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with TextWriter(tmp_path / "texts.arrow") as writer:
        assert writer.blocks == [0]
        for block in BLOCKS:
            encoded = [text.encode() for text in block]
            writer.append(b"".join(encoded), np.array([len(text) for text in encoded]))
    assert writer.blocks == [0, 2, 3, 6]
    return tmp_path / "texts.arrow"


@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4, 5], [5, 0], [2], [4, 4, 1], []])
def test_rows(path: Path, rows: list[int]) -> None:
    every = [text for block in BLOCKS for text in block]
    reader = TextReader(path.read_bytes(), [0, 2, 3, 6])
    assert reader.texts(np.array(rows, dtype=np.int64)) == [every[row] for row in rows]
    columns = reader.columns(np.array(rows, dtype=np.int64))
    assert [text for column in columns for text in column.to_pylist()] == [every[r] for r in rows]


def test_blocks_end_with_the_text_that_reaches_their_size(tmp_path: Path) -> None:
    sizes = [BLOCK // 2, BLOCK // 2, 1, 3 * BLOCK, 0, BLOCK - 1, 5]
    with TextWriter(tmp_path / "t") as writer:
        writer.append(b"x" * sum(sizes), np.array(sizes))
        writer.append(b"", np.array([0]))
    assert writer.blocks == [0, 2, 4, 7, 8]
    reader = TextReader((tmp_path / "t").read_bytes(), writer.blocks)
    assert [len(text) for text in reader.texts(np.arange(8))] == [*sizes, 0]


def test_text_is_compressed(path: Path) -> None:
    assert path.stat().st_size < 5000
