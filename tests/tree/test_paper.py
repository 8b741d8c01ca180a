"""The paper's variants: moments against brute force, one result at the root, honest failures."""

from __future__ import annotations

import contextlib
import itertools
import tracemalloc
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.sparse import csr_array

from strod.methods import dense, paper
from strod.methods.paper import NotSplittable, PaperSplit, needed_bytes, root
from strod.model.options import PAPER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def generator(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def counted(texts: Iterable[Sequence[int]], width: int) -> csr_array:
    return csr_array(np.array([np.bincount(text, minlength=width) for text in texts]))


def drawn(theta: Array, words: Array, length: int, random: np.random.Generator) -> csr_array:
    """Documents of so many tokens with these shares of topics."""
    return csr_array(np.stack([random.multinomial(length, p) for p in theta @ words]))


@cache
def planted() -> tuple[Array, csr_array]:
    """Three topics in 2000 documents of 20 tokens, and some documents that are too short."""
    random = generator(1)
    words = random.dirichlet(np.full(30, 0.2), 3)
    theta = random.dirichlet([0.8, 0.5, 0.3], 2000)
    long, short = drawn(theta, words, 20, random), drawn(theta[:50], words, 2, random)
    return words, csr_array(np.vstack([short.toarray(), long.toarray()]))


@cache
def planted_tree() -> tuple[PaperSplit, Array, csr_array]:
    """Two parents, two leaves each that share half of their words; prior of the leaves is 3."""
    random = generator(2)
    parents, leaves = random.dirichlet(np.full(24, 0.3), 2), random.dirichlet(np.full(24, 0.3), 4)
    leaves = (np.repeat(parents, 2, axis=0) + leaves) / 2
    top = random.dirichlet([1.0, 1.0], 4000)
    inside = random.dirichlet([1.5, 1.5], (4000, 2))
    theta = (top[:, :, None] * inside).reshape(4000, 4)
    split = PaperSplit(2.0, np.ones(2), leaves.reshape(2, 2, 24).mean(axis=1))
    return split, leaves, drawn(theta, leaves, 30, random)


def is_distribution(words: Array) -> bool:
    return bool(np.all(words >= 0) and np.allclose(words.sum(axis=-1), 1, atol=1e-12))


def check_split(split: PaperSplit, k: int) -> None:
    assert is_distribution(split.words)
    assert len(split.words) == len(split.alpha) == k
    assert np.all(split.alpha > 0)
    assert np.all(np.diff(split.alpha) <= 0)
    assert split.alpha.sum() == pytest.approx(split.alpha0)


def assert_same(left: PaperSplit, right: PaperSplit) -> None:
    assert left.alpha0 == right.alpha0
    np.testing.assert_allclose(left.alpha, right.alpha, rtol=0, atol=1e-8)
    np.testing.assert_allclose(left.words, right.words, rtol=0, atol=1e-8)


def rising(alpha: Array, topics: Sequence[int]) -> float:
    """E[Π θ_z] times a constant: each topic counts one more for every time it was taken before."""
    seen: list[int] = []
    product = 1.0
    for z in topics:
        product *= alpha[z] + seen.count(z)
        seen.append(z)
    return product


def outer(*vectors: Array) -> Array:
    product: Array = np.asarray(1.0)
    for vector in vectors:
        product = np.multiply.outer(product, vector)
    return product


def population(alpha: Array, words: Array, order: int) -> Array:
    """p(x1, …) of documents with shares of topics from a Dirichlet: equations 2 and 3."""
    tuples = list(itertools.product(range(len(alpha)), repeat=order))
    weights = np.array([rising(alpha, topics) for topics in tuples])
    weights /= weights.sum()
    return sum(
        (w * outer(*words[list(topics)]) for w, topics in zip(weights, tuples, strict=True)),
        np.zeros((words.shape[1],) * order),
    )


def tree_population(alpha: Array, children: Array, leaves: Array, order: int) -> Array:
    """p(x1, …) of a tree of two levels: tokens under one parent share its leaves' shares."""
    tuples = list(itertools.product(range(len(alpha)), repeat=order))
    weights = np.array([rising(alpha, topics) for topics in tuples])
    weights /= weights.sum()
    inside = list(itertools.product(range(children.shape[1]), repeat=order))
    total = np.zeros((leaves.shape[2],) * order)
    for weight, topics in zip(weights, tuples, strict=True):
        for below in inside:
            chance = weight
            for parent in set(topics):
                own = [z for p, z in zip(topics, below, strict=True) if p == parent]
                whole = rising(children[parent].sum(keepdims=True), [0] * len(own))
                chance *= rising(children[parent], own) / whole
            picked = [leaves[p, z] for p, z in zip(topics, below, strict=True)]
            total += chance * outer(*picked)
    return total


# Moments of a sample


@pytest.mark.parametrize("seed", range(3))
def test_moments_are_means_over_tuples_of_distinct_tokens(seed: int) -> None:
    random = generator(seed)
    texts = [random.integers(0, 4, size).tolist() for size in (3, 5, 1, 4, 2, 6, 0)]
    expected = [np.zeros((4,) * order) for order in (1, 2, 3)]
    long = [text for text in texts if len(text) >= 3]
    for order, mean in enumerate(expected, 1):
        for text in long:
            tuples = list(itertools.permutations(text, order))
            for words in tuples:
                mean[words] += 1 / len(tuples) / len(long)
    counts = dense.long_enough(counted(texts, 4).astype(float), np.ones(4))
    assert counts.shape == (4, 4)
    np.testing.assert_allclose(dense.first_moment(counts), expected[0], atol=1e-14)
    np.testing.assert_allclose(dense.second_moment(counts).toarray(), expected[1], atol=1e-14)
    np.testing.assert_allclose(dense.third_moment(counts), expected[2], atol=1e-14)


def test_operator_and_contraction_are_the_matrix_and_the_tensor() -> None:
    """Also for topical counts, where the paper's formulas are no longer means."""
    random = generator()
    counts = csr_array(random.poisson(1.5, (40, 6)) * random.uniform(0.3, 1, 6))
    counts = dense.long_enough(counts, np.ones(6))
    matrix, operator = dense.second_moment(counts).toarray(), dense.second_operator(counts)
    vectors, basis = random.standard_normal((6, 2)), random.standard_normal((6, 3))
    np.testing.assert_allclose(operator @ vectors, matrix @ vectors, atol=1e-14)
    np.testing.assert_allclose(operator @ vectors[:, 0], matrix @ vectors[:, 0], atol=1e-14)
    expected = np.einsum("xyz,xa,yb,zc->abc", dense.third_moment(counts), basis, basis, basis)
    np.testing.assert_allclose(dense.contracted_third(counts, basis), expected, atol=1e-13)


def test_third_moment_takes_the_place_of_e3() -> None:
    random = generator()
    alpha, words = np.array([0.5, 1.0, 0.7]), random.dirichlet(np.ones(5), 3)
    first, second, third = (population(alpha, words, order) for order in (1, 2, 3))
    basis = random.standard_normal((5, 2))
    inside = words @ basis
    expected = np.einsum("z,za,zb,zc->abc", alpha / alpha.sum(), inside, inside, inside)
    tensor = dense.tensor_of(third, csr_array(second), first, alpha.sum(), basis)
    np.testing.assert_allclose(tensor, expected, atol=1e-13)
    cubes = np.einsum("z,zx,zy,zw->xyw", alpha / alpha.sum(), words, words, words)
    np.testing.assert_allclose(third, cubes, atol=1e-13)  # M3 of the model


# Moments of a child


@pytest.mark.parametrize("z", range(3))
def test_posteriors_of_pairs_and_triples(z: int) -> None:
    """Against sums over all topics that the tokens may have, for any E2 and E3."""
    random = generator(z)
    alpha, words = random.uniform(0.1, 2, 3), random.dirichlet(np.full(5, 0.5), 3)
    second, third = random.uniform(0, 1, (5, 5)), random.uniform(0, 1, (5, 5, 5))
    for order, moment in ((2, second), (3, third)):
        every = itertools.product(range(3), repeat=order)
        whole = sum(rising(alpha, topics) * outer(*words[list(topics)]) for topics in every)
        own = moment * rising(alpha, [z] * order) * outer(*[words[z]] * order) / whole
        if order == 2:
            found = dense.condition_second(csr_array(moment), alpha, words, z).toarray()
        else:
            found = dense.condition_third(moment.copy(), alpha, words, z)
        np.testing.assert_allclose(found, own / own.sum(), atol=1e-14)
    share = alpha[z] * words[z] / (alpha @ words)
    np.testing.assert_allclose(dense.topic_share(alpha, words, z), share, atol=1e-14)


@pytest.mark.parametrize("z", range(3))
def test_children_without_structure_have_independent_words(z: int) -> None:
    """If the tokens of a child are drawn one by one, its E2 is φ⊗φ: exact, parents may overlap."""
    alpha, words = np.array([0.4, 1.0, 2.0]), generator().dirichlet(np.ones(6), 3)
    first, second, third = (population(alpha, words, order) for order in (1, 2, 3))
    own = words[z]
    conditional = dense.condition_second(csr_array(second), alpha, words, z).toarray()
    np.testing.assert_allclose(dense.condition_first(first, alpha, words, z), own, atol=1e-14)
    np.testing.assert_allclose(conditional, outer(own, own), atol=1e-14)
    conditional = dense.condition_third(third, alpha, words, z)
    np.testing.assert_allclose(conditional, outer(own, own, own), atol=1e-14)


@pytest.mark.parametrize("method", ["rtod", "rtod2"])
def test_parents_without_common_words_give_exact_leaves(method: str) -> None:
    """Posteriors are then 0 or 1, whatever the leaves do; with overlap they are not exact."""
    random = generator()
    alpha, children = np.array([2.0, 1.0]), np.array([[1.0, 0.5], [0.7, 0.6]])
    leaves = np.zeros((2, 2, 8))
    leaves[0, :, :4] = random.dirichlet(np.ones(4), 2)
    leaves[1, :, 4:] = random.dirichlet(np.ones(4), 2)
    first, second, third = (tree_population(alpha, children, leaves, n) for n in (1, 2, 3))
    parents = np.einsum("pz,pzx->px", children / children.sum(axis=1, keepdims=True), leaves)
    np.testing.assert_allclose(first, alpha / 3 @ parents, atol=1e-14)
    top = paper._OfMoments(method, 1000, first, csr_array(second), third)
    for p in range(2):
        node = top.child(PaperSplit(3.0, alpha, parents), p)
        assert isinstance(node, paper._OfMoments)
        exact = population(children[p], leaves[p], 2)
        np.testing.assert_allclose(node.second.toarray(), exact, atol=1e-14)
        exact = population(children[p], leaves[p], 3)
        np.testing.assert_allclose(node.conditional_third(), exact, atol=1e-14)
        found = node.split(2, children[p].sum(), generator())
        np.testing.assert_allclose(found.alpha, children[p], atol=1e-7)
        np.testing.assert_allclose(found.words, leaves[p], atol=1e-7)


def test_word_that_no_child_has() -> None:
    words = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])
    alpha = np.ones(2)
    third = dense.condition_third(np.full((3, 3, 3), 1 / 27), alpha, words, 0)
    second = dense.condition_second(csr_array(np.full((3, 3), 1 / 9)), alpha, words, 0).toarray()
    share = dense.topic_share(alpha, words, 0)
    assert (third[2].sum(), second[2].sum(), share[2]) == (0, 0, 0)
    assert third.sum() == pytest.approx(1)
    assert second.sum() == pytest.approx(1)


