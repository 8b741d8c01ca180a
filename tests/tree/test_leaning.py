"""The trial that chooses between two priors of the documents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.datasets.planted import plant
from strod.model.inference import infer, prior_of
from strod.model.polish import polish
from strod.model.prior import completion, polish_better
from strod.values.split import FineTopics
from tests.tree.helpers import parts, random_counts, topical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.moments.counts import Counts

    Array = NDArray[np.float64]

SWEEPS = 4


@pytest.mark.parametrize("given_prior", [None, 0.02, 0.5])
@pytest.mark.parametrize("number", [1, 3])
def test_completion(number: int, given_prior: float | None) -> None:
    """Every second word of a document from the others, word by word."""
    whole = topical(random_counts(6, 30).power(1).toarray())
    topics = FineTopics(np.random.default_rng(6).gamma(0.5, 6, (3, 9)).astype(np.float32))

    def chosen(given: Counts) -> Array:
        return prior_of(topics, given) if given_prior is None else np.full((1, 3), given_prior)

    total = tokens = 0.0
    for counts in whole.power(1).toarray():
        there = np.flatnonzero(counts)
        given = np.zeros_like(counts)
        given[there[::2]] = counts[there[::2]]
        [prior] = chosen(topical([given]))
        [expected] = infer(topics, topical([given]), prior=prior[None]).expected
        theta = (prior + expected) / (prior + expected).sum()
        for word in there[1::2]:
            total += counts[word] * np.log(theta @ topics.words[word])
            tokens += counts[word]
    found = completion(parts(whole, number), topics, 1, chosen)
    assert found == pytest.approx(total / tokens)


def drawn(seed: int, topics_of_one: int, count: int = 4000) -> tuple[Counts, FineTopics]:
    """Texts of eight words with so many topics each, and a start near the truth."""
    random = np.random.default_rng(seed)
    phi = random.dirichlet(np.full(60, 0.1), 5)
    table = np.zeros((count, 60))
    for row in table:
        chosen = random.integers(5, size=topics_of_one)
        words = [random.choice(60, p=phi[z]) for z in np.resize(chosen, 8)]
        np.add.at(row, words, 1)
    blurred = 0.7 * phi + 0.3 * phi.mean(axis=0)
    return topical(table), FineTopics((blurred * count).astype(np.float32))


@pytest.mark.parametrize(("topics_of_one", "expected"), [(1, True), (2, False), (4, False)])
def test_the_prior_suits_the_documents(topics_of_one: int, expected: bool) -> None:
    whole, near = drawn(0, topics_of_one)
    found = polish_better(parts(whole, 3), near, SWEEPS, 1)
    assert found.leaning == expected
    same = polish(parts(whole, 3), near, SWEEPS, 1, leaning=expected)
    assert found.topics.counts.tobytes() == same.topics.counts.tobytes()


@pytest.mark.parametrize("seed", range(3))
def test_mixtures_of_a_planted_tree_do_not_lean(seed: int) -> None:
    truth = plant(seed, documents=1200, length=10)
    start = FineTopics((2000 * truth.parents).astype(np.float32))
    assert not polish_better([topical(truth.counts.toarray())], start, SWEEPS, 1).leaning


def test_nothing_to_foretell_says_nothing() -> None:
    """Documents of one word each, three times."""
    table = 3.0 * np.eye(4)[np.arange(2000) % 4]
    start = FineTopics(np.random.default_rng(0).gamma(1, 9, (3, 4)).astype(np.float32))
    assert np.isnan(completion([topical(table)], start, 1, partial(prior_of, start)))
    assert not polish_better([topical(table)], start, SWEEPS, 1).leaning


def test_long_documents_are_not_tried() -> None:
    whole, near = drawn(0, 1, 200)
    table = 10 * whole.power(1).toarray()
    assert not polish_better([topical(table)], near, SWEEPS, 1).leaning
    assert polish_better([whole], near, 0, 1).topics is near
