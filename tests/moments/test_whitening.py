"""Largest eigenpairs of E2, and the small matrix they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh

from strod.moments import whitening as module
from strod.moments.moments import Moments
from strod.moments.whitening import DENSE, HALVINGS, Spectrum, _outside, spectrum, whiten
from tests import oracles
from tests.oracles import Document, Population, random_documents, sampled_documents

if TYPE_CHECKING:
    from strod.moments.whitening import Whitening
    from tests.oracles import Array


def moments(documents: list[Document], width: int) -> Moments:
    return Moments.of([oracles.counts(documents, width)], width, 1)


def planted(seed: int, k: int, width: int, count: int) -> list[Document]:
    """Documents of 2 to 12 tokens, mostly of one of `k` topics each."""
    random = np.random.default_rng(seed)
    phi = random.dirichlet(np.full(width, 0.05), size=k)
    population = Population(np.full(k, 0.05), phi)
    return sampled_documents(random, population, count, lambda: int(random.integers(2, 13)))


def two_sided(seed: int, width: int, count: int, shares: list[float]) -> list[Document]:
    """Documents of two words, one of each half: with λ, -λ is an eigenvalue of E2 too."""
    random = np.random.default_rng(seed)
    half = width // 2
    phi = random.dirichlet(np.full(half, 0.02), size=(2, len(shares)))
    documents: list[Document] = []
    for topic in random.choice(len(shares), size=count, p=shares):
        left, right = (int(random.choice(half, p=phi[side, topic])) for side in (0, 1))
        documents.append([(left, 1.0), (half + right, 1.0)])
    return documents


def falling(second: Array) -> Array:
    """All eigenvalues."""
    return np.asarray(np.linalg.eigvalsh(second), dtype=np.float64)[::-1]


def check_eigenpairs(
    found: Spectrum, second: Array, exact: Array, leading: int, *, residual: float
) -> None:
    """The first `leading` are right; the others are what a subspace can give."""
    values, vectors = found.values, found.vectors
    rank = len(values)
    assert vectors.shape == (len(second), rank)
    assert (np.diff(values) <= 0).all()
    assert np.allclose(vectors.T @ vectors, np.eye(rank), rtol=0, atol=1e-12)
    assert np.allclose(values[:leading], exact[:leading], rtol=1e-6, atol=0)
    errors = second @ vectors - vectors * values
    assert np.linalg.norm(errors[:, :leading], axis=0).max() < residual * exact[0]
    # Values within a subspace never exceed the true ones.
    assert (values <= exact[:rank] + 1e-12 * exact[0]).all()


@pytest.mark.parametrize("seed", range(5))
def test_dense_spectrum(seed: int) -> None:
    random = np.random.default_rng(seed)
    width = int(random.integers(3, 40))
    documents = random_documents(random, width, 30, chance="fraction")
    second, _ = oracles.moment(documents, width, 2)
    found = spectrum(moments(documents, width), min(width, 8), random)
    assert len(found.values) == min(width, 8)
    exact = falling(second)
    check_eigenpairs(found, second, exact, len(found.values), residual=1e-12)


@pytest.mark.parametrize("width", [40, 800], ids=["dense", "krylov"])
def test_largest_and_not_largest_in_magnitude(width: int) -> None:
    """-λ1 is larger in magnitude than λ2: magnitudes would give a false second."""
    documents = two_sided(1, width, 6000, [0.4, 0.25, 0.2, 0.15])
    second, _ = oracles.moment(documents, width, 2)
    exact = falling(second)
    assert -exact[-1] > exact[1] * 1.1
    found = spectrum(moments(documents, width), 4, np.random.default_rng(2))
    check_eigenpairs(found, second, exact, 4, residual=1e-3)


@pytest.mark.parametrize(("width", "ranks"), [(800, (5, 12)), (2000, (5, 20))])
def test_krylov_space(width: int, ranks: tuple[int, ...]) -> None:
    """Planted eigenvalues to 1e-6; of the noise behind them five blocks see the most."""
    documents = planted(3, 5, width, 3000)
    second, _ = oracles.moment(documents, width, 2)
    if width < 1000:
        exact = falling(second)
    else:  # all of them would take too long
        start = np.random.default_rng(5).standard_normal(width)
        largest = eigsh(csr_array(second), max(ranks), which="LA", v0=start, tol=1e-12)[0]
        exact = np.sort(largest)[::-1]
    for rank in ranks:
        found = spectrum(moments(documents, width), rank, np.random.default_rng(4))
        assert len(found.values) == rank
        check_eigenpairs(found, second, exact, 5, residual=1e-4)
        assert np.allclose(found.values, exact[:rank], rtol=0.05, atol=0)


def test_next_to_nothing_hangs_on_the_seed() -> None:
    """Where the spectrum does not end with those asked for, its vectors have settled, too."""
    given = moments(planted(11, 40, 900, 3000), 900)
    one, two = (spectrum(given, 12, np.random.default_rng(seed)) for seed in (0, 1))
    assert np.allclose(one.values, two.values, rtol=0, atol=1e-7 * one.values[0])
    inside = np.linalg.svd(one.vectors.T @ two.vectors, compute_uv=False)
    assert inside.min() > 1 - 1e-6


def test_same_bytes_for_the_same_seed() -> None:
    found = moments(planted(5, 4, 500, 500), 500)
    runs = [spectrum(found, 6, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert runs[0].values.tobytes() == runs[1].values.tobytes()
    assert runs[0].vectors.tobytes() == runs[1].vectors.tobytes()
    assert runs[0].vectors.tobytes() != runs[2].vectors.tobytes()


@pytest.mark.parametrize(("used", "count"), [(12, 200), (40, 500), (150, 1500), (600, 3)])
def test_few_of_many_words(used: int, count: int) -> None:
    """A Krylov space that is complete before its last block still has an orthonormal basis."""
    width = 600
    words = np.random.default_rng(6).permutation(width)
    documents = [[(int(words[w]), p) for w, p in d] for d in planted(7, 3, used, count)]
    second, _ = oracles.moment(documents, width, 2)
    exact = falling(second)
    for rank in (3, 10, 20):
        found = spectrum(moments(documents, width), rank, np.random.default_rng(8))
        positive = min(rank, int((exact > 1e-9 * exact[0]).sum()))
        leading = positive if used < 100 else min(positive, 3)
        check_eigenpairs(found, second, exact, leading, residual=1e-4)


@pytest.mark.parametrize("width", [5, DENSE + 200])
@pytest.mark.parametrize("documents", [[], [[(0, 1.0)], [(1, 0.5)]], [[(0, 1.0), (1, 1.0)]]])
def test_next_to_nothing(documents: list[Document], width: int) -> None:
    found = moments(documents, width)
    pairs = spectrum(found, 4, np.random.default_rng(9))
    assert np.isfinite(pairs.values).all()
    assert np.isfinite(pairs.vectors).all()
    assert np.allclose(pairs.vectors.T @ pairs.vectors, np.eye(len(pairs.values)), atol=1e-12)
    assert (pairs.values > 1e-12).sum() == sum(len(document) > 1 for document in documents)
    for k in (1, 2, 4):
        assert whiten(pairs, found.first, k, 1.0) is None


def test_more_asked_than_words() -> None:
    documents = random_documents(np.random.default_rng(10), 4, 20)
    assert len(spectrum(moments(documents, 4), 9, np.random.default_rng(11)).values) == 4


def check_whitening(found: Whitening, pairs: Spectrum, second: Array, first: Array) -> None:
    """W'·M2·W = I, with M2 written out."""
    alpha0 = found.alpha0
    full = (alpha0 + 1) * second - alpha0 * np.outer(first, first)
    basis = pairs.vectors[:, : len(found.scale)]
    white = basis @ found.scale
    back = basis @ found.unscale
    eye = np.eye(white.shape[1])
    assert np.allclose(white.T @ full @ white, eye, rtol=0, atol=1e-9)
    # (W')⁺: inverse to W' on the space of W.
    assert np.allclose(white.T @ back, eye, rtol=0, atol=1e-9)
    assert np.allclose(back, np.linalg.pinv(white.T), rtol=0, atol=1e-9)


