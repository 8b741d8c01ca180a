"""Frequent chains against an enumeration of everything that stands side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.engine.threads import Serial, Threads
from strod.phrases.mine import mine
from strod.phrases.stream import Alphabet
from strod.progress import Silent
from tests.phrases.helpers import Sample, decoded, random_sample

if TYPE_CHECKING:
    from strod.engine.protocol import Engine
    from strod.phrases.mine import Level


def levels_of(
    sample: Sample, least: int, longest: int, pieces: int = 1, engine: Engine | None = None
) -> list[Level]:
    shards, alphabet = sample.shards(pieces), sample.alphabet(least)
    return mine(shards, alphabet, least, longest, engine or Serial(), Silent())


def check_equal(one: list[Level], other: list[Level]) -> None:
    assert [level.size for level in one] == [level.size for level in other]
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a.keys, b.keys)
        assert np.array_equal(a.counts, b.counts)


def test_chains_equal_an_enumeration() -> None:
    random = np.random.default_rng(0)
    lengths: set[int] = set()
    gaps = 0
    for case in range(200):
        sample = random_sample(random)
        least, longest = int(random.integers(2, 6)), int(random.choice([2, 3, 4, 6, 10, 30]))
        levels = levels_of(sample, least, longest, int(random.integers(1, 5)))
        found = {}
        for level, chains in zip(levels, decoded(levels, sample.alphabet(least)), strict=True):
            assert len(level.keys)
            assert (np.diff(level.keys) > 0).all()
            for chain, count in zip(chains, level.counts.tolist(), strict=True):
                assert len([token for token in chain if not sample.stop[token]]) == level.size
                found[chain] = count
        assert found == sample.chains(least, longest), case
        lengths |= {level.size for level in levels}
        gaps += any(sample.stop[list(chain)][1:3].all() for chain in found if len(chain) > 3)
    assert lengths >= set(range(2, 11))
    assert gaps > 20


def test_shards_and_threads_make_no_difference() -> None:
    random = np.random.default_rng(1)
    for _ in range(60):
        sample = random_sample(random)
        least, longest = int(random.integers(2, 5)), int(random.choice([2, 3, 5, 10]))
        expected = levels_of(sample, least, longest)
        others: list[tuple[int, Engine]] = [
            (1, Threads(2)),
            (5, Serial()),
            (13, Threads(2)),
        ]
        for pieces, engine in others:
            check_equal(levels_of(sample, least, longest, pieces, engine), expected)


@pytest.mark.parametrize(
    "documents",
    [
        [[]],
        [[], [], []],
        [[0], [1], [0], [1]],
        [[-1, -2, -3, -1]],
        [[2, 2, 2, 2]],
        [[0, -1, 1], [0, -2, 1], [0, -3, 1]],
        [[0, 2, 2, 2, 1]] * 5,
    ],
)
def test_where_nothing_is_frequent(documents: list[list[int]]) -> None:
    sample = Sample(documents, np.array([False, False, True]))
    for pieces in (1, 3):
        assert levels_of(sample, 2, 10, pieces) == []


def test_a_stop_word_may_be_first_and_last_of_a_document_but_not_of_a_chain() -> None:
    sample = Sample([[2, 0, 2, 1, 2]] * 3, np.array([False, False, True]))
    (level,) = levels_of(sample, 2, 10)
    assert decoded([level], sample.alphabet(2)) == [[(0, 2, 1)]]
    assert level.counts.tolist() == [3]


def test_a_rare_word_breaks_a_chain() -> None:
    sample = Sample([[0, 1], [0, 1], [0, 2, 1], [0, 3, 1], [0, 3, 1]], np.zeros(4, dtype=bool))
    levels = levels_of(sample, 2, 10)
    assert decoded(levels, sample.alphabet(2)) == [[(0, 1), (0, 3), (3, 1)], [(0, 3, 1)]]


def test_one_long_repeat_is_followed_to_the_longest() -> None:
    sample = Sample([list(range(40))] * 2, np.zeros(40, dtype=bool))
    for longest in (2, 3, 4, 5, 10, 39, 40, 60):
        levels = levels_of(sample, 2, longest)
        sizes = range(2, min(longest, 40) + 1)
        assert [(level.size, len(level.keys)) for level in levels] == [(n, 41 - n) for n in sizes]


def test_a_crowded_sketch_costs_time_not_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """More different keys than counters: everything is counted exactly, and found."""
    random = np.random.default_rng(2)
    documents = [random.integers(0, 90, 60).tolist() for _ in range(100)]
    sample = Sample(documents, np.arange(90) % 9 == 0)
    expected = levels_of(sample, 3, 4)
    assert decoded(expected, sample.alphabet(3))
    monkeypatch.setattr("strod.phrases.mine.Sketch", lambda _: SmallSketch())
    check_equal(levels_of(sample, 3, 4, 4), expected)


class SmallSketch:
    """Every key may be frequent."""

    def add(self, keys: np.ndarray) -> None:
        """Count nothing."""

    def likely(self, keys: np.ndarray, least: int) -> np.ndarray:
        assert least
        return keys[keys >= 0]


def test_the_commonest_stop_words_and_words_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strod.phrases.stream.MOST_STOPS", 2)
    monkeypatch.setattr("strod.phrases.stream.MOST_WORDS", 3)
    occurrences = np.array([5, 9, 7, 9, 8, 6, 1, 9])
    stop = np.array([True, True, True, True, False, False, False, False])
    alphabet = Alphabet.of(occurrences, stop, 2)
    assert alphabet.stops.tolist() == [1, 3]
    assert alphabet.words.tolist() == [4, 5, 7]
    assert alphabet.code.tolist() == [-1, -2, -1, -3, 0, 1, -1, 2]
