"""Cutting documents: the best of all ways, and every word once."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.phrases.quality import Phrase
from strod.phrases.segmentation import Segmenter
from tests.phrases.helpers import Sample, random_sample, rows

if TYPE_CHECKING:
    from strod.phrases.stream import Alphabet

LONGEST = 5


def random_phrases(random: np.random.Generator, sample: Sample, alphabet: Alphabet) -> list[Phrase]:
    """Some of the chains, with any cohesion: overlapping, nested, with gaps."""
    chains = sorted(sample.chains(2, LONGEST))
    chosen = [chain for chain in chains if random.random() < 0.3][:15]
    return [
        Phrase(*alphabet.chain(list(chain)), 2, 3.0, float(random.uniform(0.3, 1)))
        for chain in random.permutation(np.array(chosen, dtype=object)).tolist()
    ]


def best_sum(document: list[int], alphabet: Alphabet, phrases: list[Phrase]) -> float:
    """The largest sum of weights over all cuts of a document."""
    links = alphabet.links(rows([document]))
    keys = links.keys.tolist()
    weight = {phrase.links: (len(phrase.words) - 1) * phrase.cohesion for phrase in phrases}

    @cache
    def best(begin: int) -> float:
        if begin == len(keys):
            return 0.0
        ways = [best(begin + 1)]
        for end in range(begin + 1, min(begin + LONGEST, len(keys))):
            part = tuple(keys[begin:end])
            if part in weight:
                ways.append(weight[part] + best(end + 1))
        return max(ways)

    return best(0)


def content_words(document: list[int], alphabet: Alphabet) -> list[int]:
    codes = [int(alphabet.code[token]) for token in document if token >= 0]
    return [code for code in codes if code >= 0]


def test_the_best_of_all_cuts_and_every_word_once() -> None:
    random = np.random.default_rng(0)
    cut_out = 0
    for _ in range(100):
        sample = random_sample(random)
        alphabet = sample.alphabet(2)
        phrases = random_phrases(random, sample, alphabet)
        width = len(alphabet.words)
        units, sizes = Segmenter(alphabet, phrases).cut(rows(sample.documents))
        assert len(sizes) == len(sample.documents)
        ends = np.cumsum(sizes)
        for document, own in zip(sample.documents, np.split(units, ends[:-1]), strict=True):
            parts = [phrases[u - width].words if u >= width else (int(u),) for u in own]
            assert [word for part in parts for word in part] == content_words(document, alphabet)
            used = [phrases[u - width] for u in own if u >= width]
            found = sum((len(phrase.words) - 1) * phrase.cohesion for phrase in used)
            assert found == pytest.approx(best_sum(document, alphabet, phrases), abs=1e-12)
            cut_out += len(used)
    assert cut_out > 300


def test_units_stand_where_their_links_are() -> None:
    """A phrase is cut out only where its own stop words stand inside."""
    random = np.random.default_rng(1)
    for _ in range(50):
        sample = random_sample(random)
        alphabet = sample.alphabet(2)
        phrases = random_phrases(random, sample, alphabet)
        for document in sample.documents:
            links = alphabet.links(rows([document])).keys.tolist()
            place = 0
            for unit in Segmenter(alphabet, phrases).cut(rows([document]))[0].tolist():
                size = 1
                if unit >= len(alphabet.words):
                    phrase = phrases[unit - len(alphabet.words)]
                    size = len(phrase.words)
                    assert tuple(links[place : place + size - 1]) == phrase.links
                place += size


def test_one_occurrence_counts_once() -> None:
    random = np.random.default_rng(2)
    for _ in range(50):
        sample = random_sample(random)
        alphabet = sample.alphabet(2)
        phrases = random_phrases(random, sample, alphabet)
        segmenter = Segmenter(alphabet, phrases)
        columns = np.arange(segmenter.units, dtype=np.int32)
        shard = rows(sample.documents)
        counts = segmenter.counts(shard, columns, segmenter.units)[0]
        lengths = np.array([1] * len(alphabet.words) + [len(phrase.words) for phrase in phrases])
        expected = [len(content_words(document, alphabet)) for document in sample.documents]
        assert (counts @ lengths).tolist() == expected
        units, sizes = segmenter.cut(shard)
        for row, own in zip(counts.toarray(), np.split(units, np.cumsum(sizes)[:-1]), strict=True):
            assert {u: n for u, n in enumerate(row.tolist()) if n} == Counter(own.tolist())


def test_forms_of_one_unit_are_one_column() -> None:
    sample = Sample([[0, 1, 2], [2, 1], [0, 1, 1]], np.zeros(3, dtype=bool))
    alphabet = sample.alphabet(1)
    phrases = [Phrase(*alphabet.chain(list(chain)), 1, 3.0, 1.0) for chain in [(0, 1), (2, 1)]]
    columns = np.array([0, 1, 2, 3, 3], dtype=np.int32)
    counts = Segmenter(alphabet, phrases).counts(rows(sample.documents), columns, 4)[0]
    assert counts.toarray().tolist() == [[0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 0, 1]]


def test_without_phrases_and_without_words() -> None:
    sample = Sample([[0, 1, 0], [], [2]], np.array([False, False, True]))
    alphabet = sample.alphabet(1)
    units, sizes = Segmenter(alphabet, []).cut(rows(sample.documents))
    assert (units.tolist(), sizes.tolist()) == ([0, 1, 0], [3, 0, 0])
    phrase = Phrase(*alphabet.chain([0, 1]), 2, 3.0, 0.5)
    units, sizes = Segmenter(alphabet, [phrase]).cut(rows([[], [2, -1]]))
    assert (units.tolist(), sizes.tolist()) == ([], [0, 0])


def test_a_chain_longer_than_any_phrase() -> None:
    sample = Sample([[0, 1] * 400], np.zeros(2, dtype=bool))
    alphabet = sample.alphabet(1)
    phrase = Phrase(*alphabet.chain([0, 1]), 2, 3.0, 0.5)
    units, _ = Segmenter(alphabet, [phrase]).cut(rows(sample.documents))
    assert units.tolist() == [2] * 400
