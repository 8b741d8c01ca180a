"""The last sweeps where documents were drawn from the model: topics of tokens are drawn."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import digamma

from strod.model.gibbs import TwoLevels, draw, may_be_drawn
from strod.model.inference import PRIOR
from strod.model.polish import Polished, converge
from strod.values.split import FineTopics
from tests.tree.helpers import topical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.moments.counts import Counts

    Array = NDArray[np.float64]

GROUPS = [[0, 2], [1]]
MASK = 2**64 - 1


def documents(rows: int = 12) -> Counts:
    return topical(np.random.default_rng(3).poisson(0.7, (rows, 6))).entire()


def start(blocks: list[Counts]) -> Polished:
    random = np.random.default_rng(4)
    topics = FineTopics(random.uniform(1, 9, (3, 6)).astype(np.float32), 0.01)
    state = [random.uniform(0, 3, (block.size, 3)).astype(np.float32) for block in blocks]
    return Polished(topics, list(state))


def lot(place: int, sweep: int) -> float:
    key = 0x9E3779B97F4A7C15 * ((sweep << 40) + place) & MASK
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    key = (key ^ (key >> 27)) * 0x94D049BB133111EB & MASK
    return ((key ^ (key >> 31)) >> 11) * 2.0**-53


def drawn(chances: Array, number: float) -> int:
    return int(np.searchsorted(np.cumsum(chances)[:-1], number * chances.sum(), side="right"))


def conditional(prior: TwoLevels, topics: list[int]) -> Array:
    """p(z | topics of the other tokens), over φ, as the formula has it."""
    n = np.bincount(topics, minlength=3)
    chances = np.empty(3)
    for z, t in enumerate(prior.group):
        members = np.flatnonzero(prior.group == t)
        top = prior.above[t] + n[members].sum()
        chances[z] = top / (prior.inside[members].sum() + n[members].sum())
        chances[z] *= prior.inside[z] + n[z]
    return chances


def test_a_sweep_is_that_of_the_formula() -> None:
    counts = documents()
    given = start([counts])
    found = draw([counts], given, GROUPS, 1, 1)
    phi = given.topics.words
    prior, total, place = TwoLevels.of(GROUPS), np.zeros((3, 6)), 0
    rows = counts.power(1).toarray().astype(int)
    before, after = given.state[0], found.state[0]
    assert before is not None
    assert after is not None
    for row, expected, ends in zip(rows, before, after, strict=True):
        tokens = np.repeat(np.arange(6), row)
        theta = np.exp(digamma(PRIOR + expected.astype(np.float64)))
        topics = [drawn(theta * phi[x], lot(place + i, 0)) for i, x in enumerate(tokens)]
        for i, x in enumerate(tokens):
            chances = conditional(prior, topics[:i] + topics[i + 1 :]) * phi[x]
            total[:, x] += chances / chances.sum()
            topics[i] = drawn(chances, lot(place + i, 1))
        assert np.array_equal(np.bincount(topics, minlength=3), ends)
        place += len(tokens)
    assert np.allclose(found.topics.counts, total, rtol=1e-5)


def test_draws_have_the_chances_of_the_model() -> None:
    """Two topics of tokens of one document, by all four that there are and by draws."""
    counts = topical(np.tile([1, 1, 0], (20_000, 1))).entire()
    topics = FineTopics(np.array([[8, 1, 1], [2, 6, 2], [1, 2, 7]], dtype=np.float32), 1e-9)
    given = Polished(topics, [np.ones((counts.size, 3), dtype=np.float32)])
    found = draw([counts], given, GROUPS, 1, 1).state[0]
    prior, joint = TwoLevels.of(GROUPS), np.zeros((3, 3))
    for one, two in product(range(3), repeat=2):
        first = conditional(prior, [])
        joint[one, two] = first[one] * conditional(prior, [one])[two]
        joint[one, two] *= topics.words[0, one] * topics.words[1, two]
    # one sweep leaves tokens that began with the chances of θφ: p(z₁|z₂) for all, then p(z₂|z₁)
    begun = np.ones(3) * topics.words[1] / topics.words[1].sum()
    first = (joint / joint.sum(axis=0)) @ begun
    second = first @ (joint / joint.sum(axis=1)[:, None])
    assert found is not None
    assert np.allclose(found.sum(axis=0) / counts.size, first + second, atol=0.02)


def test_fixed_point_is_that_of_the_formula() -> None:
    random = np.random.default_rng(8)
    n = random.poisson(2.0, (40, 3))
    nodes = np.column_stack([n, n[:, [0, 2]].sum(axis=1), n[:, 1], n.sum(axis=1)])
    sizes = np.stack([np.bincount(column, minlength=30) for column in nodes.T])
    prior = TwoLevels(np.array([0, 1, 0]), np.array([0.2, 0.3, 0.4]), np.array([0.5, 0.6]))
    found = prior.fitted(sizes, 1)

    def slope(alpha: float, counts: Array) -> float:
        return float((digamma(alpha + counts) - digamma(alpha)).sum())

    inside = [
        0.2 * slope(0.2, nodes[:, 0]) / slope(0.6, nodes[:, 3]),
        0.3,
        0.4 * slope(0.4, nodes[:, 2]) / slope(0.6, nodes[:, 3]),
    ]
    above = [
        a * slope(a, nodes[:, 3 + t]) / slope(1.1, nodes[:, 5]) for t, a in ((0, 0.5), (1, 0.6))
    ]
    assert np.allclose(found.inside, inside)
    assert np.allclose(found.above, above)


def test_fixed_point_finds_the_parameters() -> None:
    random = np.random.default_rng(9)
    groups = random.dirichlet([0.3, 0.7], 4000)
    inside = random.dirichlet([0.2, 0.4], 4000)
    shares = np.column_stack(
        [groups[:, 0] * inside[:, 0], groups[:, 1], groups[:, 0] * inside[:, 1]]
    )
    n = random.multinomial(60, shares)
    nodes = np.column_stack([n, n[:, [0, 2]].sum(axis=1), n[:, 1], n.sum(axis=1)])
    sizes = np.stack([np.bincount(column, minlength=61) for column in nodes.T])
    found = TwoLevels.of(GROUPS).fitted(sizes, 400)
    assert np.allclose(found.above, [0.3, 0.7], rtol=0.1)
    assert np.allclose(found.inside[[0, 2]], [0.2, 0.4], rtol=0.1)


def test_what_nobody_has_changes_nothing() -> None:
    """A group without tokens, and documents without any."""
    sizes = np.zeros((6, 5), dtype=np.int64)
    sizes[:, 0] = 3
    assert np.isfinite(TwoLevels.of(GROUPS).fitted(sizes, 2).inside).all()
    counts = topical([[0, 0], [2, 1], [0, 0]]).entire()
    given = Polished(FineTopics(np.ones((3, 2), dtype=np.float32)), [np.ones((3, 3), dtype="f4")])
    found = draw([counts], given, GROUPS, 2, 1)
    assert found.state[0] is not None
    assert found.state[0].sum(axis=1).tolist() == [0, 3, 0]


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_and_threads_change_nothing(threads: int) -> None:
    counts = documents(30)
    part = np.arange(30) < 11
    blocks, whole = [counts.sample(part), counts.sample(~part)], start([counts])
    assert whole.state[0] is not None
    parts = Polished(whole.topics, [whole.state[0][part], whole.state[0][~part]])
    one, other = draw([counts], whole, GROUPS, 5, 1), draw(blocks, parts, GROUPS, 5, threads)
    assert np.allclose(one.topics.counts, other.topics.counts, rtol=1e-5)
    again = draw(blocks, parts, GROUPS, 5, 1)
    assert np.array_equal(again.topics.counts, other.topics.counts)


def test_where_topics_are_drawn() -> None:
    assert may_be_drawn([topical([[20, 20], [0, 0]]), topical([[0, 30]])], 2)
    assert not may_be_drawn([topical([[20, 20], [0, 0]]), topical([[0, 30]])], 3)
    assert not may_be_drawn([topical([[20, 20]]), topical([[0.5, 30]])], 2)
    assert not may_be_drawn([topical([[20, 9]])], 0)


def test_it_is_nearer_to_the_truth_than_mean_field() -> None:
    """Topics of a group meet more often than others do, as mean field does not know."""
    random = np.random.default_rng(11)
    truth = random.dirichlet(np.full(40, 0.1), 4)
    parents = random.dirichlet([0.5, 0.5], 3000)
    inside = [random.dirichlet([0.3, 0.3], 3000) for _ in range(2)]
    shares = np.column_stack([parents[:, [t]] * inside[t] for t in range(2)])
    counts = topical(random.multinomial(40, shares @ truth)).entire()
    begun = converge([counts], FineTopics((truth * 30_000).astype(np.float32)), 60, 1)
    found = draw([counts], begun, [[0, 1], [2, 3]], 30, 1)
    mean_field, drawn_topics = (
        np.abs(one.topics.words.T - truth).sum(axis=1).mean() for one in (begun, found)
    )
    assert drawn_topics < 0.9 * mean_field
