"""One node: how many topics it gets, and of which words."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.datasets.planted import plant
from strod.model.decompose import (
    NEARLY_ALL,
    NEXT_TO_NOTHING,
    POWER,
    NotSplit,
    _energy,
    _Fit,
    _Node,
    _often,
    _tokens,
    split_node,
)
from strod.model.grouping import cut, dendrogram
from strod.model.options import MORE, TreeOptions
from strod.model.polish import Polished, overlap, polish
from strod.model.sampling import root_counts
from strod.moments.moments import Moments
from strod.moments.whitening import Spectrum
from strod.tensor.recovery import Recovered
from strod.values.split import Cooccurrence, Decomposition, FineTopics
from strod.values.words import thinning
from tests.tree.helpers import topical

if TYPE_CHECKING:
    from strod.moments.counts import Counts

pytestmark = pytest.mark.usefixtures("endless")

WORDS = 90


@cache
def sample() -> Counts:
    counts = plant(3, documents=1200, length=40, children=3, words=WORDS, alpha0=0.5).counts
    kept = thinning(np.asarray(counts.sum(axis=0)).ravel(), 5e-4)
    return root_counts(counts, kept, 3)


def split(counts: Counts, *, ahead: bool = True, **options: object) -> Decomposition:
    given = TreeOptions(**options)  # type: ignore[arg-type]
    random = np.random.default_rng(7)
    return split_node([counts], counts.width, given, random, 1, ahead=ahead)


@pytest.mark.parametrize("ahead", [True, False])
@pytest.mark.parametrize("children", [2, 3, 5])
def test_as_many_topics_as_children(children: int, ahead: bool) -> None:
    found = split(sample(), children=children, ahead=ahead)
    assert found.topics.size == children == len(found.overlap.weights)
    assert len(found.merges) == children - 1
    # The spectrum is no larger than it has to be: there are three topics and no junk.
    assert len(found.values) == TreeOptions(children=children).rank(ahead=ahead)


def test_a_light_child_of_many_is_no_junk() -> None:
    """Nine topics of a ninth each, where the data say how many: none is below its due."""
    counts = plant(1, documents=1500, length=40, children=9, words=180, alpha0=0.3).counts
    whole = root_counts(counts, thinning(np.asarray(counts.sum(axis=0)).ravel(), 5e-4), 3)
    found = split(whole, children="auto", width=9, eta=0.8, ahead=False)
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


def node(blocks: list[Counts], options: TreeOptions, *, ahead: bool = False) -> _Node:
    width = blocks[0].width
    moments = Moments.of(blocks, width, 1)
    random = np.random.default_rng(3)
    first, often = _tokens(blocks, width), np.ones(width, dtype=bool)
    given = blocks, first, often, moments, options, random, 1, POWER
    return _Node(*given, blocks[0].size, ahead)


@pytest.mark.parametrize("least", [0, 5, 300, 400, 1000])
def test_words_that_decide_are_most_of_the_tokens(least: int) -> None:
    tokens = np.random.default_rng(5).zipf(1.2, 400).clip(max=1000).astype(float)
    often = _often(tokens, least)
    kept, others = tokens[often], tokens[~often]
    assert others.max(initial=0) <= kept.min()
    assert kept.sum() >= 0.95 * tokens.sum()
    assert len(kept) == min(least, 400) or kept.sum() - kept.min() < 0.95 * tokens.sum()
    assert len(kept) >= min(least, 400)
    assert 5 < _often(tokens, 0).sum() < 300


@pytest.mark.parametrize("polish", [0, 1])
def test_all_words_decide_where_polish_cannot_find_the_others(
    monkeypatch: pytest.MonkeyPatch, polish: int
) -> None:
    monkeypatch.setattr("strod.model.decompose.FEW_WORDS", 0)
    widths = []
    of = Moments.of.__func__  # type: ignore[attr-defined]

    def seen(kind: type[Moments], blocks: list[Counts], width: int, threads: int) -> Moments:
        widths.append(width)
        found: Moments = of(kind, blocks, width, threads)
        return found

    monkeypatch.setattr(Moments, "of", classmethod(seen))
    split(sample(), children=3, polish=polish)
    present = int((_tokens([sample()], WORDS) > 0).sum())
    assert (widths == [present]) == (not polish)


def test_rare_words_belong_to_all_topics_alike_in_the_spectral_start() -> None:
    whole = sample()
    first = _tokens([whole], WORDS)
    np.testing.assert_allclose(first, whole.power(1).T @ whole.document_weight)
    often = first > np.median(first)
    recovered = np.random.default_rng(1).dirichlet(np.ones(often.sum()), 3)
    shares = np.array([0.5, 0.3, 0.2])
    one = node([whole], TreeOptions())._replace(often=often)
    start = one._start(Recovered(shares, recovered, np.ones(3), 1.0)).counts
    np.testing.assert_allclose(start[:, ~often], np.outer(shares, first[~often]), rtol=1e-6)
    total = first[often].sum()
    mixed = 0.01 * first[often] + 0.99 * total * recovered
    np.testing.assert_allclose(start[:, often], shares[:, None] * mixed, rtol=1e-6)
    np.testing.assert_allclose(start.sum(axis=1), shares * first.sum(), rtol=1e-6)


@pytest.mark.parametrize("ahead", [True, False])
def test_topics_are_as_good_without_rare_words_in_the_moments(
    monkeypatch: pytest.MonkeyPatch, ahead: bool
) -> None:
    whole = split(sample(), children=3, ahead=ahead)
    monkeypatch.setattr("strod.model.decompose.FEW_WORDS", 0)
    frequent = split(sample(), children=3, ahead=ahead)
    for one, other in ((whole, frequent), (frequent, whole)):
        distance = abs(one.topics.words.T[:, None] - other.topics.words.T).sum(axis=2)
        assert 0 < distance.min(axis=1).max() < 0.1
    known = frequent.topics.counts.sum(axis=0)
    assert np.array_equal(known > 0, _tokens([sample()], WORDS) > 0)  # polish knows all words


def test_groups_become_topics_of_their_own() -> None:
    blocks, options = [sample()], TreeOptions(children=3, polish=2)
    start = FineTopics(np.random.default_rng(2).gamma(0.3, 9, (8, WORDS)).astype(np.float32))
    fine = polish(blocks, start, 3, 1)
    shared = overlap(blocks, fine.topics, 1, fine.state)
    found, met = node(blocks, options).grouped(fine, shared)
    groups = cut(dendrogram(shared), range(8), 3)
    assert max(len(group) for group in groups) > 1
    sums = np.stack([sum(fine.topics.counts[z] for z in group) for group in groups])
    expected = polish(blocks, FineTopics(sums), 2, 1, guess=True)
    assert np.allclose(found.topics.counts, expected.topics.counts, rtol=1e-5)
    assert np.isclose(met.weights.sum(), 1)


def kinds(*sizes: int) -> Counts:
    """Documents of 20 words, so many of each kind, ten words a kind."""
    random = np.random.default_rng(4)
    rows = [
        np.bincount(10 * kind + random.integers(0, 10, 20), minlength=10 * len(sizes))
        for kind, size in enumerate(sizes)
        for _ in range(size)
    ]
    return topical(np.array(rows, dtype=float))


def test_a_topic_that_is_nearly_all_of_one_kind_is_not_split() -> None:
    whole = kinds(900, 60)
    with pytest.raises(NotSplit, match="one part would be nearly all of it"):
        split(whole, children="auto", ahead=False)
    assert split(whole, children="auto").topics.size == 2  # the root is, in any case
    assert split(whole, children=2, ahead=False).topics.size == 2  # and what is asked for


def test_a_child_that_is_next_to_nothing_is_joined_to_another() -> None:
    whole = kinds(400, 300, 200, 5)
    one = node([whole], TreeOptions(children="auto"))
    start = np.kron(np.eye(4), np.ones(10)) * [[400], [300], [200], [5]] + 0.1
    fine = polish([whole], FineTopics(start.astype(np.float32)), 1, 1)
    shared = overlap([whole], fine.topics, 1, fine.state)
    assert shared.weights.min() < NEXT_TO_NOTHING / 4
    joined, met, shares = one.joined(fine, shared)
    assert joined.topics.size == len(met.weights) == len(shares) == 3
    assert shares.min() >= NEXT_TO_NOTHING / 3
    assert shares.max() <= NEARLY_ALL


@pytest.mark.parametrize(("eta", "expected"), [(0.5, 2), (0.8, 3), (0.99, 4), (1, 4)])
def test_energy(eta: float, expected: int) -> None:
    values = np.array([4.0, 3.0, 2.0, 1.0, 9.0, -5.0])  # of which four count
    assert _energy(values, TreeOptions(width=4, eta=eta)) == expected


def test_few_topics_are_not_grouped() -> None:
    blocks, options = [sample()], TreeOptions(children=4)
    start = FineTopics(np.random.default_rng(2).gamma(0.3, 9, (4, WORDS)).astype(np.float32))
    fine = polish(blocks, start, 1, 1)
    shared = overlap(blocks, fine.topics, 1, fine.state)
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
    monkeypatch.setattr("strod.model.decompose.RETRIES", 0)
    weight, components = lightest()
    assert weight < 0.1
    assert components == 3


def test_junk_of_four_kinds() -> None:
    """Two more decompositions are needed: the first finds more junk, the second the topics."""
    dense = np.pad(sample().power(1).toarray(), ((0, 0), (0, 12)))
    copies = np.zeros((4, WORDS + 12))
    for kind in range(4):
        copies[kind, WORDS + 3 * kind : WORDS + 3 * kind + 3] = 2
    found = split(
        topical(np.vstack([dense, np.repeat(copies, 40, axis=0)])), children=5, ahead=False
    )
    assert found.topics.size == 5
    assert found.overlap.weights.min() > 0.05


def test_few_documents_are_not_junk() -> None:
    """Three topics of four documents each, all below the usual least number of documents."""
    random = np.random.default_rng(0)
    dense = np.zeros((12, 30))
    for number in range(12):
        own = slice(10 * (number % 3), 10 * (number % 3) + 10)
        dense[number, own] = random.multinomial(15, np.full(10, 0.1))
    found = split(topical(dense), children="auto")
    assert found.topics.size == 3
    assert np.allclose(found.overlap.weights, 1 / 3, atol=0.02)


def fit(weights: list[float], documents: list[float], asked: int, values: int = 0) -> _Fit:
    """Topics of which the first has ones, the second twos and so on."""
    k = len(weights)
    counts = np.repeat(np.arange(1.0, k + 1)[:, None], WORDS, axis=1).astype(np.float32)
    shared = Cooccurrence(np.array(weights), np.diag(weights), np.array(documents))
    found = Spectrum(np.zeros(values or k), np.zeros((WORDS, values or k)))
    recovered = Recovered(np.ones(k) / k, np.ones((k, WORDS)) / WORDS, np.ones(k), 1.0)
    polished = Polished(FineTopics(counts), [None])
    return _Fit(found, recovered, 1.0, polished, shared, asked, 5.0, 0.25 / asked)


@pytest.mark.parametrize(
    ("weights", "documents", "asked", "kept"),
    [
        ([0.3, 0.3, 0.01, 0.39], [9, 9, 9, 9], 3, [1, 2, 4]),  # too light
        ([0.3, 0.3, 0.2, 0.2], [9, 9, 2, 9], 3, [1, 2, 4]),  # of too few documents
        ([0.3, 0.3, 0.2, 0.2], [9, 9, 9, 9], 3, [1, 2, 3, 4]),  # all strong: to be grouped
        ([0.02, 0.48, 0.03, 0.47], [9, 9, 9, 9], 3, [2, 3, 4]),  # the heaviest of the weak
        ([0.02, 0.97, 0.01], [1, 9, 1], 3, [1, 2, 3]),  # there is nothing else
    ],
)
def test_which_topics_are_dropped(
    weights: list[float], documents: list[float], asked: int, kept: list[int]
) -> None:
    options = TreeOptions(children=asked, polish=0)
    polished, _ = node([sample()], options).without_junk(fit(weights, documents, asked))
    assert polished.topics.counts[:, 0].tolist() == kept


def test_none_is_dropped_where_fewer_than_two_are_strong() -> None:
    one = fit([0.4, 0.3, 0.3], [9, 2, 2], 2)
    polished, _ = node([sample()], TreeOptions(children="auto", polish=0)).without_junk(one)
    assert polished.topics.size == 3


@pytest.mark.parametrize(
    ("strong", "asked", "ranks", "best"),
    [
        ([5], 5, [5], 0),
        ([3, 5], 5, [5, 7], 1),
        ([3, 4, 5], 5, [5, 7, 8], 2),
        ([7, 4, 4], 8, [8, 9, 13], 0),  # what came later was worse
        ([3, 5, 3], 8, [8, 13, 16], 1),
        ([4, 4, 4], 5, [5, 6, 7], 0),  # or no better
        ([1, 30], 30, [30, 30 + MORE], 1),
        ([1], 90, [90], 0),  # there are not more words
    ],
)
def test_what_is_tried_and_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, strong: list[int], asked: int, ranks: list[int], best: int
) -> None:
    tried: list[tuple[int, _Fit]] = []

    def decomposed(_: _Node, rank: int) -> _Fit:
        many = strong[min(len(tried), len(strong) - 1)]
        heavy = [1 / many] * many + [0.0] * (rank - many)
        tried.append((rank, fit(heavy, [9.0] * rank, asked)))
        return tried[-1][1]

    monkeypatch.setattr(_Node, "decomposed", decomposed)
    found = node([sample()], TreeOptions(children=asked)).best()
    assert [rank for rank, _ in tried] == ranks
    assert found is tried[best][1]


@pytest.mark.parametrize(("children", "ahead"), [("auto", False), (5, True)])
def test_once_where_nothing_can_be_replaced(
    monkeypatch: pytest.MonkeyPatch, children: int | str, ahead: bool
) -> None:
    only, calls = fit([1.0, 0.0], [9, 9], 5), []

    def decomposed(_: _Node, rank: int) -> _Fit:
        calls.append(rank)
        return only

    monkeypatch.setattr(_Node, "decomposed", decomposed)
    assert node([sample()], TreeOptions(children=children), ahead=ahead).best() is only
    assert len(calls) == 1


@pytest.mark.parametrize(("ahead", "share"), [(True, 0.1 / 5), (False, 0.25 / 3)])
@pytest.mark.parametrize(("documents", "least"), [(1200, 5.0), (20, 2.0)])
def test_what_a_topic_must_reach(ahead: bool, share: float, documents: int, least: float) -> None:
    one = node([sample()], TreeOptions(children=3), ahead=ahead)._replace(documents=documents)
    found = one.decomposed(5)
    assert found.polished.topics.size == 5
    assert found.documents == least
    assert np.isclose(found.weight, share)


def test_more_topics_than_children_are_grouped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Node, "best", lambda self: self.decomposed(5))
    monkeypatch.setattr("strod.model.decompose.SLIGHT", 0.0)
    assert split(sample(), children=3, ahead=False).topics.size == 3
