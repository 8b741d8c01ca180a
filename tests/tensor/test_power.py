"""Orthogonal decomposition of tensors whose components are known, and of others."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.tensor import power
from strod.tensor.power import Components, decompose, images
from tests.oracles import ORDERS

if TYPE_CHECKING:
    from tests.oracles import Array


def composed(values: Array, vectors: Array) -> Array:
    """Σ_z λ_z·v_z⊗v_z⊗v_z."""
    tensor = np.zeros((len(vectors),) * 3)
    for value, vector in zip(values, vectors.T, strict=True):
        tensor += value * np.multiply.outer(np.multiply.outer(vector, vector), vector)
    return tensor


def orthogonal(random: np.random.Generator, k: int) -> tuple[Array, Array]:
    """Values from 1 to 4, falling, and orthonormal columns."""
    values = np.sort(random.uniform(1, 4, size=k))[::-1]
    return values, np.linalg.qr(random.standard_normal((k, k)))[0]


def symmetric_noise(random: np.random.Generator, k: int) -> Array:
    raw = random.standard_normal((k, k, k))
    total: Array = np.sum([raw.transpose(order) for order in ORDERS], axis=0)
    return total / 6


def explained(tensor: Array, vectors: Array) -> float:
    """Σ_z T(v_z, v_z, v_z)²."""
    return sum(float(np.einsum("abc,a,b,c->", tensor, v, v, v)) ** 2 for v in vectors.T)


def check_components(tensor: Array, found: Components) -> None:
    """What holds for any symmetric tensor."""
    k = len(tensor)
    assert found.values.shape == (k,)
    assert np.allclose(found.vectors.T @ found.vectors, np.eye(k), rtol=0, atol=1e-12)
    assert (np.diff(found.values) <= 0).all()
    for value, vector in zip(found.values, found.vectors.T, strict=True):
        cube = np.einsum("abc,a,b,c->", tensor, vector, vector, vector)
        assert value == pytest.approx(cube, rel=1e-10, abs=1e-12)


def errors(found: Components, values: Array, vectors: Array) -> tuple[float, float]:
    """Of the values, and of the vectors that belong to the true ones (signs count)."""
    match = np.argmax(vectors.T @ found.vectors, axis=1)
    assert sorted(match) == list(range(len(values)))
    off = np.abs(found.vectors[:, match] - vectors).max()
    return float(np.abs(found.values[match] - values).max()), float(off)


def test_images() -> None:
    random = np.random.default_rng(1)
    tensor, vectors = random.standard_normal((4, 4, 4)), random.standard_normal((4, 3))
    expected = np.zeros((4, 3))
    for a, b, c, z in product(range(4), range(4), range(4), range(3)):
        expected[a, z] += tensor[a, b, c] * vectors[b, z] * vectors[c, z]
    assert np.allclose(images(tensor, vectors), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 15])
@pytest.mark.parametrize("refine", [True, False])
def test_exact(k: int, refine: bool) -> None:
    for seed in range(5):
        random = np.random.default_rng([k, seed])
        values, vectors = orthogonal(random, k)
        tensor = composed(values, vectors)
        found = decompose(tensor, random, refine=refine)
        assert max(errors(found, values, vectors)) < 1e-9
        check_components(tensor, found)


def test_the_largest_comes_first() -> None:
    """Of many starts the best is kept."""
    for seed in range(20):
        random = np.random.default_rng(seed)
        values, vectors = orthogonal(random, 6)
        tensor = composed(values, vectors)
        starts = random.standard_normal((6, power.STARTS))
        value, vector = power._largest(tensor, starts, power.STEPS)
        assert value == pytest.approx(values[0], abs=1e-9)
        assert np.allclose(vector, vectors[:, 0], rtol=0, atol=1e-9)


def test_equal_and_negative_values() -> None:
    """-λ·v⊗v⊗v is λ·(-v)⊗(-v)⊗(-v), and values may be the same."""
    random = np.random.default_rng(2)
    _, vectors = orthogonal(random, 5)
    tensor = composed(np.array([2.0, 2.0, -2.0, -1.0, 1.0]), vectors)
    found = decompose(tensor, random)
    assert np.allclose(found.values, [2, 2, 2, 1, 1], rtol=0, atol=1e-9)
    assert np.allclose(composed(*found), tensor, rtol=0, atol=1e-9)


@pytest.mark.parametrize("k", [2, 4, 10])
@pytest.mark.parametrize("noise", [1e-6, 1e-3, 1e-2])
def test_noise(k: int, noise: float) -> None:
    """Errors are of the size of the noise."""
    for seed in range(5):
        random = np.random.default_rng([k, seed])
        values, vectors = orthogonal(random, k)
        tensor = composed(values, vectors) + noise * symmetric_noise(random, k)
        found = decompose(tensor, random)
        assert max(errors(found, values, vectors)) < 10 * noise
        check_components(tensor, found)


def test_refinement_mends_what_deflation_hands_on() -> None:
    with_it: list[float] = []
    without: list[float] = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        values, vectors = orthogonal(random, 10)
        tensor = composed(values, vectors) + 0.02 * symmetric_noise(random, 10)
        for refine, off in ((True, with_it), (False, without)):
            found = decompose(tensor, np.random.default_rng(seed), refine=refine)
            off.append(errors(found, values, vectors)[1])
    assert np.mean(with_it) < 0.95 * np.mean(without)


def test_refinement_never_explains_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """From any orthonormal start, on any tensor; each round at least as much as the one before."""
    grown = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        k = int(random.integers(2, 8))
        values, vectors = orthogonal(random, k)
        tensor = random.choice([0, 1]) * composed(values, vectors) + symmetric_noise(random, k)
        start = np.linalg.qr(random.standard_normal((k, k)))[0]
        fits = [explained(tensor, start)]
        for rounds in (1, 2, 3, 5, 10, 30, 100):
            monkeypatch.setattr(power, "REFINEMENTS", rounds)
            found = power._refined(tensor, start)
            assert np.allclose(found.T @ found, np.eye(k), rtol=0, atol=1e-12)
            fits.append(explained(tensor, found))
            assert fits[-1] >= fits[-2] * (1 - 1e-12)
        grown += fits[-1] > 1.01 * fits[0]
    assert grown > 20


def test_a_bad_round_does_not_end_the_refinement() -> None:
    """With much noise a round may explain less than the one before; later ones find more."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        tensor = composed(*orthogonal(random, 8)) + symmetric_noise(random, 8)
        start = vectors = np.linalg.qr(random.standard_normal((8, 8)))[0]
        best = 0.0
        for _ in range(12):
            best = max(best, explained(tensor, vectors))
            mapped = images(tensor, vectors)
            left, _, right = np.linalg.svd(mapped * np.einsum("iz,iz->z", vectors, mapped))
            vectors = left @ right
        assert explained(tensor, power._refined(tensor, start)) >= best * (1 - 1e-3)


