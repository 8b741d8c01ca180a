"""How well documents are explained: by the formula, beside documents held out."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import strod
from strod.compute.counting import count_matrix, words_before
from strod.corpus.pairs import read_pairs
from strod.engine.threads import Serial
from strod.model.explain import Explainer, Own, Texts, Vocabulary
from strod.model.pairs import SKIPPED, PairCounts, Pairs, added_pairs, counted_pairs, hashed
from strod.passes.fit import _counted, _own, _pieces, _Words
from strod.store.schema import UsualRecord
from strod.text.characters import CLAUSE, HOLE
from strod.values.shares import Shares
from strod.values.split import Cooccurrence, Decomposition, FineTopics
from strod.values.usual import LENGTHS, usual
from strod.workspace import build
from strod.workspace.fit import calibrated, fit_model
from strod.workspace.workspace import Workspace
from tests.drift.conftest import OWN, own_texts, records, strange_texts
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

WORDS, TOPICS, DOCUMENTS = 12, 3, 20


class Case:
    """Some documents, topics and shares at random."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.counts = random.integers(0, 4, (DOCUMENTS, WORDS)) * (
            random.random((DOCUMENTS, WORDS)) < 0.4
        )
        self.unknown = random.integers(0, 3, DOCUMENTS)
        self.fine = random.random((TOPICS, WORDS)).astype(np.float32) * 5
        self.retention = (0.2 + 0.8 * random.random(WORDS)).astype(np.float32)
        self.weights = random.dirichlet(np.ones(TOPICS))
        self.occurrences = self.counts.sum(axis=0) + random.integers(1, 30, WORDS).astype(float)
        self.documents = (self.counts > 0).sum(axis=0) + random.integers(0, 3, WORDS).astype(float)
        self.shares = random.dirichlet(np.full(TOPICS, 0.3), DOCUMENTS).astype(np.float32)
        self.shares[self.shares < 0.05] = 0
        self.shares[3] = 0
        self.least = 6
        self.before = random.integers(-1, WORDS, (DOCUMENTS, WORDS)).astype(np.int32)
        self.times = random.integers(0, 9, (WORDS, WORDS)) * (random.random((WORDS, WORDS)) < 0.5)
        self.own_times = random.integers(0, 3, (DOCUMENTS, WORDS))
        first, second = (side.astype(np.int32) for side in np.nonzero(self.times))
        found = hashed(first, second)
        order = np.argsort(found)
        counts = self.times[first, second].astype(np.uint16)
        columns = np.arange(WORDS, dtype=np.int32)
        self.pairs = Pairs(columns, PairCounts(found[order], counts[order]), 0.7)

    def texts(self) -> tuple[Texts, Own]:
        counts = csr_array(self.counts)
        rows = np.repeat(np.arange(DOCUMENTS), np.diff(counts.indptr))
        before = self.before[rows, counts.indices]
        own = Own(counts.data, self.own_times[rows, counts.indices])
        return Texts(counts.indptr, counts.indices, before, self.unknown), own

    def explainer(self) -> Explainer:
        zeros = np.zeros((TOPICS, TOPICS))
        overlap = Cooccurrence(self.weights, zeros, np.ones(TOPICS))
        split = Decomposition(FineTopics(self.fine), overlap, [], 1, 1, [], 0, DOCUMENTS)
        words = Vocabulary(self.occurrences, self.documents, self.least, self.pairs)
        return Explainer(split, self.retention, words)

    def sparse_shares(self) -> Shares:
        held = self.shares > 0
        indptr = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
        return Shares(indptr, np.nonzero(held)[1].astype(np.uint16), self.shares[held])

    def oracle(self, d: int, *, held: bool) -> tuple[float, float]:
        """The formula, word by word."""
        phi = self.fine / self.retention.astype(np.float64)
        phi /= phi.sum(axis=1, keepdims=True)
        total = float(self.occurrences.sum())
        words = np.flatnonzero(self.counts[d]).tolist()
        theta = self.shares[d].astype(np.float64)
        logs, lost = [], int(self.unknown[d])
        for x in words:
            own = float(self.counts[d, x]) if held else 0.0
            if held and self.documents[x] - 1 < self.least:
                lost += 1
                continue
            frequency = max(self.occurrences[x] - own, 0.5) / total
            joint = [theta[z] * phi[z, x] for z in range(TOPICS)]
            part = [one / sum(joint) if sum(joint) else 0.0 for one in joint]
            mass = [max(len(words) * theta[z] - part[z], 0.0) for z in range(TOPICS)]
            left = [
                max(phi[z, x] - part[z] * own / max(self.weights[z] * total, 1), 0.0)
                for z in range(TOPICS)
            ]
            chance = frequency
            if sum(mass):
                chance = sum(m * p for m, p in zip(mass, left, strict=True)) / sum(mass)
            chance = 0.5 * chance + 0.5 * frequency
            y = int(self.before[d, x])
            if y >= 0:
                seen = max(self.times[y, x] - (self.own_times[d, x] if held else 0), 0)
                chance = (seen + 30 * chance) / (0.7 * self.occurrences[y] + 30)
            logs.append(math.log(chance))
        length = len(logs) + lost
        rarest = math.log(self.occurrences.min() / total)
        return (sum(logs) + lost * rarest) / max(length, 1), length


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("held", [False, True])
def test_likelihoods_are_the_formula(seed: int, held: bool) -> None:
    case = Case(seed)
    texts, own = case.texts()
    given = own if held else None
    found, lengths = case.explainer().likelihoods(texts, case.sparse_shares(), given)
    for d in range(DOCUMENTS):
        likelihood, length = case.oracle(d, held=held)
        assert found[d] == pytest.approx(likelihood, abs=1e-9)
        assert lengths[d] == length