# Splitting


@pytest.mark.parametrize("seed", [0, 1])
def test_all_methods_agree_at_the_root(seed: int) -> None:
    words, counts = planted()
    found = [root(method, counts).split(3, 1.6, generator(seed)) for method in PAPER]
    for split in found:
        check_split(split, 3)
        assert_same(split, found[0])
    assert found[0].alpha0 == 1.6
    np.testing.assert_allclose(found[0].alpha, [0.8, 0.5, 0.3], atol=0.06)
    assert np.abs(found[0].words - words).sum(axis=1).max() < 0.1


def exact_corpus() -> tuple[Array, csr_array]:
    """Documents of three tokens in just the numbers that the model expects; alpha is (1, 1)."""
    words = np.array([[2, 1, 1, 0, 0], [0, 0, 1, 1, 2]])
    texts: list[tuple[int, ...]] = []
    for topics in itertools.product(range(2), repeat=3):
        for text in itertools.product(range(5), repeat=3):
            times = rising(np.ones(2), topics) / 2
            for z, x in zip(topics, text, strict=True):
                times *= words[z, x]
            texts += [text] * int(times)
    return words / 4, counted(texts, 5)


@pytest.mark.parametrize("method", PAPER)
def test_exact_moments_give_exact_topics(method: str) -> None:
    """And then M2 has no other eigenpairs than those in the space of E2."""
    words, counts = exact_corpus()
    split = root(method, counts).split(2, 2.0, generator())
    order = np.argsort(-split.words[:, 0])
    np.testing.assert_allclose(split.alpha, 1, atol=1e-8)
    np.testing.assert_allclose(split.words[order], words, atol=1e-8)
    first, second = dense.first_moment(counts), dense.second_moment(counts).toarray()
    plain = np.linalg.eigvalsh(3 * second - 2 * np.outer(first, first))
    assert np.abs(plain[:3]).max() < 1e-13
    confined = paper._whitened_full(csr_array(second), first, 2, 2.0)
    np.testing.assert_allclose(confined.values, plain[:2:-1], atol=1e-14)


