"""Spherical k-means: the best division of few vectors, the same again, nothing lost."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from strod.methods.baselines.clusters import concepts, kmeans, spherical


def units(vectors: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


@pytest.mark.parametrize("seed", range(5))
def test_no_other_division_fits_better(seed: int) -> None:
    """Of all divisions of eight vectors in three, by force: the largest Σ_z |Σ_{d in z} v_d|."""
    vectors = units(np.random.default_rng(seed).normal(size=(8, 3)))
    found = spherical(vectors, 3, check_random_state(seed), 100)
    divisions = (np.array(one) for one in product(range(3), repeat=8))
    best = max(
        sum(np.linalg.norm(vectors[one == z].sum(axis=0)) for z in range(3)) for one in divisions
    )
    mine = sum(np.linalg.norm(vectors[found.best == z].sum(axis=0)) for z in range(3))
    assert found.fit == pytest.approx(mine)
    assert mine == pytest.approx(best)
    assert 1 <= found.done <= 100


def test_the_seed_decides() -> None:
    random = np.random.default_rng(3)
    counts = csr_matrix(random.poisson(0.3, size=(200, 150)))
    one, same, other = (kmeans(counts, 4, seed, 20) for seed in (1, 1, 2))
    assert np.array_equal(one[0], same[0])
    assert np.array_equal(one[1], same[1])
    assert not np.array_equal(one[0], other[0])
    # Every document is in one cluster, and no word is lost.
    assert np.array_equal(one[0].sum(axis=1), np.ones(200))
    assert np.array_equal(one[1].sum(axis=0), np.asarray(counts.sum(axis=0)).ravel())


def test_documents_have_length_one() -> None:
    counts = csr_matrix(np.random.default_rng(3).poisson(0.3, size=(60, 30)))
    vectors = concepts(counts, check_random_state(0))
    assert vectors.shape == (60, 30)  # there are no more dimensions than words
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.allclose(lengths[np.diff(counts.indptr) > 0], 1)


def test_more_clusters_than_different_vectors() -> None:
    """Some stay empty, and the others have everything."""
    vectors = units(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]))
    found = spherical(vectors, 3, check_random_state(0), 10)
    assert found.fit == pytest.approx(4)
    assert found.best[0] == found.best[1] != found.best[2] == found.best[3]
