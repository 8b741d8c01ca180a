"""Shards: where they end, and what they count."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.compute.counting import count_matrix
from strod.corpus import segment, spill
from strod.corpus.segment import _plans
from strod.corpus.spill import ROW, SpillReader, SpillWriter
from tests.chance import drawn


@settings(max_examples=drawn(200))
@given(st.lists(st.lists(st.integers(-3, 7), max_size=12), min_size=1, max_size=6))
def test_counts_equal_a_counter(documents: list[list[int]]) -> None:
    column_of = np.array([3, -1, 0, 1, -1, 2, 4, -1, -1, -1, -1], dtype=np.int32)
    tokens = np.array([token for document in documents for token in document], dtype=np.int32)
    sizes = np.array([len(document) for document in documents], dtype=np.int64)
    matrix = count_matrix(tokens, sizes, column_of, 5)
    assert matrix.shape == (len(documents), 5)
    for row, document in enumerate(documents):
        counts = Counter(int(column_of[token]) for token in document if token >= 0)
        where = slice(matrix.indptr[row], matrix.indptr[row + 1])
        found = list(zip(matrix.indices[where].tolist(), matrix.data[where].tolist(), strict=True))
        assert found == sorted((c, n) for c, n in counts.items() if c >= 0)


def naive_ends(sizes: list[int], keep: list[bool], tokens: int, documents: int) -> list[int]:
    """Rows after which a shard ends."""
    ends = []
    seen_tokens = seen_documents = 0
    for row, size in enumerate(sizes):
        if keep[row]:
            seen_tokens += size
            seen_documents += 1
            if seen_tokens >= tokens or seen_documents >= documents:
                ends.append(row + 1)
                seen_tokens = seen_documents = 0
    return [*ends, len(sizes)] if seen_documents else ends


ROWS = st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=30)


@settings(max_examples=drawn(150))
@given(ROWS, st.integers(1, 20), st.integers(1, 5), st.integers(1, 7))
def test_plans_equal_naive_version(
    rows: list[tuple[int, bool]], most_tokens: int, most_documents: int, at_once: int
) -> None:
    sizes = [size if kept else size * (size % 2) for size, kept in rows]
    keep = [kept for _, kept in rows]
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(segment, "SHARD_TOKENS", most_tokens)
        patch.setattr(segment, "SHARD_DOCUMENTS", most_documents)
        patch.setattr(spill, "_ROWS_AT_ONCE", at_once)
        table = np.zeros(len(rows), dtype=ROW)
        table["tokens"] = sizes
        table["id"] = 2
        with SpillWriter(Path(folder, "spill")) as writer:
            writer.append(table, np.zeros(sum(sizes), np.int32), b"id" * len(rows), b"")
        plans = list(_plans(SpillReader(Path(folder, "spill")), ~np.array(keep)))
    ends = naive_ends(sizes, keep, most_tokens, most_documents)
    assert [plan.end for plan in plans] == ends
    firsts = [0, *ends[:-1]] if ends else []
    assert [plan.first for plan in plans] == firsts
    for plan in plans:
        offsets = {"tokens": sum(sizes[: plan.first]), "id": 2 * plan.first, "meta": 0}
        assert plan.offsets == offsets
