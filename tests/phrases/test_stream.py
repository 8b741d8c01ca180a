"""Links: what they pack, and where they are in documents."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from strod.phrases.stream import MOST_STOPS, MOST_WORDS, Alphabet
from tests.phrases.helpers import random_sample, rows, spoken


def alphabet_of(words: int, stops: int) -> Alphabet:
    """Content words first, then stop words."""
    numbers = np.arange(words + stops, dtype=np.int32)
    return Alphabet.from_words(numbers[:words], numbers[words:], words + stops)


@pytest.mark.parametrize("stops", [0, 1, 2, 3, 7])
def test_all_gaps_have_keys_of_their_own(stops: int) -> None:
    alphabet = alphabet_of(3, stops)
    places = range(stops)
    gaps = [list(gap) for size in range(3) for gap in product(places, repeat=size)]
    packed = [(left, gap, right) for left in range(3) for gap in gaps for right in range(3)]
    keys = [alphabet.key(*parts) for parts in packed]
    assert len(set(keys)) == len(keys)
    assert [alphabet.unpack(key) for key in keys] == packed


def test_the_largest_alphabet() -> None:
    alphabet = alphabet_of(MOST_WORDS, MOST_STOPS)
    last, stop = MOST_WORDS - 1, MOST_STOPS - 1
    gaps: list[list[int]] = [[], [0], [stop], [0, 0], [0, stop], [stop, 0], [stop, stop]]
    for left, gap, right in product([0, 1, last], gaps, [0, 1, last]):
        key = alphabet.key(left, gap, right)
        assert 0 <= key < 2**62
        assert alphabet.unpack(key) == (left, gap, right)
    tokens = [last, MOST_WORDS + stop, MOST_WORDS + stop, last, 0, MOST_WORDS, last]
    words, links = alphabet.chain(tokens)
    assert words == (last, last, 0, last)
    assert list(spoken(links, alphabet)) == tokens
    found = alphabet.links(rows([tokens]))
    assert found.words.tolist() == list(words)
    assert found.keys.tolist() == [*links, -1]


def test_chains_come_back() -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        words, stops = int(random.integers(1, 50)), int(random.integers(0, 30))
        numbers = random.permutation(100).astype(np.int32)
        alphabet = Alphabet.from_words(numbers[:words], numbers[words : words + stops], 100)
        tokens = [int(random.choice(alphabet.words))]
        for _ in range(int(random.integers(1, 8))):
            gap = int(random.integers(0, 3)) if stops else 0
            tokens += [int(random.choice(alphabet.stops)) for _ in range(gap)]
            tokens.append(int(random.choice(alphabet.words)))
        content, links = alphabet.chain(tokens)
        assert list(spoken(links, alphabet)) == tokens
        inside = [token for token in tokens if token in set(alphabet.words.tolist())]
        assert alphabet.words[list(content)].tolist() == inside
        found = alphabet.links(rows([tokens]))
        assert found.keys.tolist() == [*links, -1]


def naive_links(document: list[int], alphabet: Alphabet) -> tuple[list[int], list[int]]:
    """Content words, and the link from each to the next."""
    code = alphabet.code
    places = [i for i, token in enumerate(document) if token >= 0 and code[token] >= 0]
    keys = []
    for place, following in pairwise(places):
        gap = document[place + 1 : following]
        key = -1
        if len(gap) <= 2 and all(token >= 0 and code[token] < -1 for token in gap):
            left, right = int(code[document[place]]), int(code[document[following]])
            key = alphabet.key(left, [-2 - int(code[token]) for token in gap], right)
        keys.append(key)
    return [int(code[document[place]]) for place in places], keys + [-1] * bool(places)


def test_links_of_documents_equal_a_naive_reading() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        sample = random_sample(random)
        alphabet = sample.alphabet(int(random.integers(1, 6)))
        found = alphabet.links(rows(sample.documents))
        words, keys, ends = [], [], [0]
        for document in sample.documents:
            own, links = naive_links(document, alphabet)
            words += own
            keys += links
            ends.append(len(words))
        assert found.words.tolist() == words
        assert found.keys.tolist() == keys
        assert found.ends.tolist() == ends


def test_nothing_reaches_across_documents() -> None:
    alphabet = alphabet_of(2, 1)
    found = alphabet.links(rows([[0], [1, 2], [1], [], [2], [0, 1]]))
    assert found.keys.tolist() == [-1, -1, -1, alphabet.key(0, [], 1), -1]
    assert found.ends.tolist() == [0, 1, 2, 3, 3, 3, 5]