def test_pieces_of_documents() -> None:
    """Each piece has so many consecutive words of its document, unknown ones too."""
    random = np.random.default_rng(5)
    texts = [random.integers(0, 30, size).tolist() for size in (3, 9, 40, 17, 8)]
    texts[2][5], texts[2][11], texts[3][2] = HOLE, CLAUSE, HOLE
    codes = np.array([code for text in texts for code in text], dtype=np.int32)
    owner = np.repeat(np.arange(5), [len(text) for text in texts])
    found = _pieces(_Words(codes, owner), 5)
    for number, length in enumerate((*LENGTHS, 0)):
        for d, text in enumerate(texts):
            piece = found.codes[found.owner == number * 5 + d].tolist()
            words = [code for code in text if code != CLAUSE]
            if length == 0:
                assert piece == text
            elif len(words) <= length:
                assert piece == []
            else:
                assert sum(code != CLAUSE for code in piece) == length
                begins = range(len(text) - len(piece) + 1)
                assert any(text[i : i + len(piece)] == piece for i in begins)
    counts, said = _counted(found, 5 * (len(LENGTHS) + 1), 30)
    own = _own(counts, said, _Words(codes, owner), 5)
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    whole = [texts[row % 5].count(word) for row, word in zip(rows, counts.indices, strict=True)]
    assert own.tokens.tolist() == whole


def test_words_before() -> None:
    """Stop words are passed over, ends of clauses and unknown words are not."""
    columns = np.array([0, 1, 2, SKIPPED, HOLE], dtype=np.int32)
    tokens = np.array([0, 1, 3, 2, 1, CLAUSE, 0, 2, HOLE, 1, 4, 0, 0, 1], dtype=np.int32)
    sizes = np.array([9, 0, 5])
    counts = count_matrix(tokens, sizes, np.maximum(columns, -1), 3)
    assert counts.toarray().tolist() == [[2, 2, 2], [0, 0, 0], [2, 2, 0]]
    before = words_before(tokens, sizes, columns, counts)
    assert before.tolist() == [-1, 0, 1, -1, -1]


