"""Shares of documents: the kernels against the formulas they stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import psi

from strod.model.inference import (
    GUESSED,
    LEAST,
    PRIOR,
    ROUNDS,
    ROUNDS_GUESSED,
    WORTH,
    document_shares,
    exp_digamma,
    infer,
    near,
    posterior,
    prior_of,
    resume,
    single_topic,
    sparse_shares,
)
from strod.values.split import FineTopics
from tests.tree.helpers import random_counts, topical

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from strod.moments.counts import Counts

    Array = NDArray[np.float64]

python_exp_digamma: Callable[[float], float] = exp_digamma.py_func  # type: ignore[attr-defined]


def fine_topics(seed: int, size: int = 4, width: int = 9) -> FineTopics:
    random = np.random.default_rng(seed)
    return FineTopics(random.gamma(0.3, 20, (size, width)).astype(np.float32))


def naive(
    documents: Counts, phi: Array, theta: Array, rounds: int, prior: Array | None = None
) -> tuple[Array, Array]:
    """θ and n after so many rounds of γ = a + n, θ = exp ψ(γ), document by document."""
    prior = np.full_like(theta, PRIOR) if prior is None else prior
    table = documents.power(1).toarray()
    theta, expected = theta.copy(), np.zeros_like(theta)
    for d, counts in enumerate(table):
        if not counts.any():
            continue
        for step in range(rounds + 1):
            if step:
                theta[d] = [python_exp_digamma(g) for g in prior[d] + expected[d]]
            joint = theta[d][:, None] * phi
            expected[d] = (counts * joint / joint.sum(axis=0)).sum(axis=1)
    return theta, expected


def evidence(documents: Counts, topics: FineTopics, theta: Array) -> Array:
    """Σ_d h_d·(c_dx / Σ_z θ_dz·φ_zx)·θ_dz, word by word."""
    table = documents.power(1).toarray()
    found = np.zeros(topics.words.shape)
    for d, x in np.argwhere(table):
        ratio = table[d, x] / (theta[d] @ topics.words[x])
        found[x] += documents.document_weight[d] * ratio * theta[d]
    return found


def test_exp_digamma() -> None:
    x = np.concatenate([np.geomspace(0.01, 1e9, 4000), [1.0, 0.5, PRIOR]])
    found = np.array([python_exp_digamma(float(one)) for one in x])
    np.testing.assert_allclose(found, np.exp(psi(x)), rtol=5e-9)


def test_exp_digamma_near_zero_is_not_below_zero() -> None:
    found = [python_exp_digamma(x) for x in np.geomspace(1e-300, PRIOR, 200)]
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()
    assert found[0] == 0


@pytest.mark.parametrize("rounds", [0, 1, 3, ROUNDS])
@pytest.mark.parametrize("size", [1, 3, 4, 5, 9])
def test_inference_is_the_documented_update(size: int, rounds: int) -> None:
    some, topics = random_counts(size), fine_topics(size, size)
    tokens = some.tokens.copy()
    tokens[: some.indptr[1]] *= 200  # a long document has less say
    documents = replace(some, tokens=tokens)
    assert documents.document_weight.min() < 0.9
    equal = np.full((documents.size, topics.size), 1 / topics.size)
    theta, expected = naive(documents, topics.words.T, equal, rounds)
    found = infer(topics, documents, rounds=rounds, evidence=True)
    np.testing.assert_allclose(found.expected, expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(
        found.evidence[:, : topics.size], evidence(documents, topics, theta), rtol=1e-10
    )
    assert not len(infer(topics, documents, rounds=rounds).evidence)


def test_inference_from_other_shares() -> None:
    documents, topics = random_counts(8), fine_topics(8)
    start = np.random.default_rng(8).dirichlet(np.ones(topics.size), documents.size)
    theta, expected = naive(documents, topics.words.T, start, 2)
    found = infer(topics, documents, start, 2, evidence=True)
    np.testing.assert_allclose(found.expected, expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(
        found.evidence[:, : topics.size], evidence(documents, topics, theta), rtol=1e-10
    )
    equal = np.full_like(start, 1 / topics.size)
    assert not np.allclose(naive(documents, topics.words.T, equal, 2)[1], expected)


@pytest.mark.parametrize("leaning", [False, True])
def test_inference_goes_on_from_expected_counts(leaning: bool) -> None:
    documents, topics = random_counts(9), fine_topics(9)
    before = infer(topics, documents, rounds=2).expected.astype(np.float32)
    prior = prior_of(topics, documents) if leaning else np.full(before.shape, PRIOR)
    start = np.exp(psi(prior + before))
    theta, expected = naive(documents, topics.words.T, start, 1, prior)
    found = resume(topics, documents, before, 2, prior if leaning else None, evidence=True)
    np.testing.assert_allclose(
        found.evidence[:, : topics.size], evidence(documents, topics, theta), rtol=1e-7
    )
    np.testing.assert_allclose(found.expected, expected, rtol=1e-7, atol=1e-14)


def test_expected_counts_add_up_to_the_document() -> None:
    documents, topics = random_counts(3), fine_topics(3)
    expected = infer(topics, documents).expected
    np.testing.assert_allclose(expected.sum(axis=1), documents.length(1), rtol=1e-12)
    assert (expected >= 0).all()


def test_words_are_distributions_without_zeros() -> None:
    topics = FineTopics(np.array([[10, 0, 0], [0, 0, 1000]], dtype=np.float32))
    words = topics.words
    np.testing.assert_allclose(words.sum(axis=0), 1)
    assert (words > 0).all()
    np.testing.assert_allclose(words[:, 0], [11 / 13, 1 / 13, 1 / 13])


def test_little_evidence_is_not_outweighed_by_smoothing() -> None:
    faint = FineTopics(np.array([[0.02, 0, 0, 0], [0, 0, 0, 0.02]], dtype=np.float32))
    assert faint.words[0, 0] > 0.4


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_shares_sum_to_one_or_are_empty(seed: int) -> None:
    documents, topics = random_counts(seed, 40), fine_topics(seed, size=30)
    shares = document_shares(topics, documents)
    dense = shares.dense(topics.size)
    empty = documents.length(1) == 0
    assert empty.any()
    assert (np.diff(shares.indptr)[empty] == 0).all()
    np.testing.assert_allclose(dense[~empty].sum(axis=1), 1, atol=1e-6)
    assert (shares.values > 0).all()


def test_small_shares_are_dropped_and_the_others_keep_their_proportions() -> None:
    expected = np.array([[6.0, 3.0, 0.05, 0.0], [0, 0, 0, 0], [1, 1, 1, 1]])
    shares = sparse_shares(expected).dense(4)
    np.testing.assert_allclose(shares[0], [2 / 3, 1 / 3, 0, 0], atol=1e-7)
    assert not shares[1].any()
    np.testing.assert_allclose(shares[2], 0.25)


def test_many_equal_shares_are_not_all_dropped() -> None:
    """With 200 topics an equal share is below the limit, but it is all there is."""
    topics = round(2 / LEAST)
    dense = sparse_shares(np.ones((1, topics))).dense(topics)
    np.testing.assert_allclose(dense, 1 / topics, rtol=1e-6)


def test_documents_without_words_have_no_say_in_the_shares_of_others() -> None:
    documents, topics = random_counts(6, 40), fine_topics(6, size=7)
    guess = single_topic(topics, documents)
    prior = PRIOR + WORTH * guess
    found = infer(topics, documents, near(guess), ROUNDS_GUESSED, prior).expected
    some, whole = document_shares(topics, documents), sparse_shares(found)
    for name in ("indptr", "indices", "values"):
        assert getattr(some, name).tobytes() == getattr(whole, name).tobytes()
        assert getattr(some, name).dtype == getattr(whole, name).dtype
    silent = topical([[0, 0, 0], [0, 0, 0]])
    none = document_shares(FineTopics(np.ones((2, 3), dtype=np.float32)), silent)
    assert none.indptr.tolist() == [0, 0, 0]
    assert not none.values.size


def test_rows_of_shares_between_empty_ones() -> None:
    shares = sparse_shares(np.array([[1.0, 3.0], [2.0, 0.0]]))
    spread = shares.among(np.array([False, True, False, True, False])).dense(2)
    wanted = np.array([[0, 0], [0.25, 0.75], [0, 0], [1, 0], [0, 0]])
    np.testing.assert_allclose(spread, wanted, atol=1e-7)


def test_shares_do_not_depend_on_the_other_documents() -> None:
    documents, topics = random_counts(5, 20), fine_topics(5, size=12)
    together = document_shares(topics, documents).dense(12)
    for d in range(documents.size):
        alone = document_shares(topics, documents.sample(np.arange(documents.size) == d)).dense(12)
        assert alone.tobytes() == together[d].tobytes()


def test_a_short_document_is_not_spread_over_similar_topics() -> None:
    """Plain EM leaves a word that two topics have at what it says of them, .6."""
    topics = FineTopics(np.array([[60, 40, 0], [40, 60, 0], [0, 1, 99]], dtype=np.float32))
    lengths = [1, 2, 5, 10]
    largest = document_shares(topics, topical([[n, 0, 0] for n in lengths])).dense(3)[:, 0]
    assert (np.diff(largest) > 0).all()  # one token tells less than ten
    assert largest[0] > 0.6
    assert largest[2] > 0.9


def naive_guess(documents: Counts, topics: FineTopics) -> Array:
    """p_z·Π φ^(b·c), document by document."""
    table, phi = documents.power(1).toarray(), topics.words.T
    weights = topics.counts.sum(axis=1) / topics.counts.sum()
    found = np.zeros((documents.size, topics.size))
    for d, counts in enumerate(table):
        if counts.any():
            power = min(0.5, 5 / counts.sum())
            found[d] = weights * np.prod(phi ** (power * counts), axis=1)
            found[d] /= found[d].sum()
    return found


@pytest.mark.parametrize("seed", range(4))
def test_guess_of_the_one_topic(seed: int) -> None:
    documents, topics = random_counts(seed, 30), fine_topics(seed)
    found = single_topic(topics, documents)
    np.testing.assert_allclose(found, naive_guess(documents, topics), rtol=1e-6, atol=1e-12)
    assert (found[documents.length(1) == 0] == 0).all()


def test_guess_of_a_long_document_stays_open_and_finite() -> None:
    topics = fine_topics(2)
    found = single_topic(topics, topical([[4, 0, 3, 0, 0, 0, 2, 0, 1], [4000] * 9, [0] * 9]))
    np.testing.assert_allclose(found.sum(axis=1), [1, 1, 0])
    assert found[1].max() < 0.99  # nine thousand tokens are worth five


@pytest.mark.parametrize("seed", range(4))
def test_shares_lean_to_the_guess(seed: int) -> None:
    documents, topics = random_counts(seed), fine_topics(seed)
    guess = naive_guess(documents, topics)
    near, prior = GUESSED * guess + (1 - GUESSED) / topics.size, PRIOR + WORTH * guess
    _, expected = naive(documents, topics.words.T, near, ROUNDS_GUESSED, prior)
    found = document_shares(topics, documents).dense(topics.size)
    np.testing.assert_allclose(found, sparse_shares(expected).dense(topics.size), atol=1e-6)


def test_a_topic_that_explains_all_words_wins_over_one_for_each() -> None:
    """Two words, each a little likelier under a topic of its own: one topic has both."""
    counts = np.array([[60, 1, 39], [1, 60, 39], [30, 30, 40]], dtype=np.float32)
    topics, document = FineTopics(counts), topical([[1, 1, 0]])
    plain = sparse_shares(infer(topics, document).expected).dense(3)[0]
    assert plain[2] < 0.01
    assert document_shares(topics, document).dense(3)[0, 2] > 0.6


@pytest.mark.parametrize("seed", range(3))
def test_posterior_of_every_count(seed: int) -> None:
    documents, topics = random_counts(seed), fine_topics(seed)
    shares = document_shares(topics, documents).dense(topics.size)
    found = posterior(topics, documents, shares, np.array([0, 1, 0, 2])).T
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    row = np.repeat(np.arange(documents.size), np.diff(documents.indptr))
    length = documents.length(1)
    for j, (d, word) in enumerate(zip(row, documents.indices, strict=True)):
        kept = shares[d] > 0
        weight = np.where(kept, np.exp(psi(PRIOR + shares[d] * length[d])), 0)
        joint = weight * topics.words[word]
        grouped = np.array([joint[[0, 2]].sum(), joint[1], joint[3]]) / joint.sum()
        np.testing.assert_allclose(found[j], grouped, atol=1e-6)


def test_posterior_of_some_groups_only() -> None:
    documents, topics = random_counts(1), fine_topics(1)
    shares = document_shares(topics, documents).dense(topics.size)
    every = posterior(topics, documents, shares, np.array([0, 1, 2, 3]))
    some = posterior(topics, documents, shares, np.array([-1, 0, -1, 1]))
    np.testing.assert_allclose(some, every[[1, 3]], atol=1e-7)


def test_posterior_where_nothing_is_known() -> None:
    documents, topics = random_counts(1), fine_topics(1)
    found = posterior(topics, documents, np.zeros((documents.size, 4)), np.arange(4))
    assert (found == 0).all()
