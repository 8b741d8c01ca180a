"""Iterations, time limits, and what becomes of a division."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from strod.methods.baselines import pachinko, restaurant
from strod.methods.baselines.grow import _some, as_split
from strod.methods.baselines.learner import Clock, Division, Piece, as_whole
from strod.methods.baselines.pachinko import Pachinko
from strod.methods.baselines.restaurant import Restaurant
from strod.methods.baselines.sampling import train
from strod.model.decompose import NotSplit
from strod.model.options import TreeOptions

if TYPE_CHECKING:
    from collections.abc import Iterator


class Sum:
    """Progress that adds up."""

    def __init__(self) -> None:
        self.total = 0

    def stage(self, name: str, total: int, unit: str) -> None:
        pass

    def advance(self, amount: int) -> None:
        self.total += amount


def test_all_iterations() -> None:
    progress = Sum()
    clock = Clock(5, 0.0, progress)
    assert list(clock.steps(0.1)) == [1, 2, 3, 4, 5]
    assert (clock.done, progress.total) == (5, 5)


def test_iterations_until_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count()
    monkeypatch.setattr("time.monotonic", lambda: float(next(seconds)))
    progress = Sum()
    clock = Clock(100, 8.0, progress)
    # Half of eight seconds from second 0; the clock is read before every step but the first.
    assert list(clock.steps(0.5)) == [1, 2, 3, 4]
    assert (clock.done, progress.total, clock.spent) == (4, 100, 5.0)


def test_one_iteration_at_least() -> None:
    clock = Clock(100, 1e-9, Sum())
    assert list(clock.steps(0.0)) == [1]


def test_iterations_that_converged() -> None:
    progress = Sum()
    clock = Clock(10, 0.0, progress)
    for step in clock.steps(1.0):
        if step == 3:
            break
    assert (clock.done, progress.total) == (3, 10)


def test_drawing_the_first_topics_is_no_iteration() -> None:
    """Else few iterations, scaled to many, take too long."""
    done: list[object] = []

    class Watch(Clock):
        def steps(self, share: float) -> Iterator[int]:
            done.append("the clock starts")
            yield from super().steps(share)

    model = SimpleNamespace(train=lambda number, workers: done.append((number, workers)))
    train(model, Watch(2, 0.0, Sum()), 1.0)
    assert done == [(0, 1), "the clock starts", (1, 1), (1, 1)]


def test_a_split_by_hand() -> None:
    """Two documents: 3 words in the first child; 1 in the first and 4 in the second."""
    tokens = np.array([[3.0, 0.0], [1.0, 4.0]])
    words = np.array([[2.0, 2.0, 0.0], [0.0, 1.0, 3.0]])
    split = as_split(Division(words, np.arange(2), tokens, [0, 1], 0.7), np.array([1.0, 0.5, 1.0]))
    np.testing.assert_allclose(split.overlap.weights, [0.5, 0.5])
    np.testing.assert_allclose(split.overlap.joint, [[3.2 / 8, 0.8 / 8], [0.8 / 8, 3.2 / 8]])
    np.testing.assert_allclose(split.overlap.documents, [16 / 10, 1])
    assert split.topics.counts.tolist() == [[2, 1, 0], [0, 0.5, 3]]
    assert (split.alpha0, split.documents) == (0.7, 2)


def test_children_without_text_or_words_are_dropped() -> None:
    tokens = np.array([[3.0, 0.0, 1.0, 2.0]])
    words = np.array([[1.0], [1.0], [0.0], [1.0]])
    left = _some(Division(words, np.arange(1), tokens, ["a", "b", "c", "d"]))
    assert (left.states, left.tokens.tolist(), len(left.words)) == (["a", "d"], [[3.0, 2.0]], 2)
    with pytest.raises(NotSplit, match="one topic"):
        _some(Division(words[:3], np.arange(1), tokens[:, :3], ["a", "b", "c"]))


def test_pieces() -> None:
    counts = csr_array(np.array([[1, 2], [0, 0], [0, 1]], dtype=np.int32))
    piece = Piece.of(np.array([4, 6, 9]), counts)
    assert (piece.rows.tolist(), piece.tokens) == ([4, 9], 4)
    assert piece.lengths().tolist() == [3, 1]
    with pytest.raises(NotSplit, match="too few documents"):
        piece.check(2)
    many = Piece.of(np.arange(12), csr_array(np.ones((12, 9), dtype=np.int32)))
    with pytest.raises(NotSplit, match="too few words"):
        many.check(2)
    Piece.of(np.arange(12), csr_array(np.ones((12, 10), dtype=np.int32))).check(2)
    assert as_whole(np.array([1, -1]), np.array([5.0, 7.0]), 2).tolist() == [[0, 5], [0, 0]]


class FakeModel:
    """What a tomotopy model tells, made up; its words are its columns."""

    def __init__(self, width: int, documents: list[Any], levels: dict[int, int]) -> None:
        self.used_vocabs = [str(column) for column in range(width)]
        self.docs, self._levels = documents, levels

    def level(self, topic: int) -> int:
        return self._levels[topic]

    def get_topic_word_dist(self, topic: int) -> Any:
        words = np.full(len(self.used_vocabs), 0.1)
        words[topic % len(words)] = 1
        return words / words.sum()


class Walked:
    """A document of hierarchical LDA: its words, their topics, its path."""

    def __init__(self, words: list[int], topics: list[int], path: list[int]) -> None:
        self.words, self.topics, self._walked = words, topics, path

    @property
    def _path(self) -> list[int]:
        return self._walked


def test_documents_of_dropped_children_go_where_they_are_likeliest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Children 1, 2 and 3 of the root have 3, 2 and 1 documents; two are kept."""
    rows = [[0, 0], [0, 0], [0, 4], [1, 1], [1, 1], [1, 4]]
    paths = [[0, 1, 4]] * 3 + [[0, 2, 5]] * 2 + [[0, 3, 6]]
    topics = [[1, 4], [1, 4], [4, 0], [2, 5], [2, 5], [3, 6]]
    docs = [Walked(*parts) for parts in zip(rows, topics, paths, strict=True)]
    model = FakeModel(5, docs, {0: 0, 1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2})
    monkeypatch.setattr(restaurant, "new_model", lambda *_, **__: model)
    monkeypatch.setattr(restaurant, "train", lambda *_: None)
    monkeypatch.setattr(Piece, "check", lambda *_: None)
    counts = np.stack([np.bincount(row, minlength=5) for row in rows]).astype(np.int32)
    whole = Piece.of(np.array([10, 11, 12, 13, 14, 15]), csr_array(counts))
    given = Restaurant(whole, TreeOptions(method="ncrp", children=2, height=2))
    clock = Clock(1, 0.0, Sum())
    top = given.divide(given.root(), 0, clock)
    assert top.states == [1, 2]
    # The last one has word 1, as those of child 2 have; word 4 was sampled for the root.
    assert top.tokens.tolist() == [[2, 0], [2, 0], [2, 0], [0, 2], [0, 2], [0, 2]]
    expected = np.array([[5, 0, 0, 0, 0], [0, 4, 0, 0, 0]]) + 0.01
    np.testing.assert_allclose(top.words, expected / expected.sum(axis=1, keepdims=True))
    below = given.divide(2, 0, clock)
    assert (below.rows.tolist(), below.states) == ([13, 14, 15], [5])
    assert below.tokens.tolist() == [[2], [2], [2]]