def test_pairs_are_counted() -> None:
    codes = np.array([0, 1, 2, CLAUSE, 0, 1, HOLE, 2, 0, 1, 1], dtype=np.int32)
    owner = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1])
    one = counted_pairs(codes, owner)
    columns = np.arange(3, dtype=np.int32)
    pairs = Pairs(columns, added_pairs([one, one]), 1.0)
    first = np.array([0, 1, 1, 2, -1, 2], dtype=np.int32)
    second = np.array([1, 2, 1, 0, 1, 2], dtype=np.int32)
    assert pairs.times(first, second).tolist() == [6, 2, 2, 0, 0, 0]
    assert (np.diff(pairs.counts.hashes.astype(np.int64)) > 0).all()
    none = Pairs(columns, added_pairs([]), 0.0)
    assert none.times(first, second).tolist() == [0] * 6


def test_pairs_of_a_corpus(workspace: Workspace) -> None:
    """Those of the documents that it was built from, and they stay so."""
    expected = Counter[tuple[str, str]]()
    for text in own_texts(OWN, 1):
        words = text.split()
        expected.update(pairwise(words))
    names = workspace.corpus.vocabulary["word"].to_pylist()
    column = {name: number for number, name in enumerate(names)}
    known = {pair: n for pair, n in expected.items() if set(pair) <= set(column)}
    first, second = (
        np.array([column[pair[side]] for pair in known], dtype=np.int32) for side in (0, 1)
    )
    assert read_pairs(workspace.corpus).times(first, second).tolist() == list(known.values())
    before = read_pairs(workspace.corpus).counts.times.sum()
    workspace.add(records(strange_texts(), "new"))
    assert read_pairs(workspace.corpus).counts.times.sum() == before
    assert workspace.check() == []


def test_phrases_tell_strangers(workspace: Workspace) -> None:
    """The same words, but never side by side in the corpus, are explained less well."""
    model = workspace.tree.fit_model
    assert model is not None
    pairs = model.explainer.vocabulary.pairs
    names = workspace.corpus.vocabulary["word"].to_pylist()
    both = [(a, b) for a in range(len(names)) for b in range(len(names)) if a != b]
    first, second = (np.array([p[side] for p in both], dtype=np.int32) for side in (0, 1))
    times = pairs.times(first, second)
    usual, never = both[int(times.argmax())], both[int(times.argmin())]
    assert times.min() == 0
    found = [
        model.explainer.likelihoods(
            Texts(
                np.array([0, 2]),
                np.array([a, b], dtype=np.int32),
                np.array([-1, a], dtype=np.int32),
                np.zeros(1),
            ),
            Shares.none(1),
        )[0][0]
        - model.explainer.likelihoods(
            Texts(
                np.array([0, 2]),
                np.array([a, b], dtype=np.int32),
                np.array([-1, -1], dtype=np.int32),
                np.zeros(1),
            ),
            Shares.none(1),
        )[0][0]
        for a, b in (usual, never)
    ]
    assert found[0] > 0 > found[1]


def test_fit_is_the_share_of_those_that_fit_no_better() -> None:
    random = np.random.default_rng(2)
    lengths = random.integers(3, 300, 4000).astype(float)
    likelihoods = -8 - np.log(lengths) / 10 + random.normal(size=4000) / np.sqrt(lengths)
    found = usual(likelihoods, lengths, np.ones(4000, dtype=bool))
    assert found is not None
    fits = found.fit(likelihoods, lengths)
    assert ((fits > 0) & (fits < 1)).all()
    for level in (0.03, 0.1, 0.5, 0.9):
        assert (fits < level).mean() == pytest.approx(level, abs=0.003)
        short = lengths < 20
        assert (fits[short] < level).mean() == pytest.approx(level, abs=0.04)
    order = np.linspace(-60, 10, 500)
    rising = found.fit(order, np.full(500, 40.0))
    assert (np.diff(rising) >= 0).all()
    assert rising[0] < 1e-6
    assert found.fit(np.zeros(1), np.zeros(1))[0] == 0


