"""Scores by hand, lists by their promises, names."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest

from strod.phrases.names import LETTERS, name_children
from strod.phrases.ranking import (
    AGAIN,
    CANDIDATES,
    HALF,
    LISTED,
    SEEN,
    TOGETHER,
    TONED,
    Candidates,
    candidates,
    drawn,
    popular,
)
from strod.tree.top_words import affinity
from strod.values.topic import ROOT, Node


def toned(counts: list[float], root: list[float]) -> list[float]:
    """Shares of units, those that stand everywhere toned down."""
    kept = [(TONED / max(count / sum(root), TONED)) ** 0.25 for count in root]
    values = [count * tone for count, tone in zip(counts, kept, strict=True)]
    return [value / sum(values) for value in values]


def test_scores_by_hand() -> None:
    topic, parent, root = [40.0, 30, 2, 10], [50.0, 100, 4, 50], [60.0, 900, 9, 5000]
    p, q, r = (toned(counts, root) for counts in (topic, parent, root))
    arrays = np.array(topic), np.array(parent), np.array(root)
    for level, each in [(1, 2.75), (2, 3.5), (3, 4.0), (9, 4.0)]:
        for lengths in ([2, 1, 1, 1], [3, 2, 1, 4], [5, 1, 2, 0]):
            score = []
            for unit, length in enumerate(lengths):
                divergence = p[unit] * log(p[unit] / sqrt(q[unit] * r[unit]))
                bonus = 1 + each * (min(max(length, 1), 3) - 1)
                listed = topic[unit] >= SEEN and length > 0
                score.append(divergence * bonus if listed else 0.0)
            found = candidates(*arrays, np.array(lengths), level)
            order = sorted((u for u in range(4) if score[u] > 0), key=lambda u: -score[u])
            assert found.units.tolist() == order
            assert found.scores.tolist() == pytest.approx([score[u] for u in order], rel=1e-6)


def test_what_is_commoner_above_is_no_candidate() -> None:
    topic, parent = np.array([10.0, 90.0]), np.array([60.0, 140.0])
    found = candidates(topic, parent, parent, np.array([1, 1]), 1)
    assert found.units.tolist() == [1]


def test_a_unit_is_listed_from_three_expected_occurrences_on() -> None:
    topic, parent = np.array([SEEN, SEEN - 1e-6, 40]), np.array([4.0, 4, 4000])
    found = candidates(topic, parent, parent, np.array([1, 1, 1]), 1)
    assert found.units.tolist() == [0]


def test_the_root_lists_what_is_popular() -> None:
    counts = [100.0, 60, 80, 30]
    found = popular(np.array(counts), np.array([1, 2, 0, 1]))
    share = toned(counts, counts)
    assert found.units.tolist() == [1, 0, 3]
    assert found.scores.tolist() == pytest.approx([3 * share[1], share[0], share[3]], rel=1e-6)


def test_nothing_to_rank() -> None:
    nothing = np.zeros(3)
    found = candidates(nothing, nothing, nothing, np.array([1, 1, 2]), 1)
    assert found.units.tolist() == []
    assert drawn(found, np.zeros((0, 0)), 10, []) == []
    assert popular(nothing, np.array([1, 1, 2])).units.tolist() == []


def test_the_best_are_candidates() -> None:
    random = np.random.default_rng(0)
    counts = random.gamma(0.5, 40, 300)
    every = candidates(counts, counts + 10, counts + 30, np.ones(300, dtype=np.int64), 1)
    found = every.best
    assert len(every.units) > CANDIDATES
    assert len(found.units) == CANDIDATES
    assert (np.diff(found.scores) <= 0).all()
    assert (found.scores > 0).all()
    assert (counts[found.units] >= SEEN).all()


def random_candidates(
    random: np.random.Generator,
) -> tuple[Candidates, np.ndarray, list[list[int]]]:
    size = int(random.integers(1, 40))
    scores = np.sort(random.gamma(0.5, size=size))[::-1] + 1e-6
    units = random.permutation(200)[:size]
    stands = random.random((50, size)) < random.uniform(0.05, 0.5, size)
    pairs = (stands.T.astype(float)) @ stands
    words = [random.integers(0, 25, random.integers(1, 4)).tolist() for _ in range(size)]
    return Candidates(units, scores), pairs, words


def naive_list(
    found: Candidates, pairs: np.ndarray, words: list[list[int]]
) -> list[tuple[int, float]]:
    """The list one by one, all in plain Python."""
    size, scores = len(found.units), found.scores.tolist()
    value = affinity(pairs, 50)
    worth = []
    for one in range(size):
        share = [score / sum(scores) for score in scores]
        mean = sum(share[two] * value[one, two] for two in range(size))
        worth.append(scores[one] * exp(TOGETHER * mean / max(1 - share[one], 0.1)))
    used = dict.fromkeys(range(25), 0.0)
    result: list[tuple[int, float]] = []
    left = list(range(size))
    while left and len(result) < LISTED:
        adds = {}
        for one in left:
            fresh = [AGAIN ** used[word] for word in words[one]]
            adds[one] = worth[one] * (sum(fresh) / len(fresh) + max(fresh)) / 2
        best = max(left, key=lambda one: adds[one])
        left.remove(best)
        result.append((int(found.units[best]), adds[best]))
        for word in words[best]:
            used[word] += 1 if len(words[best]) > 1 else HALF
    return result


def test_lists_equal_a_naive_drawing() -> None:
    random = np.random.default_rng(1)
    for _ in range(100):
        found, pairs, words = random_candidates(random)
        listed = drawn(found, pairs, 50, words)
        expected = naive_list(found, pairs, words)
        assert [unit for unit, _ in listed] == [unit for unit, _ in expected]
        assert [worth for _, worth in listed] == pytest.approx([worth for _, worth in expected])


def test_lists_fall_and_repeat_nothing() -> None:
    random = np.random.default_rng(2)
    for _ in range(100):
        found, pairs, words = random_candidates(random)
        listed = drawn(found, pairs, 50, words)
        assert len(listed) == min(LISTED, len(found.units))
        units, worth = [unit for unit, _ in listed], [value for _, value in listed]
        assert len(set(units)) == len(units)
        assert set(units) <= set(found.units.tolist())
        assert worth == sorted(worth, reverse=True)
        assert min(worth) > 0


def test_a_word_that_is_there_counts_half() -> None:
    """Candidates that stand alone in equal measure: only the words decide."""
    found = Candidates(np.array([7, 8, 9]), np.array([1.0, 0.9, 0.6]))
    nowhere = np.zeros((3, 3))
    same = affinity(nowhere, 100)
    assert abs(same).max() < 1e-9
    listed = drawn(found, nowhere, 100, [[1, 2], [1, 2], [3, 4]])
    assert [unit for unit, _ in listed] == [7, 9, 8]
    assert [worth for _, worth in listed] == pytest.approx([1.0, 0.6, 0.45])
    listed = drawn(found, nowhere, 100, [[1, 2], [1, 5], [3]])
    assert [worth for _, worth in listed] == pytest.approx([1.0, 0.9 * 0.875, 0.6])
    listed = drawn(found, nowhere, 100, [[1], [1, 2], [1]])
    assert listed[1][0] == 8
    assert listed[1][1] == pytest.approx(0.9 * ((sqrt(0.5) + 1) / 2 + 1) / 2)
    assert listed[2][1] == pytest.approx(0.6 * 0.5**1.5)


def test_what_goes_together_comes_first() -> None:
    found = Candidates(np.arange(3), np.array([1.0, 1.0, 1.0]))
    pairs = np.array([[20.0, 0, 0], [0, 20, 20], [0, 20, 20]])
    listed = drawn(found, pairs, 1000, [[1], [2], [3]])
    assert [unit for unit, _ in listed] == [1, 2, 0]


def named(*lists: list[str]) -> list[str]:
    """Names of siblings with these phrases."""
    names = [f"c{number}" for number in range(len(lists))]
    nodes = {ROOT: Node(ROOT, None, 0, [], np.ones(1), children=names)}
    for name, texts in zip(names, lists, strict=True):
        phrases = [(text, 1.0 / place) for place, text in enumerate(texts, 1)]
        nodes[name] = Node(name, ROOT, 1, [], np.ones(1), top_words=[1, 0], phrases=phrases)
    name_children(nodes, [ROOT], ["river", "stone"])
    assert nodes[ROOT].label == ""
    return [nodes[name].label for name in names]


def test_names_are_two_phrases() -> None:
    assert named(["neural network", "deep learning", "image"]) == ["neural network, deep learning"]
    assert named(["galaxy"]) == ["galaxy"]


def test_a_topic_without_phrases_is_named_by_its_words() -> None:
    assert named(["galaxy"], [], []) == ["galaxy", "stone, river", "stone, river (2)"]
    nodes = {ROOT: Node(ROOT, None, 0, [], np.ones(1), children=["a"])}
    nodes["a"] = Node("a", ROOT, 1, [], np.zeros(1))
    name_children(nodes, [ROOT], [])
    assert nodes["a"].label == "no words"


def test_names_are_short() -> None:
    long = "convolutional neural network"
    assert named([long, "recurrent neural network", "image"]) == [f"{long}, image"]
    random = np.random.default_rng(3)
    for _ in range(200):
        lists = [["x" * size for size in random.integers(2, 25, 6)] for _ in range(3)]
        assert all(len(name) <= LETTERS for name in named(*lists))


def test_names_of_siblings_differ() -> None:
    same = ["black hole", "dark matter", "galaxy", "redshift"]
    found = named(same, same, same)
    assert found[:2] == ["black hole, dark matter", "black hole, dark matter, galaxy"]
    assert len(set(found)) == 3
    assert all(name.startswith("black hole") for name in found)


def test_names_of_cousins_may_be_the_same() -> None:
    nodes = {
        ROOT: Node(ROOT, None, 0, [], np.ones(1), children=["a", "b"]),
        "a": Node("a", ROOT, 1, [], np.ones(1), children=["c"], phrases=[("x", 1.0)]),
        "b": Node("b", ROOT, 1, [], np.ones(1), children=["d"], phrases=[("y", 1.0)]),
        "c": Node("c", "a", 2, [], np.ones(1), phrases=[("z", 1.0)]),
        "d": Node("d", "b", 2, [], np.ones(1), phrases=[("z", 1.0)]),
    }
    name_children(nodes, [ROOT, "a", "b"], [])
    assert [node.label for node in nodes.values()] == ["", "x", "y", "z", "z"]