@pytest.mark.parametrize("alpha0", [0.0, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("width", [60, DENSE + 100])
def test_whitening(width: int, alpha0: float) -> None:
    documents = planted(12, 4, width, 1500)
    found = moments(documents, width)
    second, _ = oracles.moment(documents, width, 2)
    pairs = spectrum(found, 6, np.random.default_rng(13))
    for k in (2, 3, 4):
        white = whiten(pairs, found.first, k, alpha0)
        assert white is not None
        assert white.scale.shape == white.unscale.shape == (k, k)
        check_whitening(white, pairs, second, found.first)
    small = whiten(pairs, found.first, 4, 0.01)
    assert small is not None
    assert small.alpha0 == 0.01


def valued(values: list[float], first: list[float]) -> tuple[Spectrum, Array, Array]:
    """A spectrum, E2 and M1 in a turned basis."""
    turn = np.linalg.qr(np.random.default_rng(14).standard_normal((9, len(values))))[0]
    return Spectrum(np.array(values), turn), (turn * values) @ turn.T, turn @ np.array(first)


@pytest.mark.parametrize("excess", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("alpha0", [0.5, 1.0, 20.0, 300.0])
def test_alpha0_is_halved_until_it_fits(alpha0: float, excess: float) -> None:
    """M2' is positive as long as α0·(M1''·Σ1⁻¹·M1' - 1) < 1."""
    values = np.array([0.5, 0.2, 0.1])
    first = np.sqrt((1 + excess) / 3 * values)  # M1''·Σ1⁻¹·M1' is 1 + excess
    pairs, second, full = valued(list(values), list(first))
    expected = alpha0
    while expected * excess >= 1:
        expected /= 2
    assert expected >= alpha0 / 2**HALVINGS
    found = whiten(pairs, full, 3, alpha0)
    assert found is not None
    assert found.alpha0 == expected
    assert found.scale.shape == (3, 3)
    check_whitening(found, pairs, second, full)


@pytest.mark.parametrize("alpha0", [1.0, 100.0])
def test_where_halving_does_not_help_there_are_fewer(alpha0: float) -> None:
    """W belongs to the α0 that is told."""
    pairs, second, first = valued([0.5, 0.2, 0.1], [0.3, 5.0, 30.0])
    found = whiten(pairs, first, 3, alpha0)
    assert found is not None
    assert found.alpha0 == alpha0 / 2**HALVINGS
    assert found.scale.shape == found.unscale.shape == (3, 2)
    check_whitening(found, pairs, second, first)
    assert whiten(pairs, first, 2, 1000 * alpha0) is None  # one is left


@pytest.mark.parametrize("last", [0.0, 1e-12, -1e-17, -0.01, -2.0])
def test_more_asked_than_there_are(last: float) -> None:
    """A non-positive eigenvalue of E2 is not mended by another α0, so α0 stays."""
    pairs, second, first = valued([0.5, 0.2, 0.1, last], [0.6, 0.1, 0.1, 0.0])
    found = whiten(pairs, first, 4, 0.5)
    assert found is not None
    assert found.scale.shape[1] == found.unscale.shape[1] == 3
    assert found.alpha0 == 0.5
    check_whitening(found, pairs, second, first)
    assert whiten(pairs, first, 99, 0.5) is not None


@pytest.mark.parametrize(
    "values", [[], [0.5], [0.5, 0.0], [0.5, -0.1, -0.2], [0.0, 0.0], [-0.1, -0.2], [0.5, 1e-12]]
)
def test_one_component_is_none(values: list[float]) -> None:
    pairs, _, first = valued(values, [0.3] * len(values))
    for k in (0, 1, 2, 3):
        assert whiten(pairs, first, k, 1.0) is None


def test_short_texts_never_give_nan() -> None:
    random = np.random.default_rng(15)
    results = []
    for _ in range(150):
        width = int(random.integers(2, 8))
        count = int(random.integers(1, 8))
        documents = random_documents(random, width, count, chance="fraction")
        found = moments(documents, width)
        second, _ = oracles.moment(documents, width, 2)
        pairs = spectrum(found, width, random)
        white = whiten(pairs, found.first, int(random.integers(2, 9)), random.choice([0.1, 1, 50]))
        results.append(white is None)
        if white is not None:
            assert np.isfinite(white.scale).all()
            assert 0 < white.alpha0 <= 50
            check_whitening(white, pairs, second, found.first)
    assert 0 < sum(results) < len(results)


def test_constants_reach_what_is_tested() -> None:
    """The tests above name widths beyond the dense path."""
    assert max(module.DENSE, module.BLOCK * (module.STEPS + 1)) < 500


@pytest.mark.parametrize("known", [0, 3, 11])
@pytest.mark.parametrize("inside", [0, 2, 5])
def test_outside_of_a_basis(known: int, inside: int) -> None:
    """Five vectors, of which so many lie in the basis but for their rounding."""
    random = np.random.default_rng(known + inside)
    basis = np.linalg.qr(random.standard_normal((40, known)))[0]
    inside = min(inside, 5 if known else 0)
    image = random.standard_normal((40, 5)) * 10.0 ** -np.arange(5)
    image[:, :inside] = basis @ random.standard_normal((known, inside))
    found = _outside(image, basis, basis.T @ image)
    assert found.shape == (40, 5 - inside)
    np.testing.assert_allclose(found.T @ found, np.eye(5 - inside), rtol=0, atol=1e-14)
    np.testing.assert_allclose(basis.T @ found, 0, rtol=0, atol=1e-14)
    span = np.hstack([basis, found])
    left = image - span @ (span.T @ image)
    assert abs(left).max() < 1e-6 * np.linalg.norm(image)