def test_refinement_explains_no_less_than_the_nearest_orthonormal_set() -> None:
    for seed in range(30):
        random = np.random.default_rng(seed)
        k = int(random.integers(2, 8))
        tensor = symmetric_noise(random, k)
        deflated = decompose(tensor, np.random.default_rng(seed), refine=False)
        refined = decompose(tensor, np.random.default_rng(seed))
        left, _, right = np.linalg.svd(deflated.vectors)
        fit = float(refined.values @ refined.values)
        assert fit >= explained(tensor, left @ right) * (1 - 1e-12)
        check_components(tensor, refined)


def test_same_seed_same_bytes() -> None:
    random = np.random.default_rng(3)
    tensor = symmetric_noise(random, 6)
    before = tensor.copy()
    runs = [decompose(tensor, np.random.default_rng(seed)) for seed in (7, 7, 8)]
    assert runs[0].values.tobytes() == runs[1].values.tobytes()
    assert runs[0].vectors.tobytes() == runs[1].vectors.tobytes()
    assert runs[0].vectors.tobytes() != runs[2].vectors.tobytes()
    assert np.array_equal(tensor, before)


def test_other_seeds_find_the_same() -> None:
    random = np.random.default_rng(4)
    values, vectors = orthogonal(random, 6)
    tensor = composed(values, vectors) + 1e-3 * symmetric_noise(random, 6)
    first, *others = (decompose(tensor, np.random.default_rng(seed)) for seed in range(6))
    for other in others:
        assert np.allclose(other.values, first.values, rtol=0, atol=1e-9)
        assert np.allclose(other.vectors, first.vectors, rtol=0, atol=1e-6)


def test_more_starts_and_steps_are_used() -> None:
    """One start of one step is not enough without refinement; thirty of thirty are."""
    random = np.random.default_rng(5)
    values, vectors = orthogonal(random, 8)
    tensor = composed(values, vectors)
    poor = decompose(tensor, np.random.default_rng(6), starts=1, steps=1, refine=False)
    assert not np.allclose(poor.values, values, rtol=0, atol=0.1)
    late = decompose(tensor, np.random.default_rng(6), starts=1, steps=30, refine=False)
    assert np.allclose(late.values, values, rtol=0, atol=1e-9)


def test_nothing_to_find() -> None:
    found = decompose(np.zeros((3, 3, 3)), np.random.default_rng(6))
    check_components(np.zeros((3, 3, 3)), found)
    assert not found.values.any()
    thin = composed(np.array([2.0]), np.array([[0.6], [0.8], [0.0]]))  # rank 1 of 3
    found = decompose(thin, np.random.default_rng(7))
    check_components(thin, found)
    assert np.allclose(found.values, [2, 0, 0], rtol=0, atol=1e-9)


def test_likely_directions_make_the_outcome_independent_of_the_seed() -> None:
    random = np.random.default_rng(8)
    tensor = composed(*orthogonal(random, 12)) + symmetric_noise(random, 12)
    likely = random.standard_normal((12, 400))
    runs = [decompose(tensor, np.random.default_rng(seed), likely=likely) for seed in range(3)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.vectors, runs[0].vectors)
    few = [decompose(tensor, np.random.default_rng(seed), likely=likely[:, :2]) for seed in (0, 1)]
    assert all(np.isfinite(run.vectors).all() for run in few)  # filled up by chance
