"""The variance of runs, worked by hand on trees of a few words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

from strod.errors import UsageError
from strod.evaluate import variance
from strod.evaluate.robustness import SMOOTHING, compare_trees, divergence


@dataclass
class Topic:
    """As much of a topic as is looked at."""

    path: str
    distribution: Any
    children: list[Topic] = field(default_factory=list)


@dataclass
class Tree:
    """As much of a tree."""

    root: Topic
    surfaces: tuple[str, ...] = ("a", "b", "c", "d")

    def __len__(self) -> int:
        def size(topic: Topic) -> int:
            return 1 + sum(map(size, topic.children))

        return size(self.root)


def topic(path: str, *shares: float, children: list[Topic] | None = None) -> Topic:
    return Topic(path, np.array(shares), children or [])


def tree(*children: Topic) -> Any:
    return cast("Any", Tree(topic("o", 0.25, 0.25, 0.25, 0.25, children=list(children))))


def kl(one: list[float], other: list[float]) -> float:
    """With a hundredth of 1/4 for every word."""
    smooth = [[0.99 * p + 0.01 / 4 for p in both] for both in (one, other)]
    return float(sum(p * math.log(p / q) for p, q in zip(*smooth, strict=True)))


A, B = [1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0]
C, D = [0.9, 0.1, 0.0, 0.0], [0.0, 0.5, 0.4, 0.1]


def test_divergence() -> None:
    assert SMOOTHING == 0.01
    assert divergence(np.array(A), np.array(D)) == pytest.approx(kl(A, D))
    assert divergence(np.array(A), np.array(A)) == 0
    assert kl(A, B) < math.log(400)


def test_topics_are_matched_whatever_their_order() -> None:
    one = tree(topic("o/1", *A), topic("o/2", *B))
    other = tree(topic("o/1", *D), topic("o/2", *C))
    found = compare_trees(one, other)
    assert found.matched == [("o/1", "o/2"), ("o/2", "o/1")]
    assert found.mean == pytest.approx((kl(A, C) + kl(B, D)) / 2)
    assert found.unmatched == 0
    back = (kl(C, A) + kl(D, B)) / 2
    assert variance([one, other]) == pytest.approx((found.mean + back) / 2)


def test_the_sum_over_pairs_is_least_not_each_pair() -> None:
    """The first topic is nearest to the one that the second needs more."""
    x, y = [0.5, 0.5, 0.0, 0.0], [0.6, 0.4, 0.0, 0.0]
    p, q = [0.55, 0.45, 0.0, 0.0], [0.0, 0.6, 0.4, 0.0]
    costs = np.array([[kl(a, b) for b in (p, q)] for a in (x, y)])
    assert costs[0, 0] < costs[0, 1]
    best = costs[0, 1] + costs[1, 0]
    assert best < costs[0, 0] + costs[1, 1]
    one = tree(topic("o/1", *x), topic("o/2", *y))
    other = tree(topic("o/1", *p), topic("o/2", *q))
    assert compare_trees(one, other).mean == pytest.approx(best / 2)


def test_children_follow_their_parents() -> None:
    """A child is never matched across parents, however well it would fit there."""
    one = tree(
        topic("o/1", *A, children=[topic("o/1/1", *B)]),
        topic("o/2", *B, children=[topic("o/2/1", *A)]),
    )
    other = tree(
        topic("o/1", *A, children=[topic("o/1/1", *A)]),
        topic("o/2", *B, children=[topic("o/2/1", *B)]),
    )
    found = compare_trees(one, other)
    assert found.matched[2:] == [("o/1/1", "o/1/1"), ("o/2/1", "o/2/1")]
    assert found.mean == pytest.approx((0 + 0 + kl(B, A) + kl(A, B)) / 4)


def test_other_shapes_are_counted() -> None:
    one = tree(topic("o/1", *A, children=[topic("o/1/1", *A)]), topic("o/2", *B))
    other = tree(topic("o/1", *D))
    found = compare_trees(one, other)
    assert found.matched == [("o/2", "o/1")]
    assert found.mean == pytest.approx(kl(B, D))
    assert found.unmatched == 2
    assert compare_trees(tree(), tree()) == (0, [], 0)


def test_all_ordered_pairs() -> None:
    runs = [tree(topic("o/1", *one)) for one in (A, B, C)]
    pairs = [kl(p, q) for i, p in enumerate((A, B, C)) for j, q in enumerate((A, B, C)) if i != j]
    assert len(pairs) == 6
    assert variance(runs) == pytest.approx(sum(pairs) / 6)
    assert variance([runs[0], runs[0]]) == 0


def test_wrong_use() -> None:
    with pytest.raises(UsageError, match="two trees or more"):
        variance([tree()])
    other = tree(topic("o/1", 1, 0, 0, 0))
    other.surfaces = ("x", "b", "c", "d")
    with pytest.raises(UsageError, match="different vocabularies"):
        variance([tree(topic("o/1", 1, 0, 0, 0)), other])


def test_a_tree_without_topics_is_not_robust() -> None:
    with pytest.raises(UsageError, match="without topics"):
        variance([tree(), tree(topic("o/1", 1, 0, 0, 0))])
