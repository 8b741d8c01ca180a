"""Contractions of M1, E2 and E3 against sums over tuples of tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from strod.moments import counts as counts_module
from strod.moments import moments as module
from strod.moments.moments import Moments, filled
from tests import oracles
from tests.oracles import ORDERS, Document, random_documents

if TYPE_CHECKING:
    from strod.moments.counts import Counts

EXACT = 1e-10
CASES = 35  # for each of twelve kinds: 420 in all


def blocks(documents: list[Document], width: int, parts: int) -> list[Counts]:
    edges = np.linspace(0, len(documents), parts + 1).astype(int)
    return [oracles.counts(documents[start:end], width) for start, end in pairwise(edges)]


def moments(documents: list[Document], width: int, parts: int = 1) -> Moments:
    return Moments.of(blocks(documents, width, parts), width, 1)


def check(found: Moments, documents: list[Document], random: np.random.Generator, long: float):
    """Compare with the definitions; whether there was a triple to compare."""
    width = found.width
    first, tokens = oracles.moment(documents, width, 1, long)
    second, pairs = oracles.moment(documents, width, 2, long)
    third, triples = oracles.moment(documents, width, 3, long)
    totals = [found.tokens, found.pairs, found.triples]
    assert np.allclose(totals, [tokens, pairs, triples], rtol=EXACT, atol=EXACT)
    assert np.allclose(found.first, first, rtol=0, atol=EXACT)
    vectors = random.standard_normal((width, int(random.integers(1, 10))))
    if pairs > 0:
        assert np.allclose(found.second(vectors), second @ vectors, rtol=0, atol=EXACT)
    if triples > 1e-3:  # else rounding is divided by too little
        basis = random.standard_normal((width, int(random.integers(1, 10))))
        exact = oracles.contract(third, basis)
        assert np.allclose(found.third(basis), exact, rtol=0, atol=EXACT)
    return triples > 1e-3


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("long", [100.0, 2.25])
@pytest.mark.parametrize("chance", ["one", "fraction"])
def test_contractions(
    chance: str, long: float, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_module, "LONG", long)
    random = np.random.default_rng([parts, int(long), len(chance)])
    compared = 0
    for _ in range(CASES):
        width = int(random.integers(2, 8))
        documents = random_documents(random, width, int(random.integers(1, 6)), chance=chance)
        compared += check(moments(documents, width, parts), documents, random, long)
    assert compared > CASES / 2


def test_long_documents_without_a_patch() -> None:
    random = np.random.default_rng(5)
    lengths = [104, 5, 3]
    documents = [[(int(w), 1.0) for w in random.integers(4, size=n)] for n in lengths]
    documents[0] = [(word, 0.984375) for word, _ in documents[0]]  # 102.4 in all
    assert check(moments(documents, 4, 2), documents, random, 100.0)
    # The limit matters: without it the numbers are others.
    assert not np.allclose(moments(documents, 4).first, oracles.moment(documents, 4, 1, 1e9)[0])


def test_rows_are_taken_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    documents = random_documents(random, 7, 11, chance="fraction")
    basis = random.standard_normal((7, 3))
    whole = moments(documents, 7).third(basis)
    for rows in (1, 2, 3, 5):
        monkeypatch.setattr(module, "ROWS", rows)
        assert np.allclose(moments(documents, 7).third(basis), whole, rtol=0, atol=1e-13)


def test_a_chance_that_all_tokens_share_cancels() -> None:
    random = np.random.default_rng(7)
    documents = random_documents(random, 6, 8, chance="fraction")
    thinned = [[(word, chance / 4) for word, chance in document] for document in documents]
    found, thin = moments(documents, 6), moments(thinned, 6)
    assert np.allclose(thin.first, found.first, rtol=1e-12, atol=0)
    eye = np.eye(6)
    assert np.allclose(thin.second(eye), found.second(eye), rtol=0, atol=1e-14)
    assert np.allclose(thin.third(eye), found.third(eye), rtol=0, atol=1e-14)


def test_noise_is_that_of_the_second_moment() -> None:
    """A chance that all tokens share changes nothing in E2, so nothing in its noise either."""
    random = np.random.default_rng(8)
    documents = random_documents(random, 6, 30)
    halves = [[(word, 0.5) for word, _ in document] for document in documents]
    found = moments(documents, 6)
    assert found.noise > 0
    assert moments(halves, 6).noise == pytest.approx(found.noise, rel=1e-12)


def test_noise_of_long_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents that are cut by the same share give the same E2."""
    random = np.random.default_rng(8)
    documents: list[Document] = [[(int(w), 1.0) for w in random.integers(6, size=8)] for _ in "123"]
    found = moments(documents, 6)
    monkeypatch.setattr(counts_module, "LONG", 2.0)
    cut = moments(documents, 6)
    assert np.allclose(cut.second(np.eye(6)), found.second(np.eye(6)), rtol=0, atol=1e-14)
    assert cut.noise == pytest.approx(found.noise, rel=1e-12)


