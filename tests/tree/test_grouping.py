"""Grouping fine topics: merges against a naive version, cuts that fit into each other."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from strod.model.grouping import (
    BALANCE,
    CRUMB,
    cut,
    dendrogram,
    inside,
    natural_children,
    separate_children,
)
from strod.values.split import Cooccurrence, Merge


def random_overlap(seed: int, size: int) -> Cooccurrence:
    """Topics of random documents, so that joint and weights belong together."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.full(size, 0.3), 60) if size > 1 else np.ones((60, 1))
    return Cooccurrence(shares.mean(axis=0), shares.T @ shares / 60, np.full(size, 60.0))


def naive(overlap: Cooccurrence, crumb: float | None = None) -> list[Merge]:
    """Groups as sets; lifts from the sums over their members each time."""
    groups = [[topic] for topic in range(len(overlap.weights))]
    crumb = CRUMB * overlap.weights.mean() if crumb is None else crumb
    merges = []
    while len(groups) > 1:
        best, pair, best_lift = -np.inf, (0, 1), 0.0
        crumbs = [overlap.weights[group].sum() < crumb for group in groups]
        for i, j in combinations(range(len(groups)), 2):
            if any(crumbs) and not (crumbs[i] or crumbs[j]):
                continue
            one, two = groups[i], groups[j]
            chance = overlap.weights[one].sum() * overlap.weights[two].sum()
            lift = overlap.joint[np.ix_(one, two)].sum() / chance
            score = (lift - 1) * chance**BALANCE
            if score > best:
                best, pair, best_lift = score, (i, j), lift
        i, j = pair
        merges.append(Merge(groups[i][0], groups[j][0], best_lift))
        groups[i] = sorted(groups[i] + groups.pop(j))
    return merges


def branches(merges: list[Merge], size: int) -> list[list[int]]:
    """Every group that the dendrogram ever has."""
    return [group for k in range(1, size + 1) for group in cut(merges, range(size), k)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 25])
@pytest.mark.parametrize("seed", range(5))
def test_merges_are_those_of_a_naive_version(seed: int, size: int) -> None:
    overlap = random_overlap(seed, size)
    found, expected = dendrogram(overlap), naive(overlap)
    assert [merge[:2] for merge in found] == [merge[:2] for merge in expected]
    np.testing.assert_allclose([m.lift for m in found], [m.lift for m in expected], rtol=1e-9)
    assert len(found) == size - 1


def test_crumbs_are_joined_first() -> None:
    """Topic 3 is small: it goes to its best partner before the two that belong together."""
    weights = np.array([0.4, 0.3, 0.27, 0.03])
    lift = np.ones((4, 4))
    lift[0, 1] = lift[1, 0] = 5
    lift[2, 3] = lift[3, 2] = 1.5
    merges = dendrogram(Cooccurrence(weights, lift * np.outer(weights, weights), np.full(4, 100.0)))
    assert [merge[:2] for merge in merges] == [(2, 3), (0, 1), (0, 2)]


def test_the_input_is_left_alone() -> None:
    overlap = random_overlap(0, 6)
    before = overlap.joint.copy(), overlap.weights.copy()
    dendrogram(overlap)
    assert np.array_equal(overlap.joint, before[0])
    assert np.array_equal(overlap.weights, before[1])


@pytest.mark.parametrize("seed", range(5))
def test_cuts_have_so_many_groups_and_fit_into_each_other(seed: int) -> None:
    size = 12
    merges = dendrogram(random_overlap(seed, size))
    coarser: list[list[int]] = []
    for k in range(1, size + 1):
        groups = cut(merges, range(size), k)
        assert len(groups) == k
        assert sorted(topic for group in groups for topic in group) == list(range(size))
        for group in groups if coarser else []:
            assert sum(set(group) <= set(parent) for parent in coarser) == 1
        coarser = groups


def test_more_groups_than_topics() -> None:
    merges = dendrogram(random_overlap(0, 4))
    assert cut(merges, range(4), 9) == [[0], [1], [2], [3]]
    assert cut(merges, [2], 3) == [[2]]


@pytest.mark.parametrize("seed", range(5))
def test_a_branch_is_cut_as_if_it_were_alone(seed: int) -> None:
    size = 14
    overlap = random_overlap(seed, size)
    merges = dendrogram(overlap)
    crumb = CRUMB * overlap.weights.mean()
    looked = 0
    for branch in branches(merges, size):
        own = Cooccurrence(
            overlap.weights[branch], overlap.joint[np.ix_(branch, branch)], np.ones(len(branch))
        )
        alone = naive(own, crumb)
        for k in range(1, len(branch) + 1):
            expected = [[branch[i] for i in group] for group in cut(alone, range(len(branch)), k)]
            assert sorted(cut(merges, branch, k)) == sorted(expected)
            looked += len(branch) > 2
        lifts = [merge.lift for merge in inside(merges, branch)]
        np.testing.assert_allclose(lifts, [merge.lift for merge in alone])
    assert looked > 20


def blocks_of(groups: list[int], within: float, between: float) -> Cooccurrence:
    """Equal topics in groups of these sizes, with a lift inside and one across."""
    size = sum(groups)
    member = np.repeat(np.arange(len(groups)), groups)
    lift = np.where(member[:, None] == member, within, between)
    return Cooccurrence(np.full(size, 1 / size), lift / size**2, np.full(size, 100.0))


