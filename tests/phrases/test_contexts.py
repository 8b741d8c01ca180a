"""Surroundings of phrases, by enumeration; what is copied is not listed."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest

import strod
from strod.phrases.contexts import ENOUGH, LONG_SIDE, ONE_SIDE, Contexts, Occurrences, occurrences
from strod.phrases.segmentation import Segmenter
from tests.phrases.helpers import random_sample
from tests.phrases.test_criteria import woven
from tests.phrases.test_segmentation import random_phrases

if TYPE_CHECKING:
    from pathlib import Path

Unit = tuple[int, ...]


def around(units: list[int], place: int) -> tuple[Unit, Unit, Unit]:
    """What stands before a unit, after it, and its neighbours; the end is like no other."""
    framed = [-1, -1, *units, -1, -1]
    at = place + 2
    before, after = tuple(framed[at - 2 : at]), tuple(framed[at + 1 : at + 3])
    return before, after, (framed[at - 1], framed[at + 1])


def test_surroundings_equal_a_naive_count() -> None:
    random = np.random.default_rng(3)
    for case in range(50):
        sample = random_sample(random)
        alphabet = sample.alphabet(2)
        phrases = random_phrases(random, sample, alphabet)
        segmenter, contexts = Segmenter(alphabet, phrases), Contexts(np.full(len(phrases), 2))
        columns = np.arange(segmenter.units, dtype=np.int32)
        found: dict[int, list[tuple[Unit, Unit, Unit]]] = defaultdict(list)
        for shard in sample.shards(3):
            contexts.add(segmenter.counts(shard, columns, segmenter.units)[1])
            units, sizes = segmenter.cut(shard)
            for own in np.split(units, np.cumsum(sizes)[:-1]):
                for place, unit in enumerate(own.tolist()):
                    if unit >= len(alphabet.words):
                        found[unit - len(alphabet.words)].append(around(own.tolist(), place))
        for phrase in range(len(phrases)):
            mine = found[phrase]
            assert contexts.total[phrase] == len(mine), case
            first = mine[:ENOUGH]
            last = sum(after[0] == -1 for _, after, _ in first)
            assert contexts.distinct[:, phrase].tolist() == [
                len({before for before, _, _ in first}),
                len({after for _, after, _ in first if after[0] != -1}) + last,
                min(len({both for _, _, both in mine}), ENOUGH),
            ], case


@pytest.mark.parametrize(("words", "alike"), [(2, ONE_SIDE), (5, ONE_SIDE), (6, LONG_SIDE)])
def test_variety_is_that_of_the_side_that_is_more_alike(words: int, alike: float) -> None:
    """Ten occurrences: two things before them, five after them, ten pairs."""
    before, after = np.arange(10) % 2, np.arange(10) % 5
    contexts = Contexts(np.array([words]))
    kinds = [before + 1, after + 11, np.arange(10) + 21]
    digests = (kind.astype(np.uint64) << np.uint64(50) for kind in kinds)
    contexts.add(Occurrences(np.zeros(10, dtype=np.int32), *digests))
    assert contexts.distinct[:, 0].tolist() == [2, 5, 10]
    assert contexts.varied[0] == pytest.approx(0.2 + alike)


def test_variety_does_not_fall_with_the_size_of_the_corpus() -> None:
    contexts = Contexts(np.array([2]))
    for block in range(50):
        random = np.random.default_rng(block).integers(0, 300, (3, 1000)).astype(np.uint64)
        kinds = np.array([[1], [1001], [2001]], dtype=np.uint64)
        spread = (random + kinds) * np.uint64(0x9E3779B97F4A7C15)
        contexts.add(Occurrences(np.zeros(1000, dtype=np.int32), *spread))
    assert contexts.total[0] == 50_000
    assert contexts.distinct[2, 0] == ENOUGH
    assert contexts.varied[0] == 1


def test_no_phrases_and_no_documents() -> None:
    nothing = np.zeros(0, dtype=np.int32)
    found = occurrences(nothing, np.zeros(3, dtype=np.int64), 5)
    assert [len(part) for part in found] == [0, 0, 0, 0]
    contexts = Contexts(np.zeros(0, dtype=np.int64))
    contexts.add(found)
    assert contexts.varied.shape == (0,)


SUBJECT = "dumbest automotive concepts of all time"


def listed(texts: list[str], path: Path) -> list[str]:
    made = strod.build(texts, out=path / "w.strod", height=0)
    return [text.lower() for text, _ in made.tree.root.phrases]


def test_the_subject_of_a_thread_is_not_listed(tmp_path: Path) -> None:
    """It is followed by whatever somebody has to say, and by nothing else preceded."""
    others = woven("wheel bearing", times=40, seed=1)
    thread = [f"Re: {SUBJECT}. {text}" for text in others]
    found = listed(thread + woven("support vector machine", times=40), tmp_path)
    assert "support vector machine" in found
    assert SUBJECT not in found


def test_what_titles_end_with_is_not_copied_and_what_they_begin_with_is() -> None:
    """Ten titles of three units; of a hundred units the last two are phrases."""
    titles = np.array([[98, word, 99] for word in range(10)], dtype=np.int32)
    contexts = Contexts(np.array([2, 5]))
    contexts.add(occurrences(titles.ravel(), np.full(10, 3), 98))
    assert contexts.distinct.T.tolist() == [[1, 10, 10], [10, 10, 10]]
    assert contexts.varied.tolist() == [0.1 + ONE_SIDE, 1]
