"""Topical counts against loops over tokens."""

from __future__ import annotations

import numpy as np
import pytest

from strod.moments import counts as module
from strod.moments.counts import LONG
from tests import oracles
from tests.oracles import Document, random_documents
from tests.tree.helpers import topical

EXACT = 1e-10


def expected(documents: list[Document], order: int, long: float = LONG) -> list[float]:
    """Weight of all tuples of distinct tokens, for each document."""
    return [sum(weight for _, weight in oracles.tuples(d, order, long)) for d in documents]


@pytest.mark.parametrize("chance", ["one", "fraction"])
def test_powers_and_lengths(chance: str) -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        width = int(random.integers(2, 8))
        documents = random_documents(random, width, 5, chance=chance)
        counts = oracles.counts(documents, width)
        assert (counts.size, counts.width) == (5, width)
        for exponent in (1, 2, 3):
            dense = np.zeros((5, width))
            for row, document in enumerate(documents):
                for word, probability in document:
                    dense[row, word] += probability**exponent
            assert np.allclose(counts.power(exponent).toarray(), dense, rtol=0, atol=EXACT)
            assert np.allclose(counts.length(exponent), dense.sum(axis=1), rtol=0, atol=EXACT)


@pytest.mark.parametrize("long", [100.0, 2.5, 0.5])
@pytest.mark.parametrize("chance", ["one", "fraction"])
def test_pairs_and_triples(chance: str, long: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", long)
    random = np.random.default_rng(2)
    for _ in range(30):
        width = int(random.integers(2, 8))
        documents = random_documents(random, width, 5, chance=chance)
        counts = oracles.counts(documents, width)
        say = [oracles.say(document, long) for document in documents]
        assert np.allclose(counts.document_weight, say, rtol=1e-12, atol=0)
        assert np.allclose(counts.pairs(), expected(documents, 2, long), rtol=0, atol=EXACT)
        assert np.allclose(counts.triples(), expected(documents, 3, long), rtol=0, atol=EXACT)
        assert counts.pairs().min() >= 0
        assert counts.triples().min() >= 0


def test_too_few_tokens_are_no_pair_and_no_triple() -> None:
    """Exactly zero: rounding must not look like evidence."""
    random = np.random.default_rng(3)
    documents: list[Document] = [[]]
    for chance in random.random(100, dtype=np.float32):
        documents.append([(0, float(chance))])
        documents.append([(1, float(chance)), (2, float(random.random(dtype=np.float32)))])
        documents.append([(3, float(chance))] * 2)
    counts = oracles.counts(documents, 4)
    single = np.array([len(document) < 2 for document in documents])
    assert not counts.pairs()[single].any()
    assert (counts.pairs()[~single] > 0).all()
    assert not counts.triples().any()


def test_rare_but_real_triples_count() -> None:
    documents: list[Document] = [[(0, 0.5), (1, 0.5), (2, 2.0**-20)], [(0, 2.0**-10)] * 3]
    triples = oracles.counts(documents, 3).triples()
    assert np.allclose(triples, expected(documents, 3), rtol=1e-8, atol=0)


def test_long_documents_count_as_if_cut() -> None:
    lengths = [1, 99, 100, 101, 1000]
    documents = [[(i % 7, 1.0) for i in range(length)] for length in lengths]
    counts = oracles.counts(documents, 7)
    assert np.allclose(counts.document_weight, [1, 1, 1, 100 / 101, 0.1], rtol=1e-12, atol=0)
    assert np.allclose(
        counts.document_weight * counts.length(1), [1, 99, 100, 100, 100], rtol=1e-12, atol=0
    )
    # Long is what belongs to the topic, not what is in the document.
    halves = oracles.counts([[(word, 0.5) for word, _ in document] for document in documents], 7)
    assert np.allclose(halves.document_weight, [1, 1, 1, 1, 0.2], rtol=1e-12, atol=0)


def test_sample() -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        documents = random_documents(random, 6, 8, chance="fraction")
        chosen = random.random(8) < random.choice([0.0, 0.5, 1.0])
        sample = oracles.counts(documents, 6).sample(chosen)
        kept = [document for document, keep in zip(documents, chosen, strict=True) if keep]
        wanted = oracles.counts(kept, 6)
        assert (sample.size, sample.width) == (len(kept), 6)
        for name in ("indptr", "indices", "tokens", "probability"):
            found, right = getattr(sample, name), getattr(wanted, name)
            assert np.array_equal(found, right), name
            assert found.dtype.kind == right.dtype.kind, name
        assert np.array_equal(sample.triples(), wanted.triples())


def test_words_where() -> None:
    whole = topical([[1, 2, 0, 3], [0, 0, 0, 0], [4, 0, 5, 0]])
    some = whole.words_where(np.array([True, False, True, False, True]))
    assert some.power(1).toarray().tolist() == [[1, 0, 0, 3], [0, 0, 0, 0], [0, 0, 5, 0]]
    assert some.sizes.tolist() == [2, 0, 1]


def test_renumbered_over_the_words_that_occur() -> None:
    random = np.random.default_rng(5)
    documents = random_documents(random, 9, 6, chance="fraction")
    documents = [[(word, p) for word, p in document if word % 2] for document in documents]
    counts = oracles.counts(documents, 9)
    present = np.unique(counts.indices).astype(np.int64)
    less = counts.renumbered(present)
    assert less.width == len(present) < 9
    for exponent in (1, 2, 3):
        dense = counts.power(exponent).toarray()
        assert np.array_equal(less.power(exponent).toarray(), dense[:, present])


def test_documents_that_speak_are_those_with_words() -> None:
    documents: list[Document] = [[], [(0, 1.0), (1, 0.5)], [], [(1, 0.25)], []]
    counts = oracles.counts(documents, 2)
    some, speak = counts.speaking()
    assert speak.tolist() == [False, True, False, True, False]
    dense = counts.power(1).toarray()
    assert (some.power(1).toarray() == dense[speak]).all()
    assert some.indices is counts.indices
    assert oracles.counts([[], []], 2).speaking()[0].size == 0
