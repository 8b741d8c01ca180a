"""Recovery of planted trees: what the sizes of a corpus and each part of the method do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.datasets.planted import plant, recovery_error
from strod.experiments.cells import Cell
from strod.experiments.memory import grow_tree
from strod.experiments.methods import all_but
from strod.experiments.table import Column, Panel, Result
from strod.experiments.timing import seconds, whole
from strod.model.options import TreeOptions

if TYPE_CHECKING:
    from strod.experiments.cells import Context
    from strod.tree.grown import Grown

__all__ = ["recovery"]

OFF = {"lookahead": False, "polish": 0, "topical": "word"}
VARIANTS: dict[str, dict[str, Any]] = {
    "strod": {},
    "polish off": {"polish": 0},
    "look-ahead off": {"lookahead": False},
    "look-ahead, polish off": {"lookahead": False, "polish": 0},
    "topical word": {"topical": "word"},
    "all off": OFF,
    "strod-paper": {"method": "strod-paper"},
}
LENGTH, DOCUMENTS, SHARED = 50, 10_000, 0.3  # where another one is varied

ERROR = (
    "error: mean L1 distance of planted and found topics, matched one to one; 2 for a topic that "
    "was not found, which is the most there can be"
)
COLUMNS = [
    Column("variant", "variant"),
    Column("documents", "documents", whole),
    Column("length", "length"),
    Column("shared", "shared", "{:.0%}".format),
    Column("error_1", "error, level 1", lambda value: f"{value:.3f}"),
    Column("error_2", "error, level 2", lambda value: f"{value:.3f}"),
    Column("spread_2", "±", lambda value: f"{value:.3f}"),
    Column("tree_seconds", "tree, s", seconds),
]


class Size(NamedTuple):
    """Of a planted corpus: documents, words of each, mass that siblings share."""

    documents: int
    length: int
    shared: float


def recovery(context: Context) -> tuple[list[Cell], Any]:
    """Error of φ against the number of documents, their length, and what siblings share."""
    plan = context.settings.plan
    asked = _variants(context)
    documents, length = min(DOCUMENTS, plan.planted[-1]), min(LENGTH, plan.lengths[-1])
    sizes = [Size(number, length, SHARED) for number in plan.planted]
    sizes += [Size(documents, words, SHARED) for words in plan.lengths]
    sizes += [Size(documents, length, share) for share in plan.shared]
    cells = [_cell(context, variant, size) for size in dict.fromkeys(sizes) for variant in asked]
    return cells, lambda rows: _result(context, rows, Size(documents, length, SHARED))


def _variants(context: Context) -> list[str]:
    """With --methods: ours with all its switches, the paper's, or both."""
    ours = ("strod", "strod-paper")
    asked = context.methods(ours, all_but(ours, "recovery compares strod and strod-paper"))
    return [name for name, given in VARIANTS.items() if given.get("method", "strod") in asked]


def _cell(context: Context, variant: str, size: Size) -> Cell:
    plan, children = context.settings.plan, 3 if context.settings.quick else 5
    fixed = {
        "planted": plan.seeds,
        "words": plan.words,
        "children": children,
        "options": VARIANTS[variant],
    }

    def work() -> dict[str, Any]:
        started = time.perf_counter()
        errors = [
            _errors(seed, size, children, plan.words, VARIANTS[variant])
            for seed in range(plan.seeds)
        ]
        spent = (time.perf_counter() - started) / plan.seeds
        first, second = np.mean(errors, axis=0).tolist()
        spread = float(np.std([error for _, error in errors])) if len(errors) > 1 else None
        return {
            "error_1": first,
            "error_2": second,
            "spread_2": spread,
            "tree_seconds": spent,
        }

    row = {"variant": variant, **size._asdict()}
    return Cell(row, fixed, work)


def _errors(
    seed: int, size: Size, children: int, words: int, options: dict[str, Any]
) -> tuple[float, float]:
    """Mean L1 distances on both levels."""
    truth = plant(seed, **size._asdict(), children=children, words=words)
    shape = TreeOptions(children=children, height=2, seed=seed, **options)
    tree = grow_tree(truth.counts, shape)
    return (
        recovery_error(_level(tree, 1, words), truth.parents),
        recovery_error(_level(tree, 2, words), truth.leaves),
    )


def _level(tree: Grown, level: int, words: int) -> Any:
    found = [node.words for node in tree.nodes.values() if node.level == level]
    return np.array(found).reshape(len(found), words)


def _result(context: Context, rows: list[dict[str, Any]], middle: Size) -> Result:
    plan = context.settings.plan
    panels = [_panel(rows, middle, x, level) for x in Size._fields for level in (1, 2)]
    notes = [
        *context.notes,
        ERROR,
        f"± is the standard deviation on level 2; planted trees a row: {plan.seeds}",
        "shared: mass that the children of one topic share; seconds include drawing documents",
    ]
    return Result("recovery", "Recovery of planted trees", COLUMNS, rows, panels, notes)


def _panel(rows: list[dict[str, Any]], middle: Size, x: str, level: int) -> Panel:
    """Error against one size, the others as in the middle."""
    fixed = {name: value for name, value in middle._asdict().items() if name != x}
    lines: dict[str, list[tuple[Any, float]]] = {}
    for row in rows:
        if all(row[name] == value for name, value in fixed.items()) and "error_1" in row:
            lines.setdefault(row["variant"], []).append((row[x], row[f"error_{level}"]))
    title = f"level {level}; " + ", ".join(f"{name} {value:,}" for name, value in fixed.items())
    return Panel(title, x, "mean L1 error of φ", lines, "" if x == "shared" else "x")
