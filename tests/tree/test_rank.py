"""Where the spectrum ends the number of topics is known, and all of them are found."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from strod.datasets.planted import plant, recovery_error
from strod.engine.threads import Serial, Threads
from strod.model.grouping import inner_children
from strod.model.inference import PRIOR, infer
from strod.model.options import TreeOptions
from strod.model.polish import TRACE, converge
from strod.model.rank import MOST_RANK, may_end, spectral_rank
from strod.values.split import FineTopics, Merge
from strod.values.topic import ROOT
from tests.tree.helpers import check_tree, digests, grow_matrix, grown, topical, words_on_level

if TYPE_CHECKING:
    from strod.datasets.planted import Planted


@cache
def planted(documents: int = 4000) -> Planted:
    return plant(3, documents=documents, children=3, words=400, alpha0=0.6, shared=0.2)


@pytest.mark.parametrize(
    ("values", "rank"),
    [
        ([9.0, 3.0, 1.5, 0.5, 0.4], 3),
        ([9.0, 3.0, 1.5, 1.4, 1.3], None),  # all above the noise: no end in sight
        ([9.0, 3.0, 1.1, 0.95, 0.8], None),  # falls slowly into it
        ([9.0, 1.2, 0.9, 0.3, 0.25], 3),  # the last one below the bound, and clear of chance
        ([9.0, 1.2, 0.7, 0.3, 0.25], 2),  # too low to count
        ([9.0, 0.4, 0.3], None),  # one topic is no split
        ([9.0, 2.0, -0.1], 2),
        ([9.0], None),
    ],
)
def test_the_step_down_to_chance(values: list[float], rank: int | None) -> None:
    assert spectral_rank(np.array(values), 1.0) == rank
    assert spectral_rank(7 * np.array(values), 7.0) == rank


def test_more_than_are_looked_for_have_no_end() -> None:
    assert may_end(np.ones(MOST_RANK) * 2, 1.0)
    assert not may_end(np.ones(MOST_RANK + 1) * 2, 1.0)


def test_sweeps_are_those_of_the_formula() -> None:
    random = np.random.default_rng(5)
    documents = topical(random.poisson(1.5, (30, 8))).entire()
    start = FineTopics(random.uniform(1, 9, (3, 8)).astype(np.float32))
    found = converge([documents], start, 1, 1).topics
    phi = start.counts + TRACE
    phi = (phi / phi.sum(axis=1, keepdims=True)).T
    total = np.zeros((8, 3))
    for row in documents.power(1).toarray():
        theta = np.full(3, 1 / 3)
        for step in range(6):
            ratio = row / (phi @ theta)
            expected = theta * (ratio @ phi)
            if step < 5:
                theta = np.exp([digamma(PRIOR + n) for n in expected])
        total += theta * phi * ratio[:, None]
    assert np.allclose(found.counts, total.T, rtol=1e-4)


def digamma(x: float) -> float:
    """ψ(x), by its recurrence and its asymptotic series."""
    total = 0.0
    while x < 20:
        total -= 1 / x
        x += 1
    return total + float(np.log(x)) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4)


def test_sweeps_end_where_topics_stand_still() -> None:
    counts = topical(np.random.default_rng(1).poisson(1.0, (40, 6))).entire()
    start = FineTopics(np.ones((2, 6), dtype=np.float32) * np.arange(1, 3)[:, None])
    many, more = (converge([counts], start, sweeps, 1).topics for sweeps in (500, 501))
    assert np.array_equal(many.counts, more.counts)
    expected = infer(many, counts).expected.sum(axis=1)
    assert np.allclose(expected, counts.length(1))


def test_all_leaves_are_found(request: pytest.FixtureRequest) -> None:
    tree, book = grown(planted().counts, children=3, height=2)
    check_tree(tree, book, *planted().counts.shape)
    assert list(tree.splits) == [ROOT]
    assert tree.splits[ROOT].topics.size == 9
    level, leaves = (
        recovery_error(words_on_level(tree, number), truth)
        for number, truth in ((1, planted().parents), (2, planted().leaves))
    )
    assert level < 0.1
    assert leaves < 0.15
    request.getfixturevalue("endless")
    usual, _ = grown(planted().counts, children=3, height=2)
    assert len(usual.splits) == 4
    assert leaves < recovery_error(words_on_level(usual, 2), planted().leaves)


def test_more_documents_come_nearer() -> None:
    errors = []
    for documents in (4000, 16_000):
        drawn = plant(3, documents=documents, children=3, words=400, alpha0=0.6, child_alpha0=0.4)
        tree, _ = grown(drawn.counts, children=3, height=2)
        errors.append(recovery_error(words_on_level(tree, 2), drawn.leaves))
    assert errors[0] > 1.6 * errors[1]


def test_a_word_that_is_often_repeated_has_its_whole_probability(
    request: pytest.FixtureRequest,
) -> None:
    random = np.random.default_rng(2)
    phi = np.full((2, 40), 0.25 / 19)
    phi[0, 20:] = phi[1, :20] = 0.0
    phi[0, 0] = phi[1, 20] = 0.75  # most tokens of a document are one word: clipping takes them
    theta = random.dirichlet([0.3, 0.3], 3000)
    counts = type(planted().counts)(np.stack([random.multinomial(30, row @ phi) for row in theta]))
    tree, _ = grown(counts, children=2, height=1)
    assert recovery_error(words_on_level(tree, 1), phi) < 0.06
    request.getfixturevalue("endless")
    tree, _ = grown(counts, children=2, height=1)
    assert recovery_error(words_on_level(tree, 1), phi) > 0.5


@pytest.mark.parametrize("options", [{"children": 3}, {"children": "auto"}, {"children": (3, 2)}])
def test_a_shallow_tree_is_the_top_of_a_deep_one(options: dict[str, Any]) -> None:
    trees = [grown(planted().counts, **options, height=height)[0] for height in (2, 3)]
    top = {name: node for name, node in trees[1].nodes.items() if node.level < 2}
    for name, node in top.items():
        assert np.array_equal(node.words, trees[0].nodes[name].words)
        assert (node.weight, node.documents) == (
            trees[0].nodes[name].weight,
            trees[0].nodes[name].documents,
        )


def test_the_number_of_children_is_found_on_both_levels() -> None:
    tree, _ = grown(planted().counts, height=2)
    assert len(tree.nodes[ROOT].children) == 3
    assert [len(tree.nodes[one].children) for one in tree.nodes[ROOT].children] == [3, 3, 3]


@pytest.mark.parametrize(
    ("lifts", "most", "children"),
    [
        ([1.2, 1.1, 1.05], 10, 4),  # siblings
        ([0.7, 0.65, 0.6], 10, 4),  # siblings that avoid each other
        ([1.2, 1.1, 1.05], 3, 3),
        ([3.0, 2.9, 0.8], 10, 2),  # two pairs
        ([4.0, 1.0, 0.9], 10, 3),
        ([3.0], 10, 2),
    ],
)
def test_children_among_fine_topics(lifts: list[float], most: int, children: int) -> None:
    kept = [(0, 1), (2, 3), (0, 2)] if len(lifts) == 3 else [(0, 1)]
    merges = [Merge(*pair, lift) for pair, lift in zip(kept, lifts, strict=True)]
    assert inner_children(merges, range(len(lifts) + 1), most) == children


def test_workers_do_not_matter() -> None:
    options = TreeOptions(children=3, height=2)
    one, many = (
        digests(grow_matrix(planted().counts, options, engine)[0])
        for engine in (Serial(), Threads(3))
    )
    assert one == many


def test_more_children_than_there_are_topics_are_learnt_anew() -> None:
    tree, _ = grown(planted().counts, children=4, height=2)
    assert len(tree.splits) > 1
    assert len(tree.nodes[ROOT].children) == 4
    tree, _ = grown(planted().counts, children=12, height=1)
    assert len(tree.nodes[ROOT].children) == 12


def test_leaves_with_enough_documents() -> None:
    tree, book = grown(planted().counts, children=3, height=2, least_documents=500)
    check_tree(tree, book, *planted().counts.shape)
    leaves = [node.documents for node in tree.nodes.values() if not node.children]
    assert min(leaves) >= 500
    assert len(tree.nodes) < 13
