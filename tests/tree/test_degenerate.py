"""Corpora that are hardly any: no exception, no NaN, and every leaf says why it is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from strod.methods.variants import paper_options, paper_splitter
from strod.model.options import METHODS, TreeOptions
from strod.tree.grow import grow
from strod.tree.matrix import matrix_shards
from strod.values.shares import MemoryShareStore
from tests.tree.helpers import REASONS, check_tree, ground, grown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Table = NDArray[np.int64]

LARGE = 2**31 - 1
FEW = "too few documents"
SHORT = "no document has three words"
NOISE = "no parts stand out from chance"


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def two_kinds(documents: int = 60, words: int = 6, mean: float = 2.0) -> Table:
    """Documents of one or the other half of the words."""
    table = random().poisson(mean, (documents, words))
    table[: documents // 2, words // 2 :] = 0
    table[documents // 2 :, : words // 2] = 0
    return table


def of_lengths(*lengths: int, documents: int = 40, words: int = 12) -> Table:
    """Documents that have so many tokens, in turn."""
    chosen = random()
    rows = [
        np.bincount(chosen.integers(words, size=lengths[i % len(lengths)]), minlength=words)
        for i in range(documents)
    ]
    return np.array(rows)


def disjoint(documents: int, each: int) -> Table:
    """No word is in two documents."""
    return np.repeat(np.eye(documents, dtype=np.int64), each, axis=1)


def with_empty(table: Table, share: float = 0.5) -> Table:
    table = table.copy()
    table[random(1).random(len(table)) < share] = 0
    return table


def with_word(table: Table, times: int) -> Table:
    """One more word, in every document."""
    return np.hstack([table, np.full((len(table), 1), times)])


CASES: dict[str, tuple[Table, dict[str, Any]]] = {
    "one token": (np.eye(1, 5, dtype=np.int64), {}),
    "one token, and empty documents": (np.eye(30, 1, dtype=np.int64), {}),
    "one document": (of_lengths(20, documents=1), {}),
    "two documents": (of_lengths(20, documents=2), {}),
    "nine documents": (two_kinds(9), {}),
    "ten documents": (two_kinds(10), {}),
    "one word": (np.full((50, 1), 4), {}),
    "one word in one document": (np.full((1, 1), 1), {}),
    "one word, no thinning": (np.full((50, 1), 4), {"thin": 0}),
    "two words, always together": (np.full((50, 2), 2), {}),
    "two words, never together": (
        two_kinds(words=2, mean=4) + np.repeat(np.eye(2, dtype=int), 30, 0),
        {},
    ),
    "two words, at random": (random().poisson(3, (80, 2)), {}),
    "identical documents": (np.tile([3, 2, 1, 0, 5], (60, 1)), {}),
    "identical long documents": (np.tile([300, 200, 100, 1, 500], (60, 1)), {"clip": 0}),
    "two kinds of identical documents": (np.repeat([[4, 3, 0, 0], [0, 0, 5, 2]], 30, 0), {}),
    "two kinds, one of them once": (np.repeat([[4, 3, 0, 0], [0, 0, 5, 2]], [59, 1], 0), {}),
    "three kinds of identical documents, k = 2": (
        np.repeat(np.eye(3, dtype=int) * 5, 30, 0),
        {"children": 2},
    ),
    "k above the rank": (two_kinds(), {"children": 5}),
    "k far above the rank": (two_kinds(200, 40), {"children": 30}),
    "k above the words": (two_kinds(words=4), {"children": 10}),
    "k above the words, no look-ahead": (two_kinds(words=4), {"children": 10, "lookahead": False}),
    "k above the documents": (two_kinds(20, 30), {"children": 50}),
    "k above the documents, no look-ahead": (
        two_kinds(20, 30),
        {"children": 50, "lookahead": False},
    ),
    "k above the documents, no polish": (two_kinds(20, 30), {"children": 50, "polish": 0}),
    "lengths 0 to 3": (of_lengths(0, 1, 2, 3, documents=200), {}),
    "lengths 0 and 1": (of_lengths(0, 1, documents=100), {}),
    "lengths 1": (of_lengths(1, documents=100), {}),
    "lengths 2": (of_lengths(2, documents=100), {}),
    "lengths 3": (of_lengths(3, documents=100), {}),
    "lengths 3, two words": (of_lengths(3, documents=100, words=2), {}),
    "one long document among short ones": (
        np.vstack([of_lengths(2), of_lengths(5000, documents=1)]),
        {},
    ),
    "every other document is empty": (with_empty(two_kinds()), {}),
    "nearly all documents are empty": (with_empty(two_kinds(600), 0.97), {}),
    "empty rows at both ends": (np.pad(two_kinds(), ((20, 20), (0, 0))), {}),
    "words that never occur": (np.pad(two_kinds(), ((0, 0), (40, 40))), {}),
    "more words than fit a dense E2": (np.pad(two_kinds(), ((0, 0), (0, 600))), {}),
    "the largest counts": (two_kinds() * LARGE, {}),
    "the largest counts, not clipped": ((two_kinds() > 0) * LARGE, {"clip": 0}),
    "the largest counts, not clipped nor thinned": (
        (two_kinds() > 0) * LARGE,
        {"clip": 0, "thin": 0},
    ),
    "one of the largest counts": (
        two_kinds() + LARGE * (np.arange(60)[:, None] + np.arange(6) == 7),
        {"clip": 0},
    ),
    "alpha0 tiny": (two_kinds(), {"alpha0": 1e-6}),
    "alpha0 huge": (two_kinds(), {"alpha0": 1e6}),
    "alpha0 huge, noise": (random().poisson(1, (300, 20)), {"alpha0": 1e6}),
    "alpha0 tiny, no look-ahead": (two_kinds(), {"alpha0": 1e-6, "lookahead": False}),
    "alpha0 huge, no look-ahead": (two_kinds(), {"alpha0": 1e6, "lookahead": False}),
    "alpha0 auto of next to nothing": (two_kinds(10), {"alpha0": "auto"}),
    "alpha0 auto of identical documents": (np.tile([3, 2, 1, 0, 5], (60, 1)), {"alpha0": "auto"}),
    "alpha0 auto of noise": (random().poisson(1, (300, 20)), {"alpha0": "auto"}),
    "disjoint documents": (disjoint(40, 5), {}),
    "disjoint documents of one word": (disjoint(40, 1), {}),
    "disjoint documents, repeated words": (disjoint(40, 5) * 7, {"clip": 0}),
    "disjoint documents, auto": (disjoint(40, 5), {"children": "auto"}),
    "disjoint documents, fewer than asked for": (disjoint(12, 20), {"children": 30}),
    "a word in every document": (with_word(two_kinds(), 1), {}),
    "a word in every document, often": (with_word(two_kinds(), 500), {"clip": 0, "thin": 0}),
    "a word in every document, nothing else in most": (
        with_word(with_empty(two_kinds(), 0.8), 3),
        {},
    ),
    "pure noise": (random().poisson(0.5, (500, 50)), {}),
    "pure noise, auto": (random().poisson(0.5, (500, 50)), {"children": "auto"}),
    "pure noise, fewer documents than words": (random().poisson(0.05, (30, 400)), {"children": 4}),
    "pure noise, words alone": (random().poisson(0.5, (500, 50)), {"topical": "word"}),
    "height 0": (two_kinds(), {"height": 0}),
    "height 20": (two_kinds(), {"height": 20, "children": 2}),
    "height 20, auto": (two_kinds(300, 30), {"height": 20, "children": "auto"}),
    "a sample of one document": (two_kinds(), {"sample": 1}),
    "a sample of more documents than there are": (two_kinds(), {"sample": 10**9}),
    "many sweeps": (two_kinds(20), {"polish": 200}),
    "no sweeps": (two_kinds(20), {"polish": 0}),
    "everything is thinned": (two_kinds(), {"thin": 1e-12}),
    "nothing is thinned": (two_kinds(), {"thin": 1}),
    "counts are clipped to one": (two_kinds(), {"clip": 1}),
    "width 2": (two_kinds(300, 30), {"children": "auto", "width": 2}),
    "eta 0": (two_kinds(300, 30), {"children": "auto", "lookahead": False, "eta": 0}),
    "eta 1": (two_kinds(300, 30), {"children": "auto", "lookahead": False, "eta": 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_hardly_a_corpus(name: str) -> None:
    table, options = CASES[name]
    tree, _ = grown(csr_array(table), **{"children": 3} | options)
    leaves = [node for node in tree.nodes.values() if not node.children]
    assert leaves
    assert all(node.reason in REASONS for node in leaves)


def test_there_are_many_such_corpora() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("one token", FEW),
        ("one token, and empty documents", FEW),
        ("one document", FEW),
        ("two documents", FEW),
        ("nine documents", FEW),
        ("lengths 1", SHORT),
        ("lengths 2", SHORT),
        ("a sample of one document", FEW),
        ("one word", NOISE),
        ("identical documents", NOISE),
        ("identical long documents", NOISE),
        ("pure noise", NOISE),
        ("pure noise, auto", NOISE),
        ("height 0", "height"),
    ],
)
def test_why_the_root_is_a_leaf(name: str, reason: str) -> None:
    table, options = CASES[name]
    tree, _ = grown(csr_array(table), **{"children": 3} | options)
    assert [node.reason for node in tree.nodes.values()] == [reason]


@pytest.mark.parametrize(
    "name",
    [
        "ten documents",
        "two kinds of identical documents",
        "every other document is empty",
        "words that never occur",
        "more words than fit a dense E2",
        "the largest counts",
        "the largest counts, not clipped",
        "alpha0 tiny",
        "alpha0 huge",
        "a word in every document",
    ],
)
def test_what_can_be_split_is_split_rightly(name: str) -> None:
    """Two kinds of documents: two topics that have no document in common."""
    table, options = CASES[name]
    tree, _ = grown(csr_array(table), **options | {"children": 2, "height": 1})
    skipped = 40 if name == "words that never occur" else 0
    size = 2 if "identical" in name else 3
    first = slice(skipped, skipped + size)
    mass = sorted(float(node.words[first].sum()) for node in list(tree.nodes.values())[1:])
    assert mass[0] < 0.02
    assert mass[1] > (0.6 if "every document" in name else 0.98)


@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize(
    "name",
    [
        "one token, and empty documents",
        "one document",
        "nine documents",
        "ten documents",
        "one word",
        "two words, never together",
        "identical documents",
        "two kinds of identical documents",
        "k above the rank",
        "k above the words",
        "k above the documents",
        "lengths 0 to 3",
        "lengths 2",
        "every other document is empty",
        "words that never occur",
        "alpha0 tiny",
        "alpha0 huge",
        "disjoint documents of one word",
        "a word in every document",
        "pure noise",
    ],
)
def test_methods_of_the_paper(name: str, method: str) -> None:
    table, given = CASES[name]
    counts = csr_array(table)
    options = paper_options(TreeOptions(**{"children": 3} | given, method=method))
    splitter = paper_splitter(options, lambda: counts, counts.shape[1], 1 << 30)
    book = MemoryShareStore()
    occurrences = np.asarray(counts.sum(axis=0), dtype=np.int64)
    own = ground(matrix_shards(counts), occurrences, options, book, splitter=splitter)
    tree = grow(own, occurrences)
    check_tree(tree, book, *counts.shape)
