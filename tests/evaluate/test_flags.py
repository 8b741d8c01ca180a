"""Flags: each is raised by its own fault, and by nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import pytest

from strod.evaluate.flags import find_flags, separation
from strod.evaluate.report import Coherence, Flag, TopicScores

WIDTH = 40


@dataclass
class Topic:
    """As much of a topic as is looked at."""

    path: str
    distribution: Any
    parent: Topic | None = None
    children: list[Topic] = field(default_factory=list)

    @property
    def id(self) -> str:
        return "id" + self.path


class Tree(dict[str, Topic]):
    """By path and id."""

    @property
    def root(self) -> Topic:
        return self["o"]


def tree_of(*shape: int) -> Tree:
    """A topic o/i for each number, with so many children; words of siblings do not overlap."""
    tree = Tree()

    def add(path: str, place: int, parent: Topic | None) -> Topic:
        distribution = np.full(WIDTH, 1e-6)
        distribution[4 * place : 4 * place + 4] = 1
        topic = Topic(path, distribution / distribution.sum(), parent)
        tree[path] = tree[topic.id] = topic
        if parent:
            parent.children.append(topic)
        return topic

    root = add("o", 9, None)
    for i, children in enumerate(shape, 1):
        topic = add(f"o/{i}", i - 1, root)
        for j in range(1, children + 1):
            add(f"o/{i}/{j}", j - 1, topic)
    return tree


def scores(tree: Tree, **changed: dict[str, Any]) -> list[TopicScores]:
    """A sound tree but for what is changed, by path with _ for /."""
    sound = Coherence(0.3, 0.6)
    leaves = sum(not topic.children for path, topic in tree.items() if path.startswith("o"))
    found = []
    for path, topic in tree.items():
        if not path.startswith("o/"):
            continue
        one = TopicScores(
            path, topic.id, "label", path.count("/"), 1 / leaves, 500, sound, sound,
            lift=1.5, distinct=0.5, frequency=0.02, own=0.8, copied=0.02, copied_words=0.02,
        )  # fmt: skip
        found.append(replace(one, **changed.get(path.replace("/", "_"), {})))
    return found


def raised(tree: Tree, topics: list[TopicScores], copied: float = 0.0) -> list[Flag]:
    words = {t.id: np.argsort(-tree[t.id].distribution, kind="stable")[:4] for t in topics}
    return find_flags(cast("Any", tree), topics, words, copied)


def npmi(value: float | None) -> dict[str, Any]:
    return {"words": Coherence(value, None)}


def test_a_sound_tree_has_none() -> None:
    tree = tree_of(3, 3, 0)
    assert raised(tree, scores(tree)) == []
    assert raised(tree_of(), []) == []


def test_incoherent() -> None:
    tree = tree_of(3, 3, 0)
    (flag,) = raised(tree, scores(tree, o_1_2=npmi(0.1), o_1_3=npmi(0.25), o_2_1=npmi(None)))
    assert (flag.topic, flag.kind, flag.suggestion) == (
        "o/1/2",
        "incoherent",
        "show o/1/2 --documents 5",
    )
    assert "NPMI 0.10, the median is 0.30" in flag.reason
    (flag,) = raised(tree, scores(tree, o_1=npmi(-0.5)))
    assert flag.suggestion == "show o/1 --documents 5"


def test_words_that_meet_more_often_than_by_chance_are_coherent() -> None:
    tree = tree_of(3, 3, 0)
    assert raised(tree, scores(tree, o_1_2=npmi(-0.2) | {"lift": 9.0})) == []
    (flag,) = raised(tree, scores(tree, o_1_2=npmi(-0.2) | {"lift": None}))
    assert flag.kind == "incoherent"


def test_nothing_is_to_be_removed() -> None:
    tree = tree_of(3, 3, 0)
    faults = {"words": Coherence(-0.5, None), "frequency": 0.5, "own": 0.1, "copied": 0.9}
    every = {f"o_{i}_1": faults | {"weight": 0.01} for i in (1, 2)}
    flags = raised(tree, scores(tree, **every))
    assert {flag.kind for flag in flags} >= {"incoherent", "background", "copies"}
    assert not [flag for flag in flags if "remove" in flag.suggestion]


def test_a_heavy_leaf_is_divided() -> None:
    tree = tree_of(3, 3, 0)
    (flag,) = raised(tree, scores(tree, o_1_2=npmi(0.1) | {"weight": 0.3}))
    assert flag.suggestion == "expand o/1/2 --children 3"


def test_incoherent_is_measured_by_the_spread_of_the_tree() -> None:
    """Medians and deviations: eight topics at 0 to 0.7, so that -0.2 is nothing unusual."""
    tree = tree_of(*[0] * 9)
    values = {f"o_{i}": npmi(0.1 * i) for i in range(1, 9)}
    assert raised(tree, scores(tree, **values, o_9=npmi(-0.2))) == []
    near = {f"o_{i}": npmi(0.3 + 0.01 * i) for i in range(1, 9)}
    assert [f.topic for f in raised(tree, scores(tree, **near, o_9=npmi(0.2)))] == ["o/9"]
    # Outliers do not hide each other.
    assert len(raised(tree, scores(tree, **near | {"o_8": npmi(-0.4)}, o_9=npmi(-0.4)))) == 2


def test_incoherent_in_a_small_tree() -> None:
    tree = tree_of(0, 0, 0)
    assert raised(tree, scores(tree, o_3=npmi(0.05))) == []
    (flag,) = raised(tree, scores(tree, o_3=npmi(-0.05)))
    assert (flag.topic, flag.kind) == ("o/3", "incoherent")
    every = {name: npmi(-0.3) for name in ("o_1", "o_2", "o_3")}
    assert raised(tree, scores(tree, **every)) == []  # short texts: words of all topics seldom meet


def test_duplicate() -> None:
    tree = tree_of(3, 0)
    one, other, _ = tree["o/1"].children
    other.distribution = (one.distribution + other.distribution) / 2
    assert 0.2 < separation(one.distribution, other.distribution) < 0.6
    topics = scores(tree)
    words = {t.id: np.arange(4 * i, 4 * i + 4) for i, t in enumerate(topics)}
    assert find_flags(cast("Any", tree), topics, words, 0) == []
    words[other.id] = np.concatenate([words[one.id][:2], words[other.id][:2]])
    (flag,) = find_flags(cast("Any", tree), topics, words, 0)
    assert (flag.topic, flag.kind, flag.others) == ("o/1/2", "duplicate", ["o/1/1"])
    assert flag.suggestion == "merge o/1/1 o/1/2"
    assert flag.reason.startswith("2 of its 4 words are those of o/1/1")


def test_duplicate_by_distribution() -> None:
    tree = tree_of(2, 0)
    tree["o/1/2"].distribution = tree["o/1/1"].distribution
    topics = scores(tree)
    words = {t.id: np.arange(4 * i, 4 * i + 4) for i, t in enumerate(topics)}
    assert [f.topic for f in find_flags(cast("Any", tree), topics, words, 0)] == ["o/1/2"]


def test_separation() -> None:
    one, other = np.array([1.0, 0, 0]), np.array([0, 0.5, 0.5])
    assert separation(one, other) == 1
    assert separation(one, one) == 0
    mixed = np.array([0.5, 0.5, 0])
    by_hand = (np.log2(1 / 0.75) + 0.5 * np.log2(0.5 / 0.75) + 0.5 * np.log2(0.5 / 0.25)) / 2
    assert separation(one, mixed) == pytest.approx(by_hand)


def test_background() -> None:
    tree = tree_of(3, 0)
    often = {"frequency": 0.09, "own": 0.4}
    (flag,) = raised(tree, scores(tree, o_1_1=often))
    assert (flag.topic, flag.kind) == ("o/1/1", "background")
    assert flag.suggestion == "show o/1/1 --documents 5"
    assert "in 9.0 % of the documents on average, usual is 2.0 %; 60 % of their" in flag.reason
    assert raised(tree, scores(tree, o_1_1={"frequency": 0.09})) == []  # frequent, but its own
    assert raised(tree, scores(tree, o_1_1={"own": 0.1})) == []  # rare words of many topics
    (flag,) = raised(tree, scores(tree, o_1_2={"distinct": 0.04}))
    assert "hardly more than its parent: 4 %" in flag.reason
    assert raised(tree, scores(tree, o_1_2={"distinct": None})) == []


def test_copies() -> None:
    tree = tree_of(3, 0)
    copied = {"copied": 0.5}
    (flag,) = raised(tree, scores(tree, o_1_1=copied), 0.1)
    assert (flag.topic, flag.kind, flag.suggestion) == (
        "o/1/1", "copies", "show o/1/1 --documents 5",
    )  # fmt: skip
    assert flag.reason.startswith("50 % of the words of its documents are in")
    (flag,) = raised(tree, scores(tree, o_1_1={"copied_words": 0.3}))
    assert flag.reason.startswith("30 % of the occurrences of its words")
    assert raised(tree, scores(tree, o_1_1=copied), 0.4) == []  # the whole corpus is so
    assert raised(tree, scores(tree, o_1_1={"copied": 0.2})) == []


def test_tiny() -> None:
    tree = tree_of(3, 0)
    tree["o/1/3"].distribution = (tree["o/1/2"].distribution * 3 + tree["o/1/3"].distribution) / 4
    small = {"weight": 0.01, "documents": 20}
    (flag,) = [f for f in raised(tree, scores(tree, o_1_3=small)) if f.kind == "tiny"]
    assert (flag.topic, flag.others) == ("o/1/3", ["o/1/2"])
    assert flag.suggestion == "merge o/1/2 o/1/3"
    assert flag.reason == "20 documents, 1 % of the corpus; the mean leaf has 19 %"
    tree = tree_of(2, 0, 0)
    both = {"documents": 3}
    found = raised(tree, scores(tree, o_1_1=both, o_1_2=both))
    assert [(f.topic, f.suggestion) for f in found] == [
        ("o/1/1", "collapse o/1"), ("o/1/2", "collapse o/1"),
    ]  # fmt: skip
    few = {name: {"documents": 5} for name in ("o_1", "o_1_1", "o_1_2", "o_2", "o_3")}
    assert raised(tree, scores(tree, **few)) == []  # a small corpus


def test_tiny_topics_are_not_merged_into_tiny_ones() -> None:
    tree = tree_of(3, 0, 0)
    tree["o/1/3"].distribution = (tree["o/1/2"].distribution * 3 + tree["o/1/3"].distribution) / 4
    few = {"documents": 3}
    found = raised(tree, scores(tree, o_1_2=few, o_1_3=few))
    tiny = [flag.suggestion for flag in found if flag.kind == "tiny"]
    assert tiny == ["merge o/1/1 o/1/2", "merge o/1/1 o/1/3"]


def test_flags_come_in_the_order_of_the_tree() -> None:
    tree = tree_of(2, 2)
    changed = {"copied": 0.9}
    found = raised(tree, scores(tree, o_2=changed, o_1_2=changed, o_1_1=npmi(-0.9)))
    assert [flag.topic for flag in found] == ["o/1/1", "o/1/2", "o/2"]


def test_words_of_deep_topics_are_rare() -> None:
    """More than three times as frequent as is usual on its level, but not as in the tree."""
    tree = tree_of(3, 3, 0)
    level = {f"o_{i}_{j}": {"frequency": 0.01} for i in (1, 2) for j in (1, 2, 3)}
    level |= {"o_1_1": {"frequency": 0.02}, "o_1_2": {"frequency": 0.02}}
    level["o_2_2"] = {"frequency": 0.055, "own": 0.4}
    above = {f"o_{i}": {"frequency": 0.01} for i in (1, 2, 3)}
    assert [f.topic for f in raised(tree, scores(tree, **level, **above))] == ["o/2/2"]
    above = {f"o_{i}": {"frequency": 0.06} for i in (1, 2, 3)}
    assert raised(tree, scores(tree, **level, **above)) == []
