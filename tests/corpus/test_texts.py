"""Texts are stored in blocks and read back by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.corpus.texts import TextWriter, read_texts

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
    found = read_texts(path.read_bytes(), [0, 2, 3, 6], np.array(rows, dtype=np.int64))
    assert found == [every[row] for row in rows]


def test_text_is_compressed(path: Path) -> None:
    assert path.stat().st_size < 5000
