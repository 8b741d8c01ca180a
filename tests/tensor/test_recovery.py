"""From exact moments of the model to its parameters, and the search for α0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.moments.moments import Moments
from strod.moments.whitening import DENSE, Whitening, spectrum, whiten
from strod.tensor.power import Components, decompose
from strod.tensor.recovery import (
    LEAST,
    MOST,
    Recovered,
    recover,
    solve_alpha0,
    third_moment,
)
from tests import oracles
from tests.oracles import Population, random_documents, random_population, sampled_documents

if TYPE_CHECKING:
    from tests.oracles import Array

EXACT = 1e-6
ALPHA0 = [0.3, 1.0, 2.0, 10.0]


def learnt(moments: Moments, k: int, alpha0: float, seed: int = 0) -> tuple[Recovered, float]:
    """All steps; topics, and the α0 that was used."""
    random = np.random.default_rng(seed)
    pairs = spectrum(moments, k, random)
    white = whiten(pairs, moments.first, k, alpha0)
    assert white is not None
    vectors = pairs.vectors[:, : len(white.scale)]
    tensor = third_moment(moments.third(vectors), vectors.T @ moments.first, white)
    return recover(decompose(tensor, random), white, vectors), white.alpha0


def total(population: Population, alpha0: float) -> float | None:
    """S(α0) if that α0 can be used."""
    result, used = learnt(population.moments, len(population.alpha), alpha0)
    return result.total if used == alpha0 else None


def check_recovered(result: Recovered, population: Population) -> None:
    """Topics, in the order of their weights, are those of the model."""
    order = np.argsort(population.alpha)
    weights = population.alpha[order] / population.alpha.sum()
    assert np.allclose(np.sort(result.weights), weights, rtol=0, atol=EXACT)
    match = [int(np.abs(population.phi - words).sum(axis=1).argmin()) for words in result.words]
    assert sorted(match) == list(range(len(match)))
    assert np.allclose(result.words, population.phi[match], rtol=0, atol=EXACT)
    shares = population.alpha[match] / population.alpha.sum()
    assert np.allclose(result.weights, shares, rtol=0, atol=EXACT)
    assert np.allclose(result.mass, 1, rtol=0, atol=EXACT)
    assert result.total == pytest.approx(1, abs=EXACT)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("alpha0", ALPHA0)
def test_exact_moments_give_the_model(k: int, alpha0: float) -> None:
    """Theorem 1."""
    for seed in range(3):
        random = np.random.default_rng([k, int(10 * alpha0), seed])
        width = int(random.integers(10, 61))
        population = random_population(random, k, width, alpha0)
        result, used = learnt(population.moments, k, alpha0)
        assert used == alpha0
        check_recovered(result, population)


def test_exact_moments_of_more_words() -> None:
    """Beyond what is written out: E2 has the rank k, less than a block of the Krylov space."""
    random = np.random.default_rng(1)
    k, width = 4, DENSE + 1
    population = random_population(random, k, width, 1.5)
    pairs = spectrum(population.moments, k, random)
    white = whiten(pairs, population.first, k, 1.5)
    assert white is not None
    inside = population.phi @ pairs.vectors  # E3 of so many words is not needed
    third = oracles.contract(oracles.dirichlet_moment(population.alpha, 3), inside)
    tensor = third_moment(third, pairs.vectors.T @ population.first, white)
    check_recovered(recover(decompose(tensor, random), white, pairs.vectors), population)


@pytest.mark.parametrize("extra", [1, 3])
def test_more_topics_asked_than_there_are(extra: int) -> None:
    population = random_population(np.random.default_rng(2), 4, 25, 1.0)
    result, used = learnt(population.moments, 4 + extra, 1.0)
    assert used == 1.0
    check_recovered(result, population)


def test_a_wrong_alpha0_is_seen() -> None:
    population = random_population(np.random.default_rng(3), 4, 30, 2.0)
    for alpha0 in (0.2, 20.0):
        result, _ = learnt(population.moments, 4, alpha0)
        assert abs(result.total - 1) > 0.01
        assert np.abs(result.mass - 1).max() > 0.01


@pytest.mark.parametrize("alpha0", ALPHA0)
@pytest.mark.parametrize("k", [3, 6])
def test_alpha0_is_found(k: int, alpha0: float) -> None:
    for seed in range(2):
        random = np.random.default_rng([k, seed])
        population = random_population(random, k, 30, alpha0)
        found = solve_alpha0(lambda value, p=population: total(p, value))  # type: ignore[misc]
        assert found == pytest.approx(alpha0, rel=0.01)


@pytest.mark.parametrize("alpha0", ALPHA0)
@pytest.mark.parametrize("k", [3, 5])
def test_total_falls_through_one(k: int, alpha0: float) -> None:
    """S falls up to twice the true α0. Far above that it may rise, but it stays below 1."""
    for seed in range(3):
        population = random_population(np.random.default_rng([k, seed]), k, 20, alpha0)
        low = np.geomspace(LEAST, 2 * alpha0, 12)
        sums = [total(population, float(value)) for value in low]
        assert all(value is not None for value in sums)
        totals = np.array(sums, dtype=float)
        assert (np.diff(totals) < 0).all()
        assert ((totals > 1) == (low < alpha0)).all()
        for value in np.geomspace(2 * alpha0, MOST, 8):
            high = total(population, float(value))
            assert high is None or high < 1


def test_two_topics_say_nothing_about_alpha0() -> None:
    """With k = 2 the tensor can be decomposed for any α0, and S is 1."""
    population = random_population(np.random.default_rng(4), 2, 20, 1.0)
    for alpha0 in (0.01, 0.3, 1.0, 3.0, 30.0):
        result, _ = learnt(population.moments, 2, alpha0)
        assert result.total == pytest.approx(1, abs=1e-8)
        assert np.allclose(result.mass, 1, rtol=0, atol=1e-8)


@pytest.mark.parametrize("alpha0", [0.0, 0.4, 3.0])
def test_third_moment(alpha0: float) -> None:
    """M3 written out (eq. 3), for an α0 that need not be the true one."""
    random = np.random.default_rng(5)
    population = random_population(random, 3, 8, 1.0)
    first, second, third = population.first, population.full, population.cube
    pairs = spectrum(population.moments, 3, random)
    white = whiten(pairs, first, 3, alpha0)
    assert white is not None
    full = (alpha0 + 1) * (alpha0 + 2) / 2 * third
    for x in range(8):
        for y in range(8):
            for z in range(8):
                mixed = second[x, y] * first[z] + second[x, z] * first[y] + second[y, z] * first[x]
                full[x, y, z] -= alpha0 * (alpha0 + 1) / 2 * mixed
                full[x, y, z] += alpha0**2 * first[x] * first[y] * first[z]
    expected = oracles.contract(full, pairs.vectors @ white.scale)
    inside = oracles.contract(third, pairs.vectors)
    found = third_moment(inside, pairs.vectors.T @ first, white)
    assert np.allclose(found, expected, rtol=1e-10, atol=1e-10)
    for order in oracles.ORDERS:
        assert np.allclose(found, found.transpose(order), rtol=0, atol=1e-12)


def recovered(values: list[float], columns: Array) -> Recovered:
    """Eigenvectors that are the identity, so that the raw topics are `columns` times λ."""
    k = len(values)
    white = Whitening(1.0, np.eye(k), np.eye(k))
    return recover(Components(np.array(values), np.eye(k)), white, columns)


def test_topics_are_distributions() -> None:
    columns = np.array([[0.5, -0.2, 0.0], [-0.1, -0.6, 0.0], [0.1, 0.1, 0.0], [0.0, 0.0, 0.0]])
    result = recovered([2.0, 1.0, 0.5], columns)
    assert np.allclose(result.mass, [1.0, -0.7, 0.0], rtol=0, atol=1e-12)
    expected = [[5 / 6, 0, 1 / 6, 0], [0.25, 0.75, 0, 0], [0.25] * 4]
    assert np.allclose(result.words, expected, rtol=0, atol=1e-12)
    assert result.total == pytest.approx(1 / 4 + 1 + 4)
    assert np.allclose(result.weights, np.array([1 / 4, 1, 4]) / 5.25, rtol=1e-12, atol=0)


def test_values_near_zero_do_not_overflow() -> None:
    result = recovered([1.0, 0.0, -1e-300], np.eye(4)[:, :3])
    for part in (result.weights, result.words, result.mass):
        assert np.isfinite(part).all()
    assert np.isfinite(result.total)
    assert result.weights.sum() == pytest.approx(1)
    assert np.allclose(result.words.sum(axis=1), 1, rtol=1e-12, atol=0)


def test_topics_of_a_sample() -> None:
    """The same steps with moments of documents: the error is that of the sample."""
    random = np.random.default_rng(6)
    population = random_population(random, 3, 30, 0.5)
    documents = sampled_documents(random, population, 4000, lambda: int(random.integers(3, 30)))
    parts = [oracles.counts(documents[start::3], 30) for start in range(3)]
    result, _ = learnt(Moments.of(parts, 30, 1), 3, 0.5)
    off = np.abs(result.words[:, None] - population.phi).sum(axis=2)
    match = off.argmin(axis=1)
    assert sorted(match) == [0, 1, 2]
    assert off.min(axis=1).max() < 0.2
    assert np.allclose(result.weights, population.alpha[match] / 0.5, rtol=0, atol=0.05)
    assert result.total == pytest.approx(1, abs=0.1)
    assert np.allclose(result.mass, 1, rtol=0, atol=0.1)


def test_any_documents_give_finite_topics() -> None:
    random = np.random.default_rng(7)
    split = 0
    for _ in range(60):
        width = int(random.integers(2, 8))
        documents = random_documents(random, width, int(random.integers(1, 8)), chance="fraction")
        moments = Moments.of([oracles.counts(documents, width)], width, 1)
        k = int(random.integers(2, 6))
        pairs = spectrum(moments, k, random)
        white = whiten(pairs, moments.first, k, float(random.choice([0.1, 1.0, 50.0])))
        if white is None:
            continue
        split += 1
        vectors = pairs.vectors[:, : len(white.scale)]
        tensor = third_moment(moments.third(vectors), vectors.T @ moments.first, white)
        result = recover(decompose(tensor, random), white, vectors)
        assert result.words.min() >= 0
        assert np.allclose(result.words.sum(axis=1), 1, rtol=1e-9, atol=0)
        assert result.weights.sum() == pytest.approx(1)
        assert np.isfinite(result.total)
    assert split > 20


@pytest.mark.parametrize("alpha0", [0.002, 0.3, 1.0, 700.0])
def test_bisection(alpha0: float) -> None:
    asked: list[float] = []

    def falls(value: float) -> float | None:
        asked.append(value)
        return None if value > 20 * alpha0 else 1 + np.log(alpha0 / value) / 10

    assert solve_alpha0(falls) == pytest.approx(alpha0, rel=1e-4)
    assert len(asked) < 25
    assert LEAST < min(asked) < max(asked) < MOST


def test_bisection_without_a_solution_ends_at_an_edge() -> None:
    assert solve_alpha0(lambda _: 2.0) == pytest.approx(MOST, rel=1e-3)
    assert solve_alpha0(lambda _: 0.5) == pytest.approx(LEAST, rel=1e-3)
    assert solve_alpha0(lambda _: None) == pytest.approx(LEAST, rel=1e-3)
