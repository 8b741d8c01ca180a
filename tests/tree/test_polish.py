"""Polish and overlap against plain loops; neither blocks nor threads matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import psi

from strod.datasets.planted import plant
from strod.model.inference import PRIOR, exp_digamma, infer, prior_of, sparse_shares
from strod.model.polish import overlap, polish
from strod.moments.counts import LONG
from strod.values.split import FineTopics
from tests.tree.helpers import parts, random_counts, topical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.moments.counts import Counts

    Array = NDArray[np.float64]

SWEEPS = 4


def start(seed: int = 0, size: int = 3, width: int = 9) -> FineTopics:
    random = np.random.default_rng(seed)
    return FineTopics(random.gamma(0.5, 6, (size, width)).astype(np.float32))


def documents(seed: int = 0, count: int = 30) -> Counts:
    """Short ones, an empty one, and one so long that its tokens count less."""
    table = random_counts(seed, count).power(1).toarray()
    table[5] *= 2 * LONG / table[5].sum()
    return topical(table)


def naive_inference(
    counts: Array, phi: Array, theta: Array, rounds: int, prior: Array | float = PRIOR
) -> tuple[Array, Array]:
    """θ and the expected number of tokens by topic and word, of one document."""
    joint = theta[:, None] * phi
    for _ in range(rounds):
        expected = (counts * joint / joint.sum(axis=0)).sum(axis=1)
        theta = np.array([exp_digamma.py_func(g) for g in prior + expected])  # type: ignore[attr-defined]
        joint = theta[:, None] * phi
    return theta, counts * joint / joint.sum(axis=0)


def naive_guess(table: Array, topics: FineTopics) -> Array:
    """g ∝ p_z·Π_x φ_zx^(b·c_x) with b = min(1/2, 5 / Σ_x c_x); nothing without words."""
    weights, found = topics.counts.sum(axis=1, dtype=np.float64), []
    for counts in table:
        power = min(0.5, 5 / counts.sum()) if counts.any() else 0.0
        chance = weights / weights.sum() * np.prod(topics.words.T ** (power * counts), axis=1)
        found.append(chance / chance.sum() * counts.any())
    return np.array(found)


def naive_polish(
    table: Array, topics: FineTopics, sweeps: int, *, leaning: bool = False, guess: bool = False
) -> FineTopics:
    m = topics.size
    say = np.minimum(1, LONG / np.maximum(table.sum(axis=1), LONG))
    theta = np.full((len(table), m), 1 / m)
    expected = np.zeros((len(table), m))
    if guess:
        theta = 0.3 * theta + 0.7 * naive_guess(table, topics)
    for sweep in range(sweeps):
        phi, total = topics.words.T, np.zeros(topics.counts.shape)
        prior = prior_of(topics, topical(table)) if leaning else np.full_like(theta, PRIOR)
        for d, counts in enumerate(table):
            if counts.any():
                if sweep:  # goes on from the expected counts, as they are kept between sweeps
                    theta[d] = np.exp(psi(prior[d] + expected[d].astype(np.float32)))
                rounds = 0 if sweep else (2 if guess else 3)
                theta[d], tokens = naive_inference(counts, phi, theta[d], rounds, prior[d])
                expected[d] = tokens.sum(axis=1)
                total += say[d] * tokens
        topics = FineTopics(total.astype(np.float32))
    return topics


@pytest.mark.parametrize("leaning", [False, True])
@pytest.mark.parametrize("guess", [False, True])
@pytest.mark.parametrize("sweeps", [1, 2, SWEEPS])
@pytest.mark.parametrize("seed", range(3))
def test_polish_is_what_a_naive_version_does(
    seed: int, sweeps: int, leaning: bool, guess: bool
) -> None:
    whole, how = documents(seed), {"leaning": leaning, "guess": guess}
    expected = naive_polish(whole.power(1).toarray(), start(seed), sweeps, **how)
    found = polish([whole], start(seed), sweeps, 1, **how).topics
    np.testing.assert_allclose(found.counts, expected.counts, rtol=2e-6, atol=1e-9)
    assert not np.allclose(found.counts, start(seed).counts, rtol=0.1)


def test_no_sweeps_change_nothing() -> None:
    topics = start()
    assert polish([documents()], topics, 0, 1)[0] is topics


def test_expected_counts_add_up_to_the_tokens_that_count() -> None:
    whole = documents()
    found = polish([whole], start(), 2, 1).topics
    tokens = whole.power(1).T @ whole.document_weight
    np.testing.assert_allclose(found.counts.sum(axis=0), tokens, rtol=1e-5)


@pytest.mark.parametrize("number", [2, 3, 7])
def test_blocks_change_nothing_but_the_rounding(number: int) -> None:
    whole = documents(1)
    expected = polish([whole], start(1), SWEEPS, 1).topics
    found = polish(parts(whole, number), start(1), SWEEPS, 1).topics
    np.testing.assert_allclose(found.counts, expected.counts, rtol=1e-4, atol=1e-6)
    one, several = (overlap(b, found, 1) for b in ([whole], parts(whole, number)))
    for a, b in zip(one, several, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_threads_change_not_a_byte(workers: int) -> None:
    blocks = parts(documents(2, 60), 8)
    expected = polish(blocks, start(2), SWEEPS, 1).topics
    found = polish(blocks, start(2), SWEEPS, workers).topics
    assert found.counts.tobytes() == expected.counts.tobytes()
    pairs = zip(overlap(blocks, found, workers), overlap(blocks, found, 1), strict=True)
    assert all(one.tobytes() == other.tobytes() for one, other in pairs)


def test_documents_are_left_alone() -> None:
    whole = documents(3)
    before = [array.tobytes() for array in (whole.tokens, whole.probability, whole.indices)]
    polish([whole], start(3), 2, 1)
    assert before == [array.tobytes() for array in (whole.tokens, whole.probability, whole.indices)]


@pytest.mark.parametrize("seed", range(3))
def test_overlap(seed: int) -> None:
    whole, topics = documents(seed), start(seed)
    shares = sparse_shares(infer(topics, whole).expected).dense(topics.size)
    tokens = whole.document_weight * whole.length(1)
    weights, joint, squares = np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    for share, length in zip(shares, tokens, strict=True):
        weights += length * share
        joint += length * np.outer(share, share)
        squares += (length * share) ** 2
    found = overlap([whole], topics, 1)
    np.testing.assert_allclose(found.weights, weights / weights.sum())
    np.testing.assert_allclose(found.joint, joint / weights.sum())
    np.testing.assert_allclose(found.documents, weights**2 / squares)
    np.testing.assert_allclose(found.weights.sum(), 1)
    np.testing.assert_allclose(found.joint.sum(axis=1), found.weights, rtol=1e-6)
    assert found.documents.max() <= whole.size


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_overlap_goes_on_from_expected_counts(rounds: int) -> None:
    whole, topics = documents(7), start(7)
    before = np.random.default_rng(7).gamma(1, 1, (whole.size, topics.size)).astype(np.float32)
    expected: Array = before.astype(np.float64)
    for d, counts in enumerate(whole.power(1).toarray()):
        if rounds and counts.any():
            theta = np.exp(psi(PRIOR + expected[d]))
            _, tokens = naive_inference(counts, topics.words.T, theta, rounds - 1)
            expected[d] = tokens.sum(axis=1)
        elif rounds:
            expected[d] = 0
    shares = sparse_shares(expected).dense(topics.size)
    tokens = shares * (whole.document_weight * whole.length(1))[:, None]
    weights = tokens.sum(axis=0)
    found = overlap([whole], topics, 1, [before], rounds)
    np.testing.assert_allclose(found.weights, weights / weights.sum(), rtol=1e-6)
    np.testing.assert_allclose(found.joint, shares.T @ tokens / weights.sum(), rtol=1e-5)
    np.testing.assert_allclose(found.documents, weights**2 / (tokens**2).sum(axis=0), rtol=1e-5)


def test_overlap_of_documents_that_say_nothing() -> None:
    found = overlap([topical(np.zeros((4, 9)))], start(), 1)
    for array in found:
        assert (array == 0).all()


def test_topics_are_pulled_apart() -> None:
    """Two kinds of documents, and two topics that begin as nearly the same mixture."""
    random = np.random.default_rng(0)
    table = np.zeros((60, 8))
    table[:30, :4], table[30:, 4:] = random.poisson(3, (30, 4)), random.poisson(3, (30, 4))
    counts = np.full((2, 8), 20, dtype=np.float32)
    counts[0, :4] += 1
    found = polish([topical(table)], FineTopics(counts), 12, 1)[0].counts
    assert found[0, :4].sum() > 0.99 * table[:30].sum()
    assert found[1, 4:].sum() > 0.99 * table[30:].sum()


@pytest.mark.parametrize("rounds", [0, 1])
def test_overlap_from_where_polish_left_is_as_good(rounds: int) -> None:
    truth = plant(2, documents=400, length=40, children=3, words=60)
    whole = topical(truth.counts.toarray())
    start = FineTopics((4000 * (0.7 * truth.parents + 0.3 / 60)).astype(np.float32))
    topics, state, _ = polish([whole], start, 5, 1)
    resumed = overlap([whole], topics, 1, state, rounds)
    anew = overlap([whole], topics, 1)
    np.testing.assert_allclose(resumed.weights, anew.weights, atol=0.02)
    np.testing.assert_allclose(resumed.joint, anew.joint, atol=0.02)
    assert resumed.weights.sum() == pytest.approx(1)
