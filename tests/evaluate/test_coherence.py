"""Coherence against naive versions and gensim; windows against sliding one."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from strod.engine.threads import Serial
from strod.evaluate.coherence import c_v, mean_npmi, mean_of, pooled_lift
from strod.evaluate.windows import Chosen, window_meetings
from strod.passes.cooccur import cooccurrences
from strod.progress import Silent
from strod.tree.matrix import MatrixShard
from strod.tree.top_words import npmi_table
from tests.chance import drawn

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = 12


@dataclass
class Stream:
    """Documents as tokens."""

    documents: list[list[int]]
    first: int = 0

    @property
    def size(self) -> int:
        return len(self.documents)

    def open(self) -> Self:
        return self

    @property
    def tokens(self) -> NDArray[np.int32]:
        return np.array([token for one in self.documents for token in one], dtype=np.int32)

    @property
    def token_offsets(self) -> NDArray[np.int64]:
        return np.cumsum([0, *map(len, self.documents)]).astype(np.int64)


def slid(documents: list[list[int]], size: int) -> list[set[int]]:
    """Words of every window, one after the other."""
    windows = []
    for document in documents:
        words = [token for token in document if token >= 0]
        if words:
            starts = range(max(len(words) - size, 0) + 1)
            windows += [set(words[start : start + size]) for start in starts]
    return windows


def naive_pairs(windows: list[set[int]], words: list[int]) -> NDArray[np.float64]:
    return np.array([[sum({a, b} <= one for one in windows) for b in words] for a in words], float)


def naive_c_v(windows: list[set[int]], words: list[int]) -> float:
    """Röder et al., word by word."""

    def share(*chosen: int) -> float:
        return sum(set(chosen) <= one for one in windows) / len(windows)

    def npmi(a: int, b: int) -> float:
        both = share(a, b) + 1e-12
        return math.log(both / (share(a) * share(b))) / -math.log(both)

    company = {a: [npmi(a, b) for b in words] for a in words}
    whole = [sum(company[a][i] for a in words) for i in range(len(words))]

    def cosine(u: list[float], v: list[float]) -> float:
        dot = sum(x * y for x, y in zip(u, v, strict=True))
        return dot / math.sqrt(sum(x * x for x in u) * sum(y * y for y in v))

    return sum(cosine(company[a], whole) for a in words) / len(words)


def random_documents(seed: int, number: int = 60) -> list[list[int]]:
    """Words that like each other's company by threes; some breaks."""
    random = np.random.default_rng(seed)
    documents = []
    for _ in range(number):
        group = random.integers(0, WORDS // 3)
        size = random.integers(1, 40)
        mixed = np.where(
            random.random(size) < 0.5, 3 * group + random.integers(0, 3, size),
            random.integers(-3, WORDS, size),
        )  # fmt: skip
        documents.append(mixed.tolist())
    return documents


LISTS = [[0, 1, 2, 3], [3, 4, 5], [9, 0, 7, 4, 8], [6]]
COLUMN = np.arange(WORDS, dtype=np.int32)


def met(documents: list[list[int]], size: int, lists: list[list[int]]) -> Any:
    chosen = Chosen.of([np.array(one, dtype=np.int64) for one in lists], COLUMN)
    half = len(documents) // 2
    shards = [Stream(documents[:half]), Stream(documents[half:])]
    return window_meetings(shards, chosen, size, Serial(), Silent())


@settings(max_examples=drawn(40))
@given(
    st.lists(st.lists(st.integers(-3, WORDS - 1), max_size=14), min_size=1, max_size=6),
    st.integers(1, 8),
)
def test_windows_are_counted_as_if_one_slid(documents: list[list[int]], size: int) -> None:
    windows = slid(documents, size)
    tables, total = met(documents, size, LISTS)
    assert total == len(windows)
    for table, words in zip(tables, LISTS, strict=True):
        assert table.tolist() == naive_pairs(windows, words).tolist()


def test_lists_of_columns_are_found_in_the_lexicon() -> None:
    column = np.array([-1, 2, -1, 0, 1], dtype=np.int32)
    chosen = Chosen.of([np.array([1, 2])], column)
    tables, total = window_meetings([Stream([[0, 1, 4], [2, 4]])], chosen, 10, Serial(), Silent())
    assert total == 2
    assert tables[0].tolist() == [[2, 1], [1, 1]]
    nothing = Chosen.of([], column)
    assert window_meetings([Stream([[0, 1]])], nothing, 10, Serial(), Silent()) == ([], 1)


@pytest.mark.parametrize("size", [5, 110])
def test_c_v_naive(size: int) -> None:
    documents = random_documents(1)
    tables, total = met(documents, size, LISTS[:3])
    for table, words in zip(tables, LISTS, strict=False):
        assert c_v(table, total) == pytest.approx(naive_c_v(slid(documents, size), words))


def gensim_coherence(documents: list[list[int]], lists: list[list[int]], **how: Any) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = pytest.importorskip("gensim.models", reason="gensim is not installed")
        corpora = pytest.importorskip("gensim.corpora", reason="gensim is not installed")
        texts = [[f"w{t}" for t in document if t >= 0] for document in documents]
        topics = [[f"w{t}" for t in words] for words in lists]
        known = corpora.Dictionary(texts)
        model = models.CoherenceModel(
            topics=topics, texts=texts, dictionary=known, processes=1, topn=9, **how
        )
        found: list[float] = model.get_coherence_per_topic()
    return found


def test_gensim() -> None:
    """No word stands twice in a text: gensim forgets it when its first place leaves a window."""
    random = np.random.default_rng(2)
    documents = [random.permutation(WORDS)[: random.integers(3, WORDS)].tolist() for _ in range(80)]
    lists = LISTS[:3]
    tables, total = met(documents, 7, lists)
    theirs = gensim_coherence(documents, lists, coherence="c_v", window_size=7)
    assert [c_v(table, total) for table in tables] == pytest.approx(theirs, abs=1e-9)
    whole = gensim_coherence(documents, lists, coherence="c_npmi", window_size=1000)
    tables, total = met(documents, 1000, lists)
    assert total == len(documents)
    assert min(table.min() for table in tables) > 0
    assert [mean_npmi(table, total) for table in tables] == pytest.approx(whole, abs=1e-9)


def test_npmi_by_hand() -> None:
    pairs = np.array([[4.0, 2.0, 0.0], [2.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    table = npmi_table(pairs, 8)
    assert table[0, 1] == pytest.approx(math.log(0.25 / (0.5 * 0.25)) / -math.log(0.25))
    assert table[0, 2] == -1
    assert table[1, 2] == pytest.approx(math.log(0.125 / (0.25 * 0.25)) / -math.log(0.125))
    assert mean_npmi(pairs, 8) == pytest.approx((table[0, 1] - 1 + table[1, 2]) / 3)
    assert npmi_table(np.full((2, 2), 8.0), 8).tolist() == [[1, 1], [1, 1]]
    assert npmi_table(np.zeros((2, 2)), 8).tolist() == [[-1, -1], [-1, -1]]
    assert npmi_table(pairs, 8, 1e-10)[0, 2] == pytest.approx(
        math.log(1e-10 / (0.5 * 0.25)) / -math.log(1e-10)
    )


def test_lists_without_a_pair_have_no_value() -> None:
    assert mean_npmi(np.ones((1, 1)), 3) is None
    assert c_v(np.ones((1, 1)), 3) is None
    assert mean_of([None, 1.0, 2.0]) == 1.5
    assert mean_of([None]) is None


def test_npmi_by_documents() -> None:
    counts = np.random.default_rng(0).poisson(0.5, (40, 9))
    lists = [np.array([0, 1, 2]), np.array([8, 3]), np.array([5])]
    there = counts > 0
    values = []
    for words in lists[:2]:
        pairs = []
        for a, b in combinations(words, 2):
            one, other = there[:, a].mean(), there[:, b].mean()
            both = (there[:, a] & there[:, b]).mean()
            pairs.append(math.log(both / (one * other)) / -math.log(both))
        values.append(sum(pairs) / len(pairs))
    met = cooccurrences([MatrixShard(0, 40, csr_array(counts))], lists, 9, Serial())
    found = mean_of([mean_npmi(pairs, 40) for pairs in met])
    assert found == pytest.approx(sum(values) / 2)


def test_pooled_lift_is_that_of_the_formula() -> None:
    random = np.random.default_rng(2)
    rows = random.random((50, 4)) < 0.3
    pairs = (rows[:, :, None] & rows[:, None, :]).sum(axis=0).astype(float)
    met = sum(float((rows[:, x] & rows[:, y]).mean()) for x, y in combinations(range(4), 2))
    chance = sum(float(rows[:, x].mean() * rows[:, y].mean()) for x, y in combinations(range(4), 2))
    assert pooled_lift(pairs, 50) == pytest.approx(met / chance)
    assert pooled_lift(np.zeros((3, 3)), 50) is None
    assert pooled_lift(np.ones((1, 1)), 50) is None
    assert pooled_lift(np.zeros((0, 0)), 0) is None
