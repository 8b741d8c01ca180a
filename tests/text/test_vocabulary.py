"""Which words the model sees."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strod.text.vocabulary import background, least_documents, model_columns


@pytest.mark.parametrize(
    ("documents", "expected"),
    [(0, 1), (1, 1), (399, 1), (400, 2), (999, 4), (1000, 5), (10**9, 5)],
)
def test_least_documents(documents: int, expected: int) -> None:
    assert least_documents(documents) == expected


def naive_columns(
    frequencies: list[int], stop: list[bool], least: int, most: float, limit: int
) -> list[int]:
    usable = [i for i, df in enumerate(frequencies) if not stop[i] and df >= least and df <= most]
    chosen = sorted(sorted(usable, key=lambda i: (-frequencies[i], i))[:limit])
    return [chosen.index(i) if i in chosen else -1 for i in range(len(frequencies))]


@given(
    st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=20),
    st.integers(1, 4),
    st.floats(0, 7),
    st.integers(1, 12),
)
def test_columns_equal_a_naive_choice(
    words: list[tuple[int, bool]], least: int, most: float, limit: int
) -> None:
    frequencies = [df for df, _ in words]
    stop = [is_stop for _, is_stop in words]
    found = model_columns(
        np.array(frequencies, dtype=np.int64),
        np.array(stop, dtype=bool),
        least=least,
        most=most,
        limit=limit,
    )
    assert found.tolist() == naive_columns(frequencies, stop, least, most, limit)
    assert found.dtype == np.int32


def test_background_of_a_planted_corpus() -> None:
    """Fifty words thrown at random over all documents, others burst in a few."""
    generator = random.Random(3)
    documents = 2000
    even = [generator.uniform(0.05, 1.5) for _ in range(50)]  # mean per document
    frequencies, totals = [], []
    for rate in even:
        counts = np.random.default_rng(int(rate * 1e6)).poisson(rate, documents)
        frequencies.append(int((counts > 0).sum()))
        totals.append(int(counts.sum()))
    for _ in range(50):  # three to nine times in each of the documents of a topic
        inside = generator.randrange(100, 600)
        frequencies.append(inside)
        totals.append(inside * generator.randrange(3, 10))
    frequencies += [30, 30]  # rare, however spread
    totals += [30, 300]
    found = background(np.array(frequencies), np.array(totals), documents).tolist()
    assert sorted(found) == list(range(50))
    assert [frequencies[i] for i in found] == sorted((frequencies[i] for i in found), reverse=True)


def test_background_is_residual_idf() -> None:
    documents, frequency = 1000, 100
    totals = np.arange(100, 140)
    frequencies = np.full(totals.size, frequency)
    found = set(background(frequencies, totals, documents).tolist())
    for i, total in enumerate(totals.tolist()):
        expected = 1 - math.exp(-total / documents)
        assert (i in found) == (math.log2(expected / (frequency / documents)) <= 0.15)
    assert 0 < len(found) < totals.size


def test_background_of_nothing() -> None:
    empty = np.empty(0, dtype=np.int64)
    assert background(empty, empty, 0).size == 0