@pytest.mark.parametrize(("left", "right"), [("rtod", "rtod2"), ("rtod3", "strod-paper")])
def test_below_the_root_methods_agree_in_pairs(left: str, right: str) -> None:
    _, _, counts = planted_tree()
    nodes = root(left, counts), root(right, counts)
    top = nodes[0].split(2, 2.0, generator())
    for z in range(2):
        one, two = (node.child(top, z) for node in nodes)
        split = one.split(2, 1.0, generator())
        check_split(split, 2)
        assert_same(split, two.split(2, 1.0, generator()))
        third = one.child(split, 0).split(2, 0.5, generator())
        check_split(third, 2)
        assert_same(third, two.child(split, 0).split(2, 0.5, generator()))


def test_posteriors_of_pairs_beat_those_of_words() -> None:
    truth, leaves, counts = planted_tree()
    errors = {}
    for method in ("rtod", "strod-paper"):
        node = root(method, counts)
        errors[method] = sum(
            np.abs(node.child(truth, p).split(2, 3.0, generator()).words[:, None] - own)
            .sum(axis=2)
            .min(axis=0)
            .mean()
            for p, own in enumerate(leaves.reshape(2, 2, -1))
        )
    assert errors["rtod"] < errors["strod-paper"]


@pytest.mark.parametrize("method", PAPER)
def test_a_child_does_not_change_its_parent(method: str) -> None:
    _, counts = planted()
    node = root(method, counts)
    before = node.split(3, 1.0, generator())
    with contextlib.suppress(NotSplittable):
        node.child(before, 0).split(2, 0.1, generator())
    after = node.split(3, 1.0, generator())
    assert after.words.tobytes() == before.words.tobytes()
    assert after.alpha.tobytes() == before.alpha.tobytes()


