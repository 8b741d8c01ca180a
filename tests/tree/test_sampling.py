"""Which tokens and documents have a say."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from scipy.sparse import csr_array

from strod.model.draws import draws
from strod.model.sampling import root_counts
from strod.values.words import thinning

IDS = [f"doc-{i}" for i in range(40_000)]


def test_thinning() -> None:
    occurrences = np.array([900, 90, 9, 1])
    kept = thinning(occurrences, 0.05)
    expected = [np.sqrt(0.05 / 0.9), np.sqrt(0.05 / 0.09), 1, 1]
    np.testing.assert_allclose(kept, expected, rtol=1e-6)
    assert kept.dtype == np.float32


def test_thinning_switched_off() -> None:
    assert (thinning(np.array([10**9, 1, 0]), 0) == 1).all()


@pytest.mark.parametrize("occurrences", [[], [0], [0, 0], [5]])
@pytest.mark.parametrize("threshold", [0, 5e-4, 1])
def test_thinning_of_next_to_nothing(occurrences: list[int], threshold: float) -> None:
    kept = thinning(np.array(occurrences, dtype=np.int64), threshold)
    assert kept.shape == (len(occurrences),)
    assert ((kept > 0) & (kept <= 1)).all()


def test_counts_of_the_root_are_clipped_and_thinned() -> None:
    table = csr_array(np.array([[7, 0, 1], [0, 0, 0], [2, 3, 0]], dtype=np.int32))
    kept = np.array([0.5, 1, 0.25], dtype=np.float32)
    clipped = root_counts(table, kept, 3)
    assert clipped.power(0).toarray().tolist() == [[3, 0, 1], [0, 0, 0], [2, 3, 0]]
    assert clipped.power(1).toarray().tolist() == [[1.5, 0, 0.25], [0, 0, 0], [1, 3, 0]]
    assert root_counts(table, kept, 0).power(0).toarray().tolist() == table.toarray().tolist()
    assert table.toarray()[0, 0] == 7
    assert (clipped.size, clipped.width) == (3, 3)


def test_draws_are_uniform() -> None:
    for ids in (IDS, [str(i) for i in range(40_000)], [f"{i:08x}" for i in range(0, 160_000, 4)]):
        values = draws(ids)
        assert ((values >= 0) & (values < 1)).all()
        counts = np.bincount((values * 50).astype(int), minlength=50)
        square = float(((counts - 800) ** 2 / 800).sum())
        assert 15 < square < 100  # 49 on average, with a deviation of 10
        assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.02
        assert len(np.unique(values)) > 0.999 * len(ids)


def test_draws_depend_on_the_id_alone() -> None:
    values = draws(IDS[:1000])
    assert np.array_equal(draws(reversed(IDS[:1000])), values[::-1])
    assert np.array_equal(draws(IDS[300:400]), values[300:400])
    assert np.array_equal(draws(["x", *IDS[:1000], "y"])[1:-1], values)
    assert draws(["same", "same"])[0] == draws(["same"])[0]


def test_draws_never_change() -> None:
    """A workspace that grows later has to find the same sample again."""
    expected = []
    for name in ("", "a", "doc-1", "größe"):
        value = (crc32(name.encode()) + 0x9E3779B97F4A7C15) % 2**64  # splitmix64
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
        expected.append(((value ^ value >> 31) >> 11) / 2**53)
    assert draws(["", "a", "doc-1", "größe"]).tolist() == expected
    assert expected[0] == 0.8833108082136426


def test_no_documents() -> None:
    assert draws([]).tolist() == []


@pytest.mark.parametrize("rate", [0.01, 0.3])
def test_a_sample_has_its_size_and_lies_in_larger_ones(rate: float) -> None:
    values = draws(IDS)
    small, large = values < rate, values < 2 * rate
    assert abs(small.mean() - rate) < 4 * np.sqrt(rate / len(IDS))
    assert not (small & ~large).any()
