"""Which documents came before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.corpus import duplicates, spill
from strod.corpus.duplicates import repeated
from strod.corpus.spill import ROW, SpillReader, SpillWriter

if TYPE_CHECKING:
    from pathlib import Path


def naive(digests: list[tuple[int, int]], out: list[bool]) -> list[int]:
    seen: set[tuple[int, int]] = set()
    found = []
    for row, digest in enumerate(digests):
        if out[row]:
            continue
        if digest in seen:
            found.append(row)
        seen.add(digest)
    return found


def stored(folder: Path, digests: np.ndarray) -> SpillReader:
    rows = np.zeros(len(digests), dtype=ROW)
    rows["text_digest"] = digests
    with SpillWriter(folder / "spill") as writer:
        writer.append(rows, np.empty(0, dtype=np.int32), b"", b"")
    return SpillReader(folder / "spill")


@pytest.mark.parametrize("at_once", [1 << 19, 50, 7, 1])
@pytest.mark.parametrize("rows_at_once", [1 << 15, 9])
@pytest.mark.parametrize("seed", range(3))
def test_equals_naive_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, rows_at_once: int, seed: int
) -> None:
    monkeypatch.setattr(duplicates, "_AT_ONCE", at_once)
    monkeypatch.setattr(spill, "_ROWS_AT_ONCE", rows_at_once)
    generator = np.random.default_rng(seed)
    # Halves of few values each: equal firsts with different seconds, and the reverse.
    digests = generator.integers(0, 7, (100, 2)).astype(np.uint64) * np.uint64((1 << 61) + 3)
    out = generator.random(100) < 0.2
    found = repeated(stored(tmp_path, digests), "text_digest", out)
    wanted = naive([tuple(pair) for pair in digests.tolist()], out.tolist())
    assert found.tolist() == wanted
    assert wanted


def test_nothing(tmp_path: Path) -> None:
    reader = stored(tmp_path, np.empty((0, 2), dtype=np.uint64))
    assert repeated(reader, "text_digest", np.empty(0, dtype=bool)).tolist() == []
