"""Copied text against a dictionary of shingles."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from strod.engine.threads import Serial
from strod.evaluate import copies
from strod.evaluate.copies import Asked, find_copies
from strod.progress import Silent
from tests.evaluate.test_coherence import Stream

WORDS = 30


def texts(seed: int) -> list[list[int]]:
    """Random words; every third document has a passage, of which there are two."""
    random = np.random.default_rng(seed)
    passages = random.integers(0, WORDS, (2, 12)).tolist()
    documents = []
    for number in range(30):
        own = random.integers(-2, WORDS, random.integers(0, 20)).tolist()
        middle = passages[number % 2] if number % 3 == 0 else []
        documents.append(own[:5] + middle + own[5:])
    return [*documents, [1, 2], [1, 2], [1, 2], []]


def naive(documents: list[list[int]]) -> tuple[list[int], list[int], list[int], list[int]]:
    holders: dict[tuple[int, ...], set[int]] = defaultdict(set)
    shingles = []
    for number, document in enumerate(documents):
        words = [token for token in document if token >= 0]
        size = min(len(words), 8)
        own = [tuple(words[i : i + size]) for i in range(len(words) - size + 1)] if words else []
        shingles.append(own)
        for shingle in own:
            holders[shingle].add(number)
    copied = [[len(holders[shingle]) >= 3 for shingle in own] for own in shingles]
    seen_words, copied_words = [0] * WORDS, [0] * WORDS
    for own, flags in zip(shingles, copied, strict=True):
        for shingle, flag in zip(own, flags, strict=True):
            for word in shingle:
                seen_words[word] += 1
                copied_words[word] += flag
    return list(map(len, shingles)), list(map(sum, copied)), seen_words, copied_words


@pytest.mark.parametrize("seed", range(3))
def test_naive(seed: int) -> None:
    documents = texts(seed)
    shards = [Stream(documents[:13]), Stream(documents[13:], 13)]
    number = np.arange(WORDS, dtype=np.int32)
    found = find_copies(shards, 300, Asked(number, WORDS), Serial(), Silent())
    assert tuple(array.tolist() for array in found) == naive(documents)
    assert found.copied.sum() > 40
    number[5:] = -1  # only some words are asked for
    few = find_copies(shards, 300, Asked(number, 5), Serial(), Silent())
    assert few.word_seen.tolist() == found.word_seen[:5].tolist()


def test_a_sample_tells_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [one for seed in range(40) for one in texts(seed)]
    number = np.full(WORDS, -1, dtype=np.int32)
    whole = find_copies([Stream(documents)], 1, Asked(number, 0), Serial(), Silent())
    monkeypatch.setattr(copies, "MOST", 1000)
    some = find_copies([Stream(documents)], 4000, Asked(number, 0), Serial(), Silent())
    assert some.seen.sum() == pytest.approx(whole.seen.sum() / 4, rel=0.15)
    shares = [found.copied.sum() / found.seen.sum() for found in (whole, some)]
    assert shares[1] == pytest.approx(shares[0], abs=0.06)
    assert 0.2 < shares[0] < 0.5


def test_nothing() -> None:
    found = find_copies([], 0, Asked(np.zeros(0, dtype=np.int32), 0), Serial(), Silent())
    assert [array.tolist() for array in found] == [[], [], [], []]