def test_too_few_documents_say_nothing() -> None:
    assert usual(np.zeros(10), np.full(10, 9.0), np.ones(10, dtype=bool)) is None
    assert usual(np.zeros(100), np.full(100, 9.0), np.zeros(100, dtype=bool)) is None
    assert usual(np.empty(0), np.empty(0), np.empty(0, dtype=bool)) is None


def fits(workspace: Workspace, texts: list[str]) -> list[float]:
    return [row["fit"] for row in workspace.assign(texts)]


def test_strangers_are_known_and_others_let_pass(workspace: Workspace) -> None:
    own, strange = fits(workspace, own_texts(200)), fits(workspace, strange_texts(200))
    model = workspace.tree.fit_model
    assert model is not None
    assert np.mean(np.array(own) < model.threshold) <= 0.1
    assert np.mean(np.array(strange) < model.threshold) >= 0.9
    assert np.median(own) > 0.3


def test_what_is_usual_is_kept(workspace: Workspace) -> None:
    split = workspace.tree.splits["o"]
    assert split.usual is not None
    again = calibrated(workspace.corpus, workspace.tree.model, Serial())["o"].usual
    assert again is not None
    for name in ("lengths", "means", "deviations", "quantiles"):
        assert np.array_equal(getattr(split.usual, name), getattr(again, name))


def test_a_workspace_without_it_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Workspace
) -> None:
    """As a workspace of an earlier version: the same answers, found when they are needed."""
    monkeypatch.setattr(build, "calibrated", lambda _, model, __: dict(model.decompositions))
    texts = records(own_texts(OWN, 1), "d")
    older = strod.build(texts, out=tmp_path / "older.strod", children=3, height=2)
    assert older.tree.splits["o"].usual is None
    assert older.check() == []
    new = [*own_texts(), *strange_texts()]
    assert list(older.assign(new)) == list(workspace.assign(new))


@pytest.mark.parametrize("options", [{"workers": 1}, {"workers": 3}, {"engine": "processes"}])
def test_the_same_bytes_for_any_workers(
    tmp_path: Path, metals: Path, options: dict[str, Any]
) -> None:
    texts = records(own_texts(OWN, 1), "d")
    built = strod.build(texts, out=tmp_path / "w.strod", children=3, height=2, **options)
    assert built.manifest.parts == Workspace(metals).manifest.parts


def test_a_tree_without_topics_says_nothing(tmp_path: Path) -> None:
    built = strod.build(planted_texts(50), out=tmp_path / "w.strod", height=0)
    assert fit_model(built.corpus, built.tree.model, Serial()) is None
    assert [row["fit"] for row in built.assign(["rivera", "unheardof"])] == [None, None]


@pytest.mark.parametrize(
    "wrong",
    [
        {"lengths": (4.0, 4.0)},
        {"means": (1.0,)},
        {"deviations": (1.0, 0.0)},
        {"quantiles": (1.0, 0.5)},
        {"threshold": 2.0},
    ],
    ids=str,
)
def test_records_are_looked_at(workspace: Workspace, wrong: dict[str, Any]) -> None:
    from strod.errors import DamagedError  # noqa: PLC0415
    from strod.store.schema import as_json, parse  # noqa: PLC0415

    good = UsualRecord(
        lengths=(4.0, 8.0),
        means=(1.0, 2.0),
        deviations=(1.0, 2.0),
        quantiles=(0.0, 1.0),
        threshold=0.03,
    )
    assert parse(as_json(good), UsualRecord, workspace.path) == good
    with pytest.raises(DamagedError):
        parse(as_json(good) | wrong, UsualRecord, workspace.path)