def test_many_words() -> None:
    """Where E2 is too wide to be written out."""
    random = generator()
    words = random.dirichlet(np.full(400, 0.05), 4)
    counts = drawn(random.dirichlet(np.full(4, 0.3), 1500), words, 40, random)
    one, two = (root(m, counts).split(4, 1.2, generator()) for m in ("rtod3", "strod-paper"))
    assert_same(one, two)


def test_alpha0_is_halved_until_m2_is_positive() -> None:
    """Documents of one topic mix nothing: what is seen beside it is noise."""
    random = generator(46)
    words = random.dirichlet(np.full(9, 0.3))
    counts = drawn(np.ones((60, 1)), words[None], 8, random)
    found = [root(method, counts).split(2, 1000.0, generator()) for method in PAPER]
    assert found[0].alpha0 in {1000 / 2**halvings for halvings in range(1, 11)}
    for split in found:
        check_split(split, 2)
        assert_same(split, found[0])


def one_topic() -> csr_array:
    """Documents of one exact topic: all triples of three words."""
    return counted(itertools.product(range(3), repeat=3), 3)


DEGENERATE: list[tuple[str, Callable[[], csr_array], int, str]] = [
    ("nothing", lambda: csr_array((0, 5)), 2, "too few documents"),
    ("empty documents", lambda: csr_array((50, 5)), 2, "too few documents"),
    ("short documents", lambda: counted([[0, 1]] * 50, 3), 2, "too few documents"),
    ("few documents", lambda: counted([[0, 1, 2, 2]] * 9, 3), 2, "too few documents"),
    ("no words", lambda: csr_array((50, 0)), 2, "too few documents"),
    ("more topics than words", lambda: counted([[0, 1, 2]] * 50, 3), 4, "too few words"),
    ("no topics", lambda: counted([[0, 1, 2]] * 50, 3), 0, "too few words"),
    ("one word", lambda: counted([[0, 0, 0]] * 50, 3), 2, "no valid whitening"),
    ("one topic", one_topic, 2, "no valid whitening"),
    ("words never repeated", lambda: counted([[0, 1, 2]] * 50, 3), 2, "no valid whitening"),
]


