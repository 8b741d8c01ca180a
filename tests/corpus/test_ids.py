"""Finding a document by its id."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.corpus import ids
from strod.corpus.ids import IdIndex
from tests.chance import drawn

if TYPE_CHECKING:
    import pytest

NAMES = st.text(st.sampled_from("ab1é😀"), max_size=4) | st.sampled_from(["x" * 999, "x" * 1000])
ABSENT = ["", "c", "x" * 998, "x" * 3000, "é" * 5, "\ud800"]


def column(names: list[str], cuts: list[int]) -> pa.ChunkedArray:
    """The names in several chunks, one of them a slice of a longer array."""
    bounds = [0, *sorted(cut % (len(names) + 1) for cut in cuts), len(names)]
    whole = pa.array(["before", *names, "after"], type=pa.large_string())
    chunks = [whole.slice(1 + a, b - a) for a, b in itertools.pairwise(bounds)]
    return pa.chunked_array(chunks, type=pa.large_string())


def check(names: list[str], found: IdIndex) -> None:
    for name in {*names, *ABSENT}:
        assert found.rows(name) == [row for row, one in enumerate(names) if one == name]


@given(st.lists(NAMES, max_size=40), st.lists(st.integers(0, 40), max_size=3))
@settings(max_examples=drawn(150))
def test_the_same_as_a_scan(names: list[str], cuts: list[int]) -> None:
    check(names, IdIndex(column(names, cuts)))


def test_ids_that_have_one_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "_WEIGHTS", np.zeros(1024, dtype=np.uint64))
    names = ["b", "a", "b", "ab", "a" * 7]
    check(names, IdIndex(column(names, [2])))


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "BLOCK", 3)
    names = [f"d{i % 11}" for i in range(25)]
    check(names, IdIndex(column(names, [7, 7])))


def test_digests_of_many_ids_differ() -> None:
    names = [f"{i}" for i in range(100_000)]
    found = IdIndex(column(names, []))
    assert len(np.unique(found._sorted)) == len(names)