@pytest.mark.parametrize("groups", [[3, 3], [3, 3, 3, 3], [2, 4, 2, 5, 3], [6, 1, 1, 4, 4, 4]])
def test_an_obvious_gap_is_found(groups: list[int]) -> None:
    merges = dendrogram(blocks_of(groups, 6.0, 0.4))
    size = sum(groups)
    assert natural_children(merges, range(size), 10) == len(groups)
    found = cut(merges, range(size), len(groups))
    bounds = np.concatenate([[0], np.cumsum(groups)])
    expected = [list(range(a, b)) for a, b in pairwise(bounds)]
    assert sorted(found) == expected


def test_no_more_children_than_asked_for() -> None:
    merges = dendrogram(blocks_of([3, 3, 3, 3], 6.0, 0.4))
    assert [natural_children(merges, range(12), most) for most in (2, 3, 4, 5)] == [2, 3, 4, 4]


@pytest.mark.parametrize("size", [1, 2])
def test_so_few_topics_that_there_is_no_choice(size: int) -> None:
    merges = dendrogram(random_overlap(0, size))
    assert natural_children(merges, range(size), 10) == size


def test_one_low_merge_in_between_opens_no_gap() -> None:
    """Lifts, the last merge first: 0.9, 0.1, 1.0, 5.0: the gap is at four, not at three."""
    lifts = [5.0, 1.0, 0.1, 0.9]
    merges = [Merge(0, gone, lift) for gone, lift in zip([4, 3, 2, 1], lifts, strict=True)]
    assert natural_children(merges, range(5), 10) == 4


@pytest.mark.parametrize(
    ("lifts", "expected"),
    [
        ([0.4, 0.45, 0.5, 0.55, 0.6], None),  # falls step by step
        ([0.4, 0.4, 0.4, 0.9, 0.95], 4),
        ([0.4, 0.4, 0.8, 1.2, 1.25], None),  # two steps
        ([0.4, 0.4, 0.8, 1.0, 1.05], 3),  # one is much larger
        ([0.4, 0.4, 0.4, 0.4, 0.4], 5),  # none belongs with another
        ([3.0, 3.0, 3.0, 3.0, 3.0], None),  # all belong together
        ([3.0, 3.1, 3.1, 3.1, 3.1], None),  # a step, but next to none
        ([3.0, 4.0, 4.0, 4.0, 4.0], 2),
    ],
)
def test_a_step_must_be_clear(lifts: list[float], expected: int | None) -> None:
    """Lifts, the last merge first."""
    merges = [Merge(0, gone, lift) for gone, lift in zip(range(5, 0, -1), lifts[::-1], strict=True)]
    assert natural_children(merges, range(6), 5) == expected


@pytest.mark.parametrize(
    ("lifts", "expected"),
    [
        ([0.2, 0.4, 0.6, 0.8, 1.0], 5),  # three steps and more, none clear
        ([0.2, 0.4, 0.6, 0.95, 1.0], 4),
        ([0.2, 0.4, 0.6, 0.95, 0.5], 4),  # a low merge in between
        ([0.3, 0.3, 0.8, 1.2, 2.6], 4),  # a step, and as much again in small ones
        ([0.3, 0.3, 0.8, 0.85, 0.9], 3),  # a step, and next to nothing else
        ([0.1, 0.15, 0.2, 0.3, 0.4], 5),  # no more than asked for
        ([1.5, 1.7, 2.0, 2.2, 2.6], 2),  # all belong together
    ],
)
def test_children_of_text_do_not_belong_together(lifts: list[float], expected: int) -> None:
    """Lifts, the last merge first."""
    merges = [Merge(0, gone, lift) for gone, lift in zip(range(5, 0, -1), lifts[::-1], strict=True)]
    assert separate_children(merges, range(6), 5) == expected


@pytest.mark.parametrize("size", [1, 2])
def test_so_few_topics_that_all_are_children(size: int) -> None:
    assert separate_children(dendrogram(random_overlap(0, size)), range(size), 10) == size


def test_a_branch_has_its_own_number_of_children() -> None:
    """Three groups, one of which is made of two."""
    member = np.array([0, 0, 1, 1, 1, 1, 2, 2])
    half = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    lift = np.where(member[:, None] == member, 2.0, 0.05)
    lift = np.where(half[:, None] == half, 8.0, lift)
    merges = dendrogram(Cooccurrence(np.full(8, 1 / 8), lift / 64, np.full(8, 100.0)))
    assert natural_children(merges, range(8), 10) == 3
    assert natural_children(merges, [2, 3, 4, 5], 10) == 2
    assert sorted(cut(merges, [2, 3, 4, 5], 2)) == [[2, 3], [4, 5]]


@pytest.mark.parametrize("size", [3, 4, 6, 8])
def test_topics_that_share_no_documents_are_children_of_their_own(size: int) -> None:
    weights = np.full(size, 1 / size)
    merges = dendrogram(Cooccurrence(weights, np.diag(weights), np.full(size, 60.0)))
    assert natural_children(merges, range(size), 10) == size
