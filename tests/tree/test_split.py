"""One node: how many topics it gets, and of which words."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.moments.moments import Moments
from strod.tree.grouping import cut, dendrogram
from strod.tree.inference import FineTopics
from strod.tree.options import TreeOptions
from strod.tree.planted import plant
from strod.tree.polish import overlap, polish
from strod.tree.sampling import root_counts, thinning
from strod.tree.split import POWER, Split, _Node, split_node
from strod.work import Serial
from tests.tree.helpers import topical

if TYPE_CHECKING:
    from strod.moments.counts import Counts

WORDS = 90


@cache
def sample() -> Counts:
    counts = plant(3, documents=1200, length=40, children=3, words=WORDS, alpha0=0.5).counts
    kept = thinning(np.asarray(counts.sum(axis=0)).ravel(), 5e-4)
    return root_counts(counts, kept, 3)


def split(counts: Counts, *, ahead: bool = True, **options: object) -> Split:
    given = TreeOptions(**options)  # type: ignore[arg-type]
    random = np.random.default_rng(7)
    return split_node([counts], counts.width, given, random, Serial(), ahead=ahead)


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("children", [2, 3, 5])
def test_as_many_topics_as_children(children: int, ahead: bool) -> None:
    found = split(sample(), children=children, ahead=ahead)
    assert found.topics.size == children == len(found.overlap.weights)
    assert len(found.merges) == children - 1
    # The spectrum is no larger than it has to be: there are three topics and no junk.
    if ahead or children <= 3:
        assert len(found.values) == TreeOptions(children=children).rank(ahead=ahead)


def test_a_light_child_of_many_is_no_junk() -> None:
    """Nine topics of a ninth each, where the data say how many: none is below its due."""
    counts = plant(1, documents=1500, length=40, children=9, words=180, alpha0=0.3).counts
    whole = root_counts(counts, thinning(np.asarray(counts.sum(axis=0)).ravel(), 5e-4), 3)
    found = split(whole, children="auto", width=9, ahead=False)
    assert found.topics.size > 5
    assert found.overlap.weights.min() < 0.125


@pytest.mark.parametrize("ahead", [True, False])
def test_a_number_that_the_data_give(ahead: bool) -> None:
    found = split(sample(), children="auto", width=6, ahead=ahead)
    assert 2 <= found.topics.size <= 6


@pytest.mark.parametrize("ahead", [True, False])
def test_words_that_do_not_occur_change_nothing(ahead: bool) -> None:
    places = np.sort(np.random.default_rng(1).permutation(400)[:WORDS]).astype(np.int32)
    wide = replace(sample(), indices=places[sample().indices], width=400)
    few, many = (split(counts, children=3, ahead=ahead) for counts in (sample(), wide))
    assert many.topics.counts.shape == (3, 400)
    assert many.topics.counts[:, places].tobytes() == few.topics.counts.tobytes()
    assert not np.delete(many.topics.counts, places, axis=1).any()
    assert many.overlap.joint.tobytes() == few.overlap.joint.tobytes()
    assert (many.values, many.noise, many.documents) == (few.values, few.noise, few.documents)


def node(blocks: list[Counts], options: TreeOptions) -> _Node:
    moments = Moments.of(blocks, WORDS, Serial())
    return _Node(blocks, moments, options, np.random.default_rng(3), Serial(), POWER)


def test_groups_become_topics_of_their_own() -> None:
    blocks, options = [sample()], TreeOptions(children=3, polish=2)
    start = FineTopics(np.random.default_rng(2).gamma(0.3, 9, (8, WORDS)).astype(np.float32))
    fine = polish(blocks, start, 3, Serial())
    shared = overlap(blocks, fine.topics, Serial(), fine.state)
    found, met = node(blocks, options).grouped(fine, shared)
    groups = cut(dendrogram(shared), range(8), 3)
    assert max(len(group) for group in groups) > 1
    sums = np.stack([sum(fine.topics.counts[z] for z in group) for group in groups])
    expected = polish(blocks, FineTopics(sums), 2, Serial())
    assert np.allclose(found.topics.counts, expected.topics.counts, rtol=1e-5)
    assert np.isclose(met.weights.sum(), 1)


def test_few_topics_are_not_grouped() -> None:
    blocks, options = [sample()], TreeOptions(children=4)
    start = FineTopics(np.random.default_rng(2).gamma(0.3, 9, (4, WORDS)).astype(np.float32))
    fine = polish(blocks, start, 1, Serial())
    shared = overlap(blocks, fine.topics, Serial(), fine.state)
    assert node(blocks, options).grouped(fine, shared) == (fine, shared)


def test_junk_takes_no_place_of_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty copies of one short text, of words of its own."""
    dense = sample().power(1).toarray()
    same = np.concatenate([np.zeros(WORDS), np.full(3, 2.0)])
    whole = topical(np.vstack([np.pad(dense, ((0, 0), (0, 3))), np.tile(same, (60, 1))]))

    def lightest() -> tuple[float, int]:
        found = split(whole, children=3, ahead=False)
        assert found.topics.size == 3
        return found.overlap.weights.min(), len(found.values)

    weight, components = lightest()
    assert weight > 0.3
    assert components == 4
    monkeypatch.setattr("strod.tree.split.RETRIES", 0)
    weight, components = lightest()
    assert weight < 0.1
    assert components == 3