@pytest.mark.parametrize("method", PAPER)
@pytest.mark.parametrize(
    ("counts", "k", "reason"), [case[1:] for case in DEGENERATE], ids=[c[0] for c in DEGENERATE]
)
def test_what_cannot_be_split(
    method: str, counts: Callable[[], csr_array], k: int, reason: str
) -> None:
    with pytest.raises(NotSplittable, match=reason):
        root(method, counts()).split(k, 1.0, generator())


@pytest.mark.parametrize("method", PAPER[1:])
def test_child_without_words(method: str) -> None:
    """A topic on words that no document has leaves no moments, and no division by zero."""
    counts = csr_array(np.pad(planted()[1].toarray(), ((0, 0), (0, 1))))
    words = np.zeros((2, 31))
    words[0, :30], words[1, 30] = 1 / 30, 1
    child = root(method, counts).child(PaperSplit(1.0, np.array([0.9, 0.1]), words), 1)
    with pytest.raises(NotSplittable, match=r"no valid whitening|too few documents"):
        child.split(2, 1.0, generator())


@pytest.mark.parametrize("seed", range(5))
def test_noise_never_gives_nan(seed: int) -> None:
    random = generator(seed)
    counts = csr_array(random.poisson(0.7, (12, 9)))
    for method in PAPER[1:]:
        node = root(method, counts)
        for k in (6, 3, 2):
            try:
                split = node.split(k, 5.0, generator(seed))
            except NotSplittable:
                continue
            check_split(split, k)
            node = node.child(split, 0)


def test_tod_splits_the_root_only() -> None:
    _, counts = planted()
    node = root("tod", counts)
    child = node.child(node.split(3, 1.0, generator()), 0)
    with pytest.raises(NotSplittable, match="root only"):
        child.split(2, 1.0, generator())


def test_unknown_method() -> None:
    with pytest.raises(ValueError, match="no method 'rtod4'; there are tod, rtod"):
        root("rtod4", planted()[1])


@contextlib.contextmanager
def memory() -> Iterator[list[int]]:
    """Measure the largest memory of arrays while it is open."""
    peak: list[int] = []
    tracemalloc.start()
    try:
        yield peak
    finally:
        peak.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()


@pytest.mark.parametrize(("method", "width"), [("tod", 80), ("rtod2", 80), ("rtod3", 500)])
def test_needed_bytes(method: str, width: int) -> None:
    random = generator()
    words = random.dirichlet(np.full(width, 0.3), 3)
    counts = drawn(random.dirichlet(np.full(3, 0.3), 200), words, 30, random)
    with memory() as peak:
        root(method, counts).split(3, 0.9, generator())
    assert 0.4 < peak[0] / needed_bytes(method, width) < 1.1


def test_needed_bytes_grow_as_the_paper_says() -> None:
    def growth(method: str) -> float:
        return needed_bytes(method, 20_000) / needed_bytes(method, 10_000)

    assert [round(growth(method), 1) for method in PAPER] == [8, 8, 8, 4, 2]
    assert needed_bytes("strod-paper", 100_000) < 100e6
