"""The network of words and its EM, against plain loops over all ordered pairs."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.sparse import csr_array

from strod.errors import UsageError
from strod.methods.baselines import network as module
from strod.methods.baselines.network import (
    Network,
    Parts,
    check_room,
    count_edges,
    start,
    subnetworks,
    sweep,
)

MEMORY = 1 << 30


def documents(seed: int, rows: int = 40, words: int = 12) -> csr_array:
    random = np.random.default_rng(seed)
    return csr_array(random.poisson(0.3, (rows, words)).astype(np.int32))


def edges_of(network: Network) -> dict[tuple[int, int], float]:
    return {
        (i, int(network.indices[edge])): float(network.weights[edge])
        for i in range(len(network.indptr) - 1)
        for edge in range(network.indptr[i], network.indptr[i + 1])
    }


def naive_edges(counts: csr_array) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    for row in counts.toarray():
        for pair in combinations(np.flatnonzero(row).tolist(), 2):
            found[pair] = found.get(pair, 0.0) + 1.0
    return found


def naive_expected(
    edges: dict[tuple[int, int], float], parts: Parts
) -> dict[tuple[int, ...], float]:
    """ê of every ordered pair and part."""
    k = len(parts.rho)
    found: dict[tuple[int, ...], float] = {}
    for (a, b), weight in edges.items():
        for i, j in ((a, b), (b, a)):
            rates = [parts.rho[z] * parts.theta[i, z] * parts.theta[j, z] for z in range(k)]
            for z in range(k):
                found[i, j, z] = weight * rates[z] / sum(rates)
    return found


def naive_sweep(edges: dict[tuple[int, int], float], parts: Parts) -> Parts:
    rho, theta = np.zeros_like(parts.rho), np.zeros_like(parts.theta)
    for (i, _, z), value in naive_expected(edges, parts).items():
        rho[z] += value
        theta[i, z] += value
    return Parts(rho, theta / rho)


def naive_likelihood(edges: dict[tuple[int, int], float], parts: Parts) -> float:
    """Of the Poisson model over all ordered pairs, also those of a word with itself."""
    words, k = parts.theta.shape
    total = 0.0
    for i, j in product(range(words), repeat=2):
        rate = sum(parts.rho[z] * parts.theta[i, z] * parts.theta[j, z] for z in range(k))
        seen = edges.get((min(i, j), max(i, j)), 0.0)
        total += (seen * np.log(rate) if seen else 0.0) - rate
    return total


@pytest.mark.parametrize("block", [1, 7, 1 << 23])
def test_edges(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    counts = documents(1)
    found = count_edges(counts, MEMORY)
    assert edges_of(found) == naive_edges(counts)
    strength = np.zeros(counts.shape[1])
    for (i, j), weight in naive_edges(counts).items():
        strength[[i, j]] += weight
    np.testing.assert_allclose(found.strength, strength)


def test_no_edges() -> None:
    found = count_edges(csr_array(np.eye(3, dtype=np.int32)), MEMORY)
    assert edges_of(found) == {}
    assert found.strength.tolist() == [0, 0, 0]


def test_a_network_that_would_not_fit() -> None:
    with pytest.raises(UsageError, match=r"^method cathy: .* edges, which need .*min_df .*$"):
        count_edges(documents(1), 36 * 10)


def test_room_for_the_networks_below() -> None:
    """Edges of weight 1, 2.5 and 9; two children: at most 1, 2 and 2 networks of level 1."""
    network = Network(np.array([0, 2, 3, 3]), np.array([1, 2, 2]), np.array([1.0, 2.5, 9.0]))
    flat, deep = 17 * 3 + 12 * 3, 17 * 3 + 12 * (3 + 5) + 12 * (1 + 2.5 + 4)
    check_room(network, 2, 1, flat)
    check_room(network, 2, 3, int(deep))
    for height, memory in ((1, flat - 1), (3, int(deep) - 1)):
        with pytest.raises(UsageError, match=r"^method cathy: .* about 3 edges"):
            check_room(network, 2, height, memory)


@pytest.mark.parametrize("seed", range(4))
def test_em_against_loops(seed: int) -> None:
    counts = documents(seed)
    network, edges = count_edges(counts, MEMORY), naive_edges(counts)
    parts = expected = start(network, 3, np.random.default_rng(seed))
    likelihoods = []
    for _ in range(12):
        before = expected
        parts, likelihood = sweep(network, parts)
        expected = naive_sweep(edges, expected)
        np.testing.assert_allclose(parts.rho, expected.rho, rtol=1e-9)
        np.testing.assert_allclose(parts.theta, expected.theta, rtol=1e-7, atol=1e-12)
        assert likelihood == pytest.approx(naive_likelihood(edges, before), rel=1e-9)
        likelihoods.append(likelihood)
    assert np.diff(likelihoods).min() >= 0
    assert likelihoods[-1] > likelihoods[0] + 1
    np.testing.assert_allclose(parts.theta.sum(axis=0), 1)
    assert parts.rho.sum() == pytest.approx(2 * network.weights.sum())


@pytest.mark.parametrize("seed", range(10))
def test_the_likelihood_never_falls(seed: int) -> None:
    network = count_edges(documents(seed, rows=300, words=40), MEMORY)
    parts = start(network, 4, np.random.default_rng(seed))
    found = []
    for _ in range(150):
        parts, likelihood = sweep(network, parts)
        found.append(likelihood)
    assert (np.diff(found) >= -1e-12 * np.abs(found[1:])).all()
    assert np.isfinite(parts.theta).all()


def test_subnetworks_have_the_edges_of_weight_one_or_more() -> None:
    counts = documents(5, rows=120)
    network, edges = count_edges(counts, MEMORY), naive_edges(counts)
    parts = start(network, 2, np.random.default_rng(0))
    for _ in range(5):
        parts, _ = sweep(network, parts)
    expected = naive_expected(edges, parts)
    found = list(subnetworks(network, parts))
    dropped = 0
    for z, inside in enumerate(found):
        wanted = {(i, j): expected[i, j, z] for i, j in edges if expected[i, j, z] >= 1}
        dropped += len(edges) - len(wanted)
        assert edges_of(inside) == pytest.approx(wanted)
    assert 0 < dropped < 2 * len(edges)


def test_two_cliques_are_found() -> None:
    """Ten documents with one half of the words, ten with the other: EM divides them."""
    counts = np.zeros((20, 8), dtype=np.int32)
    counts[:10, :4] = counts[10:, 4:] = 1
    network = count_edges(csr_array(counts), MEMORY)
    parts = start(network, 2, np.random.default_rng(3))
    for _ in range(200):
        parts, _ = sweep(network, parts)
    order = np.argsort(parts.theta[0])
    np.testing.assert_allclose(parts.theta[:4, order], [[0, 0.25]] * 4, atol=1e-6)
    np.testing.assert_allclose(parts.theta[4:, order], [[0.25, 0]] * 4, atol=1e-6)
    np.testing.assert_allclose(parts.rho, 120)  # 10 documents with 6 pairs, either way round