@pytest.mark.parametrize("width", [100, 400])
def test_noise_is_the_largest_eigenvalue_without_topics(width: int) -> None:
    random = np.random.default_rng(9)
    lengths = random.integers(2, 12, size=3000)
    documents = [[(int(w), 1.0) for w in random.integers(width, size=n)] for n in lengths]
    found = moments(documents, width)
    noise = found.second(np.eye(width)) - np.outer(found.first, found.first)
    assert 0.85 < np.linalg.eigvalsh(noise)[-1] / found.noise < 1.15


def test_sums_over_one_mode_give_the_moment_below() -> None:
    """Documents of one length: a pair without its second token is a token."""
    random = np.random.default_rng(10)
    documents: list[Document] = [
        [(int(w), 1.0) for w in random.integers(6, size=5)] for _ in "12345"
    ]
    found, eye, ones = moments(documents, 6), np.eye(6), np.ones((6, 1))
    assert np.allclose(found.second(ones)[:, 0], found.first, rtol=0, atol=1e-14)
    assert np.allclose(found.third(eye).sum(axis=2), found.second(eye), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("documents", "orders"),
    [
        ([], 0),
        ([[], []], 0),
        ([[(0, 0.0), (1, 0.0)]], 0),
        ([[(0, 1.0)], [(1, 0.3)], [(3, 0.7)]], 1),
        ([[(0, 0.3), (1, 0.7)], [(2, 0.1)] * 2, [(1, 0.9), (3, 0.6)]], 2),
    ],
)
def test_short_documents_give_zeros(documents: list[Document], orders: int) -> None:
    """What has no tuple to sum over is 0, not 0/0 and not rounding divided by rounding."""
    found = moments(documents, 4)
    totals = (found.tokens, found.pairs, found.triples)
    assert [total > 0 for total in totals] == [order <= orders for order in (1, 2, 3)]
    assert found.first.any() == (orders >= 1)
    assert found.second(np.eye(4)).any() == (orders >= 2)
    assert not found.third(np.eye(4)).any()
    assert np.isfinite(found.second(np.eye(4))).all()
    assert np.isfinite(found.third(np.eye(4))).all()


def test_no_blocks() -> None:
    found = Moments.of([], 3, 1)
    assert not found.first.any()
    assert not found.second(np.eye(3)).any()
    assert found.third(np.eye(3)).shape == (3, 3, 3)


def test_symmetric_in_every_order_to_the_last_bit() -> None:
    random = np.random.default_rng(11)
    documents = random_documents(random, 7, 12, chance="fraction")
    for k in (1, 2, 5, 9):
        tensor = moments(documents, 7, 3).third(random.standard_normal((7, k)))
        for order in ORDERS:
            assert np.array_equal(tensor, tensor.transpose(order)), order
    raw = random.standard_normal((8, 8, 8))
    whole = np.asarray(sum(raw.transpose(order) for order in ORDERS))
    one, two, three = np.indices(whole.shape)
    known = np.where((one <= two) & (one <= three), whole, np.nan)
    made = filled(known)
    for order in ORDERS:
        assert np.array_equal(made, made.transpose(order)), order
    assert np.allclose(made, whole, rtol=0, atol=1e-14)


def test_threads_give_the_same_bytes() -> None:
    random = np.random.default_rng(12)
    documents = random_documents(random, 60, 3000, chance="fraction")
    parts = blocks(documents, 60, 9)
    vectors = random.standard_normal((60, 4))
    serial, threaded = Moments.of(parts, 60, 1), Moments.of(parts, 60, 3)
    for name in ("first", "diagonal"):
        assert getattr(serial, name).tobytes() == getattr(threaded, name).tobytes()
    for name in ("tokens", "pairs", "triples", "noise"):
        assert getattr(serial, name) == getattr(threaded, name)
    assert serial.second(vectors).tobytes() == threaded.second(vectors).tobytes()
    assert serial.third(vectors).tobytes() == threaded.third(vectors).tobytes()
    # The order of the blocks is what must be kept: another one gives other bytes.
    other = Moments.of(parts[::-1], 60, 1)
    assert other.second(vectors).tobytes() != serial.second(vectors).tobytes()
