"""Topics that grew or shrank: a share by time, its slope, and how sure that is.

The number of a topic's documents among the n of a bucket is taken as binomial with a log-odds that
changes by `slope` a bucket. The interval allows for more scatter than chance alone gives
(quasi-binomial) and for few buckets (Student's t), so that a handful of documents proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from strod.errors import UsageError
from strod.query.fields import PARTS, Field
from strod.query.index import Spread
from strod.query.slices import cells

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from strod.query.index import Index
    from strod.workspace.tree import Topic

    Array = NDArray[np.float64]

__all__ = ["Slope", "Times", "Trend", "Trends", "documents_by_time", "fitted", "times_of", "trends"]

ENOUGH = 6  # years from which a year is a bucket; else quarters, and so on
SPREAD = 5.0  # what a slope is expected to be at most, in standard deviations of time
ROUNDS, CLOSE = 100, 1e-10
Z = 1.959963984540054  # of 95 % in the normal distribution


class Slope(NamedTuple):
    """Change of the log-odds from one bucket to the next, and its interval of 95 %."""

    slope: float
    low: float
    high: float


@dataclass(frozen=True)
class Trend:
    """A topic over time.

    Attributes
    ----------
    topic : Topic
        The topic.
    slope : Slope
        How fast it grows among all documents.
    series : list of (bucket, int, float)
        Documents in each bucket, and their part of all documents of the bucket.
    """

    topic: Topic
    slope: Slope
    series: list[tuple[Any, int, float]]

    @property
    def certain(self) -> bool:
        """Whether the interval leaves no doubt of the direction."""
        return self.slope.low > 0 or self.slope.high < 0


@dataclass(frozen=True)
class Trends:
    """Topics over time, those that grow most first.

    Attributes
    ----------
    field : str
        Where the time is from, with its part: ``date:year``.
    rows : list of Trend
        The topics.
    """

    field: str
    rows: list[Trend]

    @property
    def unit(self) -> str:
        """What a bucket is: a year, a month, or a step of a number."""
        name, _, part = self.field.rpartition(":")
        if part in PARTS and (name or part == "year"):
            return part
        return f"step of {part}" if name and part[0].isdigit() else "step"

    @property
    def times(self) -> Array:
        """When the buckets of all series are, in steps: where one is missing there is a gap."""
        return times_of(self.field, [bucket for bucket, _, _ in self.rows[0].series])

    def as_dictionary(self) -> dict[str, Any]:
        """For programs."""
        return {
            "field": self.field,
            "rows": [
                {"topic": one.topic.path, **one.slope._asdict(), "series": one.series}
                for one in self.rows
            ],
        }


class Times(NamedTuple):
    """Documents by time.

    Attributes
    ----------
    field : str
        The field, with the part of a date that it goes by.
    buckets : list
        The times.
    totals : ndarray of int
        Documents of each.
    counts : callable
        Documents of each under a topic, by id.
    """

    field: str
    buckets: list[Any]
    totals: NDArray[np.int64]
    counts: Callable[[str], NDArray[np.int64]]

    def trend(self, topic: Topic) -> Trend:
        """A topic over time."""
        counts = self.counts(topic.id)
        shares = (counts / self.totals).tolist()
        series = list(zip(self.buckets, counts.tolist(), shares, strict=True))
        slope = fitted(times_of(self.field, self.buckets), counts, self.totals)
        return Trend(topic, slope, series)


def documents_by_time(index: Index, field: str | None = None, where: str | None = None) -> Times:
    """Documents by a field that says when; the only date if none is given."""
    name = time_field(index, field).asked
    found = cells(index, [name], where)
    buckets = [value for value in found.values[0] if value is not None]  # None comes last
    if len(buckets) < 2:
        few = len(buckets)
        raise UsageError(f"{name}: a trend takes documents of two times or more, not {few}")
    spread = Spread(index, found.documents)

    def counted(codes: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(codes, minlength=len(buckets))[: len(buckets)]

    totals = counted(found.codes)
    return Times(name, buckets, totals, lambda topic: counted(found.codes[spread.of(topic)]))


def time_field(index: Index, asked: str | None) -> Field:
    """The field that says when: a date, or a number such as a year."""
    kinds = index.metadata.kinds
    dates = sorted(name for name, kind in kinds.items() if kind == "date")
    if asked is None and len(dates) != 1 and kinds.get("year") == "number":
        asked = "year"
    if asked is None:
        if len(dates) != 1:
            there = f"dates: {', '.join(dates)}" if dates else "no date was kept; build with `meta`"
            raise UsageError(f"`field`: which one says when? {there}")
        asked = dates[0]
    field = index.metadata.field(asked)
    if field.kind not in ("date", "number"):
        raise UsageError(f"{asked}: is a {field.kind}; trends go by a date or a number")
    if field.kind == "date" and not field.part:
        return Field(field.name, field.kind, part=_grain(index, field))
    return field


def _grain(index: Index, field: Field) -> str:
    """The coarsest part of a date that has enough buckets."""
    column = index.metadata.column(field.name)
    if not pc.count(column).as_py():
        raise UsageError(f"{field.name}: no document has a date there")
    return next(
        (
            part
            for part in PARTS
            if len(index.metadata.coded(Field(field.name, field.kind, part=part)).values) >= ENOUGH
        ),
        PARTS[-1],
    )


def trends(
    index: Index,
    field: str | None = None,
    *,
    topic: str | None = None,
    level: int | None = None,
    where: str | None = None,
) -> Trends:
    """How the topics below the root, or those asked for, change over time.

    Parameters
    ----------
    index : Index
        The revision.
    field : str, optional
        ``date``, ``date:month``, ``year``; the only date if not given.
    topic, level, where
        As for `strod.query.slices.sliced`.
    """
    times = documents_by_time(index, field, where)
    rows = [times.trend(one) for one in index.topics(topic, level) if one.parent is not None]
    if not rows:
        raise UsageError("no topic below the root is meant, so there is nothing to compare")
    rows.sort(key=lambda one: -one.slope.slope)
    return Trends(times.field, rows)


def times_of(field: str, values: Sequence[Any]) -> Array:
    """Buckets of a field on a line on which one step is one bucket."""
    part = field.rpartition(":")[2]
    part = part if part in PARTS and isinstance(values[0], str) else ""
    if not part:
        times = np.array(values, dtype=np.float64)
        years = field.rpartition(":")[2] == "year"
        return times if years else times / np.diff(times).min()  # of bins one a step
    if part == "day":
        return np.array([date.fromisoformat(one).toordinal() for one in values], dtype=np.float64)
    steps = {"quarter": 4, "month": 12}[part]
    return np.array([steps * int(one[:4]) + int(one[5:].lstrip("Q")) for one in values], float)


def fitted(times: Array, counts: NDArray[np.int64], totals: NDArray[np.int64]) -> Slope:
    """Slope of the log-odds of `counts` among `totals`, by penalised maximum likelihood.

    The slope has a wide normal prior, so that it is finite where all documents of a topic are in
    the last bucket.
    """
    scale = float(times.std()) or 1.0
    x = (times - times.mean()) / scale
    design = np.stack([np.ones_like(x), x])
    prior = np.array([1e-6, SPREAD**-2])
    rate = (counts.sum() + 0.5) / (totals.sum() + 1)
    beta = np.array([np.log(rate / (1 - rate)), 0.0])
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(beta @ design, -40, 40)))
        gradient = design @ (counts - totals * p) - prior * beta
        curvature = (design * (totals * p * (1 - p))) @ design.T + np.diag(prior)
        step = np.linalg.solve(curvature, gradient)
        beta += np.clip(step, -2, 2)
        if np.abs(step).max() < CLOSE:
            break
    variance = np.linalg.inv(curvature)[1, 1]
    freedom = times.size - 2
    if freedom > 0:
        noise = np.maximum(totals * p * (1 - p), 1e-12)
        variance *= max(1.0, float(((counts - totals * p) ** 2 / noise).sum()) / freedom)
    half = student(freedom) * float(np.sqrt(variance))
    slope = float(beta[1])
    return Slope(slope / scale, (slope - half) / scale, (slope + half) / scale)


def student(freedom: int) -> float:
    """Quantile of Student's t for an interval of 95 % (Cornish-Fisher; exact for one and two)."""
    exact = {0: 12.706204736, 1: 12.706204736, 2: 4.302652730}
    if freedom in exact:
        return exact[freedom]
    first = (Z**3 + Z) / 4
    second = (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    third = (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384
    fourth = (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160
    n = float(freedom)
    return Z + first / n + second / n**2 + third / n**3 + fourth / n**4
