"""Answers recounted in plain Python, document by document, from what `assign` says."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.workspace.workspace import Workspace

Record = dict[str, Any]
META = {"when": "date", "price": "number", "year": "number", "venue": "category", "people": "list"}
NAMES = ["Ada", "Émile", "李", "O'Neil", "Ada L."]


def drawn_records(documents: int, seed: int) -> list[Record]:
    """Documents with metadata of every kind: missing, doubled, before 1970, numbers as text."""
    random = np.random.default_rng([seed, 99])

    def one_of(*values: Any) -> Any:
        return values[int(random.integers(len(values)))]

    records = []
    for number, text in enumerate(planted_texts(documents, seed)):
        people = [one_of(*NAMES) for _ in range(int(random.integers(4)))]
        day = dt.date(1962, 1, 1) + dt.timedelta(days=int(random.integers(0, 9000)))
        records.append(
            {
                "id": f"d{number}",
                "text": text,
                "when": one_of(day.isoformat(), day.isoformat()[:7], None, day.isoformat()),
                "price": one_of(float(random.normal(0, 40)), "12.5", "-3", None, 7, -50, "-20"),
                "year": int(random.integers(1995, 2001)),
                "venue": one_of("A", "B b", None, "", "ünï"),
                "people": one_of(people, people, None, people * 2, "Ada"),
            }
        )
    return records


def value(record: Record, name: str) -> Any:
    """A field as it is meant: a date, a number, a text, a list, or None."""
    raw = record[name]
    if raw is None or raw == "":
        return None
    if name == "when":
        return dt.date.fromisoformat(raw if len(raw) > 7 else f"{raw}-01")
    if name in ("price", "year"):
        return float(raw)
    if name == "people":
        return ([raw] if isinstance(raw, str) else list(dict.fromkeys(raw))) or None
    return raw


def buckets(record: Record, by: str) -> list[Any]:
    """The values of a field that a document counts for; None if it has none."""
    name, _, how = by.partition(":")
    found = value(record, name)
    if found is None:
        return [None]
    if name == "when":
        texts = {
            "": found.year,
            "year": found.year,
            "quarter": f"{found.year}-Q{(found.month + 2) // 3}",
            "month": f"{found.year}-{found.month:02d}",
            "day": found.isoformat(),
        }
        return [texts[how]]
    if name == "price":
        width = Decimal(how)
        return [float((Decimal(repr(found)) / width).to_integral_value(ROUND_FLOOR) * width)]
    return found if name == "people" else [found]


class Naive:
    """A workspace and the records that it was built from."""

    def __init__(self, workspace: Workspace, records: list[Record]) -> None:
        rows = list(workspace.assign())
        self.leaf = {row["id"]: row["leaf"] for row in rows}
        self.topics = {row["id"]: row["topics"] for row in rows}
        self.records = {record["id"]: record for record in records}
        self.ids = [row["id"] for row in rows]

    def above(self, name: str) -> list[str]:
        """The topics on the path of a document."""
        steps = self.leaf[name].split("/")
        return ["/".join(steps[: n + 1]) for n in range(len(steps))]

    def slice(
        self, by: list[str], test: Callable[[Record], bool] = lambda _: True
    ) -> dict[tuple[Any, ...], tuple[int, float, float]]:
        """Documents, share and lift by topic and values."""
        counts, totals, usual = Counter[Any](), Counter[Any](), Counter[str]()
        for name in self.ids:
            usual.update(self.above(name))
            if not test(self.records[name]):
                continue
            cells: list[tuple[Any, ...]] = [()]
            for field in by:
                values = buckets(self.records[name], field)
                cells = [(*cell, one) for cell in cells for one in values]
            totals.update(cells)
            counts.update((topic, *cell) for topic in self.above(name) for cell in cells)
        return {
            key: (
                count,
                count / totals[key[1:]],
                count / totals[key[1:]] / (usual[key[0]] / len(self.ids)),
            )
            for key, count in counts.items()
        }

    def entities(self, topic: str, parent: str | None, field: str) -> list[tuple[str, float, int]]:
        """Names, scores and documents, the best first."""
        here, above = Counter[str](), Counter[str]()
        for name in self.ids:
            for one in buckets(self.records[name], field):
                if one is not None and topic in self.above(name):
                    here[one] += 1
                if one is not None and parent in self.above(name):
                    above[one] += 1
        scores = []
        for one, count in here.items():
            p = count / here.total()
            score = p if parent is None else p * math.log(p / (above[one] / above.total()))
            scores.append((one, score, count))
        return sorted(scores, key=lambda row: (-row[1], row[0]))
