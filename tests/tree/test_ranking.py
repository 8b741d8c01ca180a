"""Which words head a topic: formulas against loops, and what they are meant to do."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from strod.datasets.planted import plant
from strod.engine.threads import Serial, Threads
from strod.passes.cooccur import cooccurrences
from strod.tree.matrix import MatrixShard, matrix_shards
from strod.tree.top_words import HEADS, TOGETHER, affinity, find_top_words
from strod.values.topic import ROOT, Node
from strod.values.words import scores
from tests.tree.helpers import grown


def naive_heads(counts: np.ndarray, node: Node, parent: Node, root: Node) -> list[int]:
    """Document by document, pair by pair."""
    documents, width = counts.shape
    score = scores(node.words, parent.words, root.words, np.ones(width))
    best = sorted(range(width), key=lambda word: (-score[word], word))[:HEADS]
    weight = {word: max(score[word], 0) / sum(max(score[x], 0) for x in best) for word in best}
    mean = dict.fromkeys(best, 0.0)
    for one, two in combinations(best, 2):
        both = sum(1 for row in counts if row[one] and row[two])
        chance = (counts[:, one] > 0).sum() * (counts[:, two] > 0).sum() / documents
        value = np.log((both + 0.5) / (chance + 0.5)) / np.log((documents + 1) / (both + 0.5))
        value = min(max(value, -1), 1)
        mean[one] += weight[two] * value
        mean[two] += weight[one] * value
    final = {
        word: max(score[word], 0) * np.exp(TOGETHER * mean[word] / max(1 - weight[word], 0.1))
        for word in best
    }
    return sorted(best, key=lambda word: (-final[word], best.index(word)))


def test_heads_equal_a_naive_count() -> None:
    random = np.random.default_rng(0)
    for case in range(20):
        width = int(random.integers(3, 40))
        counts = random.poisson(random.uniform(0.02, 1, width), (60, width))
        words = random.dirichlet(np.full(width, 0.4), 3)
        root = Node(ROOT, None, 0, [], words[0], children=["a", "b"])
        nodes = {ROOT: root}
        for name, row in zip("ab", words[1:], strict=True):
            nodes[name] = Node(name, ROOT, 1, [], row)
        find_top_words(
            matrix_shards(csr_array(counts)), nodes, list(nodes), np.ones(width), Serial()
        )
        for name in "ab":
            assert nodes[name].top_words == naive_heads(counts, nodes[name], root, root), case
        assert root.top_words == np.argsort(-words[0], kind="stable")[:HEADS].tolist()


def test_meetings_of_lists_that_overlap() -> None:
    """Of different lengths, unsorted, empty; over several shards, by several workers."""
    table = np.random.default_rng(1).poisson(0.4, (50, 12))
    lists = [np.array(one, dtype=np.int64) for one in ([3, 1, 7], [7], [], [11, 0, 3, 7, 2])]
    shards = [
        MatrixShard(first, 10, csr_array(table[first : first + 10])) for first in range(0, 50, 10)
    ]
    for engine in (Serial(), Threads(2)):
        found = cooccurrences(shards, lists, 12, engine)
        for words, pairs in zip(lists, found, strict=True):
            stands = (table[:, words] > 0).astype(float)
            assert np.array_equal(pairs, stands.T @ stands)


def test_a_row_with_a_word_twice_writes_nowhere_else() -> None:
    twice = csr_array((np.ones(9000), np.zeros(9000, dtype=np.int32), [0, 9000]), shape=(1, 2))
    lists = [np.array([0]), np.array([1])]
    one, other = cooccurrences([MatrixShard(0, 1, twice)], lists, 2, Serial())
    assert (one.tolist(), other.tolist()) == ([[1]], [[0]])


def test_affinity_has_bounds_and_says_nothing_of_rare_words() -> None:
    pairs = np.array([[100.0, 100, 0, 0], [100, 100, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    found = affinity(pairs, 1000)
    assert found[0, 1] > 0.95
    assert abs(found[2, 3]) < 1e-3
    assert found[0, 2] < 0
    assert not np.diag(found).any()
    assert np.isfinite(affinity(np.full((2, 2), 7.0), 7)).all()  # in every document
    assert np.isfinite(affinity(np.zeros((2, 2)), 0)).all()


def test_a_word_that_goes_with_none_falls_back() -> None:
    together = np.zeros((300, 24), dtype=int)
    together[:100, :4] = 1  # 0 to 3 stand together
    together[100:200, 4] = 1  # 4 stands alone
    together[200:, 5:] = 1
    own, above = np.full(24, 1e-4), np.full(24, 0.04)
    own[:5] = [0.16, 0.16, 0.16, 0.16, 0.2]
    own, above = own / own.sum(), above / above.sum()
    nodes = {
        ROOT: Node(ROOT, None, 0, [], above, children=["a"]),
        "a": Node("a", ROOT, 1, [], own),
    }
    find_top_words(matrix_shards(csr_array(together)), nodes, list(nodes), np.ones(24), Serial())
    assert sorted(nodes["a"].top_words[:4]) == [0, 1, 2, 3]
    assert nodes["a"].top_words[4] == 4


def test_words_that_a_topic_does_not_have_never_head_it() -> None:
    """Their score is 0, more than that of words which are rarer here than above."""
    own, above = np.zeros(40), np.full(40, 1 / 40)
    own[[3, 30, 17]] = [0.9, 0.09, 0.01]
    assert scores(own, above, above, np.ones(40))[17] < 0
    counts = np.random.default_rng(1).poisson(1, (50, 40))
    nodes = {
        ROOT: Node(ROOT, None, 0, [], above, children=["a"]),
        "a": Node("a", ROOT, 1, [], own),
    }
    find_top_words(matrix_shards(csr_array(counts)), nodes, list(nodes), np.ones(40), Serial())
    assert sorted(nodes["a"].top_words) == [3, 17, 30]
    assert nodes["a"].top_words[0] == 3
    assert nodes[ROOT].top_words == list(range(HEADS))  # of equals the first


def test_seeds_make_no_difference_on_real_structure() -> None:
    """Starts come from the words and the spectrum has converged: chance has no say."""
    counts = plant(3, documents=3000, length=30, children=4, words=3000).counts
    trees = [grown(counts, children=4, seed=seed)[0] for seed in range(3)]
    first = list(trees[0].nodes.values())
    for tree in trees[1:]:
        for one, two in zip(first, tree.nodes.values(), strict=True):
            assert np.abs(one.words - two.words).sum() < 0.01
