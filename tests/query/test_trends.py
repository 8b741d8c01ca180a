"""Slopes and bursts against brute force."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import t as student_t

import strod
from strod.errors import UsageError
from strod.query.bursts import bursts
from strod.query.trends import SPREAD, fitted, student
from tests.query.recount import buckets

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.query.conftest import Asked


@pytest.mark.parametrize("seed", range(5))
def test_slope_is_where_the_likelihood_is_largest(seed: int) -> None:
    random = np.random.default_rng(seed)
    times = np.sort(random.choice(40, 8, replace=False)).astype(float)
    totals = random.integers(5, 200, 8)
    counts = random.binomial(totals, 1 / (1 + np.exp(2 - 0.05 * (times - 20))))
    scale = times.std()
    x = (times - times.mean()) / scale

    def loss(beta: np.ndarray) -> float:
        odds = beta[0] + beta[1] * x
        likely = counts * odds - totals * np.log1p(np.exp(odds))
        return float(-likely.sum() + beta[1] ** 2 / (2 * SPREAD**2))

    best = minimize(
        loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}
    )
    assert fitted(times, counts, totals).slope == pytest.approx(best.x[1] / scale, abs=1e-5)


def test_few_documents_prove_nothing() -> None:
    times, totals = np.arange(2010.0, 2020.0), np.full(10, 20)
    one = np.zeros(10, dtype=np.int64)
    one[-1] = 1
    assert fitted(times, one, totals).low < 0
    many = fitted(times, np.arange(10) * 100, totals * 100)
    assert many.low > 0
    assert fitted(times, np.zeros(10, dtype=np.int64), totals).low < 0
    last = fitted(times, np.where(times == 2019, 20, 0), totals)
    assert np.isfinite(last).all()
    two = fitted(times[:2], np.array([1, 3]), totals[:2])
    assert two.low < 0 < two.high


def test_intervals_hold_what_they_promise() -> None:
    random = np.random.default_rng(0)
    times, totals = np.arange(12.0), random.integers(20, 300, 12)
    p, inside = 1 / (1 + np.exp(3 - 0.1 * times)), 0
    for _ in range(300):
        found = fitted(times, random.binomial(totals, p), totals)
        inside += found.low <= 0.1 <= found.high
    assert inside >= 0.93 * 300


def test_quantiles_of_student() -> None:
    for freedom in (1, 2, 3, 4, 7, 30, 1000):
        assert student(freedom) == pytest.approx(student_t.ppf(0.975, freedom), rel=2e-3)


@pytest.mark.parametrize("corpus", range(3))
def test_bursts_are_counted_right(drawn: Callable[[int], Asked], corpus: int) -> None:
    workspace, naive = drawn(corpus)
    index = workspace.snapshot.index
    topics = index.topics(level=1)
    found = bursts(index, "year", topics, limit=0)
    assert found
    for one in found[:20]:
        under = [name for name in naive.ids if one.topic in naive.above(name)]
        has = [name for name in under if one.phrase in naive.records[name]["text"].split()]
        when = {name: buckets(naive.records[name], "year")[0] for name in under}
        usual, here = Counter(when.values()), Counter(when[name] for name in has)
        expected = {year: len(has) * usual[year] / len(under) for year in usual}
        score = {
            year: (here[year] - expected[year]) / max(here[year], expected[year], 1) ** 0.5
            for year in usual
        }
        assert one.documents == here[one.bucket]
        assert one.expected == pytest.approx(expected[one.bucket])
        assert one.score == pytest.approx(max(score.values()))
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True)


def test_a_topic_that_grows_is_found(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    fields = [[f"{name}{i}" for i in "abcdefghij"] for name in ("river", "stone", "cloud")]
    records = []
    for number in range(600):
        year = 2000 + number % 10
        chances = np.array([1.0, 1.0, 0.1 * (1 + year - 2000)])
        field = fields[random.choice(3, p=chances / chances.sum())]
        text = " ".join(random.choice(field, 20))
        records.append({"id": str(number), "text": text, "date": f"{year}-05-01"})
    workspace = strod.build(records, out=tmp_path / "w.strod", meta="date", children=3, height=1)
    found = workspace.trends()
    assert found.field == "date:year"
    assert found.unit == "year"
    assert "cloud" in found.rows[0].topic.words[0][0]
    assert found.rows[0].slope.low > 0.1
    assert not any(one.slope.low > 0 for one in found.rows[1:])


def test_what_cannot_be_a_time_is_refused(drawn: Callable[[int], Asked]) -> None:
    workspace, _ = drawn(1)
    with pytest.raises(UsageError, match="venue: is a category; trends go by a date or a number"):
        workspace.trends("venue")
    with pytest.raises(UsageError, match="takes documents of two times or more, not 1"):
        workspace.trends("year", where="year = 1996")
    with pytest.raises(UsageError, match="two times or more, not 0"):
        workspace.trends("year", where="year = 1896")