def test_a_super_topic_gets_its_strongest_subtopics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two children: two super topics, four subtopics; 0 stands for the one above itself."""
    docs = [
        SimpleNamespace(words=[0, 1, 2, 3], topics=[1, 1, 1, 0], subtopics=[3, 3, 2, 0]),
        SimpleNamespace(words=[0, 4, 4], topics=[1, 1, 2], subtopics=[2, 4, 2]),
        SimpleNamespace(words=[5, 5], topics=[2, 1], subtopics=[3, 0]),
    ]
    model = FakeModel(10, docs, {})
    monkeypatch.setattr(pachinko, "new_model", lambda *_, **__: model)
    monkeypatch.setattr(pachinko, "train", lambda *_: None)
    monkeypatch.setattr(Piece, "check", lambda *_: None)
    whole = Piece(np.array([0, 1, 2]), csr_array(np.ones((3, 10), dtype=np.int32)))
    given = Pachinko(whole, TreeOptions(method="hpam", children=2))
    clock = Clock(1, 0.0, Sum())
    top = given.divide(given.root(), 0, clock)
    assert (top.states, top.tokens.tolist()) == ([1, 2], [[3, 0], [2, 1], [1, 1]])
    expected = np.array([[2, 1, 1, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]]) + 0.01
    np.testing.assert_allclose(top.words, expected / expected.sum(axis=1, keepdims=True))
    below = given.divide(1, 0, clock)
    # Below super topic 1: subtopics 2 and 3 twice each, 4 once. The third document has words
    # of it, none by way of a subtopic, but one of subtopic 3 by way of the other super topic.
    np.testing.assert_allclose(below.tokens, [[1.001, 2.002], [1.002, 0], [0, 0.001]])
    assert below.words.argmax(axis=1).tolist() == [2 + 2, 2 + 3]
