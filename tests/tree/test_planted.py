"""Corpora with a known tree: the generator, and whether the tree is found again."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.datasets.planted import plant, recovery_error
from strod.model.options import TreeOptions
from tests.tree.helpers import check_tree, grow_matrix, on_level, words_on_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.datasets.planted import Planted
    from strod.tree.grown import Grown

    Array = NDArray[np.float64]

SHARED = (0.0, 0.3, 0.6)
CHILD_ALPHA0 = (0.3, 1.0)


@cache
def found(shared: float = 0.3, child_alpha0: float = 1.0, documents: int = 30_000) -> Outcome:
    """Errors on both levels, and leaves that hang below the wrong parent."""
    planted = plant(0, documents=documents, shared=shared, child_alpha0=child_alpha0)
    tree, book = grow_matrix(planted.counts, TreeOptions(children=5, height=2))
    if documents < 5000:
        check_tree(tree, book, *planted.counts.shape)
    errors = [
        recovery_error(words_on_level(tree, level), truth)
        for level, truth in ((1, planted.parents), (2, planted.leaves))
    ]
    return errors[0], errors[1], misplaced(tree, planted)


Outcome = tuple[float, float, int]


def misplaced(tree: Grown, planted: Planted) -> int:
    """Topics on level 2 whose nearest leaf belongs to another parent than they do."""

    def nearest(words: Array, truth: Array) -> int:
        return int(np.abs(truth - words).sum(axis=1).argmin())

    wrong = 0
    for parent in on_level(tree, 1):
        true_parent = nearest(parent.words, planted.parents)
        for name in parent.children:
            leaf = nearest(tree.nodes[name].words, planted.leaves)
            wrong += leaf // len(planted.parents) != true_parent
    return wrong


@pytest.mark.parametrize("shared", SHARED)
def test_siblings_share_so_much_and_others_nothing(shared: float) -> None:
    planted = plant(1, documents=10, shared=shared, children=4, words=500)
    assert planted.leaves.shape == (16, 500)
    np.testing.assert_allclose(planted.leaves.sum(axis=1), 1)
    for one, other in product(range(16), repeat=2):
        common = np.minimum(planted.leaves[one], planted.leaves[other]).sum()
        if one != other:
            assert common == pytest.approx(shared if one // 4 == other // 4 else 0)


def test_parents_are_the_means_of_their_leaves() -> None:
    planted = plant(2, documents=10, children=3, words=300)
    for parent in range(3):
        mean = planted.leaves[3 * parent : 3 * parent + 3].mean(axis=0)
        np.testing.assert_allclose(planted.parents[parent], mean)


@pytest.mark.parametrize("length", [1, 7, 50])
def test_documents_have_the_length_that_was_asked_for(length: int) -> None:
    counts = plant(3, documents=200, length=length, words=400).counts
    assert counts.shape == (200, 400)
    assert (counts.sum(axis=1) == length).all()
    assert counts.has_canonical_format


def test_documents_follow_the_topics() -> None:
    """All topics are equally frequent, so that words are as frequent as in their mean."""
    planted = plant(4, documents=5000, children=3, words=60)
    words = planted.counts.sum(axis=0) / planted.counts.sum()
    np.testing.assert_allclose(words, planted.leaves.mean(axis=0), atol=0.005)


def test_small_alpha0_gives_pure_documents() -> None:
    """Half of the pairs of tokens and more come from one leaf, instead of a few in a hundred."""

    def pairs(alpha0: float) -> float:
        planted = plant(
            5, documents=500, children=3, words=300, shared=0, alpha0=alpha0, child_alpha0=alpha0
        )
        shares = planted.counts @ (planted.leaves > 0).T / 50
        return float((shares**2).sum(axis=1).mean())

    assert pairs(0.01) > 0.95
    assert pairs(100) < 0.2


def test_the_same_seed_gives_the_same_documents() -> None:
    one, same, other = (plant(seed, documents=50) for seed in (6, 6, 7))
    assert (one.counts != same.counts).nnz == 0
    assert np.array_equal(one.leaves, same.leaves)
    assert not np.array_equal(one.leaves, other.leaves)


def test_recovery_error() -> None:
    truth = np.eye(4)
    assert recovery_error(truth[[2, 0, 3, 1]], truth) == 0
    assert recovery_error(truth[:3], truth) == 2 / 4
    assert recovery_error(np.vstack([truth, truth]), truth) == 0
    blurred = 0.9 * truth + 0.1 * np.roll(truth, 1, axis=1)
    assert recovery_error(blurred, truth) == pytest.approx(0.2)
    assert recovery_error(truth[[0, 0, 0, 0]], truth) == pytest.approx(1.5)


@pytest.mark.parametrize("child_alpha0", CHILD_ALPHA0)
def test_the_tree_is_found_again(child_alpha0: float) -> None:
    """5×5 topics in 30,000 documents of 50 words."""
    results = [found(shared, child_alpha0) for shared in SHARED]
    print([tuple(round(value, 3) for value in result) for result in results])
    upper, lower, wrong = (list(column) for column in zip(*results, strict=True))
    assert np.mean(upper) <= 0.10
    assert np.mean(lower) <= 0.20
    assert wrong == [0, 0, 0]


def test_more_documents_give_better_topics() -> None:
    few, many = found(documents=3000), found()
    assert many[0] < 0.6 * few[0]
    assert many[1] < 0.6 * few[1]


@pytest.mark.parametrize("seed", range(3))
def test_the_number_of_children_is_read_off_the_data(seed: int) -> None:
    planted = plant(seed, documents=10_000)
    tree, _ = grow_matrix(planted.counts, TreeOptions(children="auto", height=1))
    assert len(tree.nodes["o"].children) == 5
    assert recovery_error(words_on_level(tree, 1), planted.parents) < 0.2


@pytest.mark.parametrize("children", [3, 7])
def test_another_number_of_children_is_read_off_too(children: int) -> None:
    planted = plant(0, documents=10_000, children=children)
    tree, _ = grow_matrix(planted.counts, TreeOptions(children="auto", height=1))
    assert len(tree.nodes["o"].children) == children


def test_sweeps_after_the_tensor_step_are_worth_it() -> None:
    planted = plant(0, documents=3000)
    errors = []
    for sweeps in (0, 10):
        tree, _ = grow_matrix(planted.counts, TreeOptions(children=5, height=1, polish=sweeps))
        errors.append(recovery_error(words_on_level(tree, 1), planted.parents))
    assert errors[1] < 0.9 * errors[0]


def test_a_found_alpha0_is_of_the_right_size() -> None:
    """Without look-ahead the root has the model's own five topics."""
    values = []
    for alpha0 in (0.3, 3.0):
        planted = plant(0, documents=10_000, alpha0=alpha0, child_alpha0=100)
        options = TreeOptions(children=5, height=1, alpha0="auto", lookahead=False)
        tree, _ = grow_matrix(planted.counts, options)
        values.append(tree.nodes["o"].alpha0)
    assert 0.15 < values[0] < 0.6
    assert 1.5 < values[1] < 6
