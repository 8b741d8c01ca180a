"""Recovery of planted trees: what the sizes of a corpus and each part of the method do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.experiments.cells import Cell
from strod.experiments.memory import grow_tree
from strod.experiments.methods import all_but
from strod.experiments.table import Column, Panel, Result
from strod.experiments.timing import seconds, whole
from strod.tree.options import TreeOptions
from strod.tree.planted import plant, recovery_error

if TYPE_CHECKING:
    from strod.experiments.cells import Context
    from strod.tree.grow import Grown

__all__ = ["recovery"]

OFF = {"lookahead": False, "polish": 0, "topical": "word"}
VARIANTS: dict[str, dict[str, Any]] = {
    "strod": {},
    "polish off": {"polish": 0},
    "look-ahead off": {"lookahead": False},
    "look-ahead, polish off": {"lookahead": False, "polish": 0},
    "look-ahead off, topical word": {"lookahead": False, "topical": "word"},
    "all off": OFF,
    "strod-paper": {"method": "strod-paper"},
}
LENGTH, DOCUMENTS = 50, 10_000  # where the other is varied
SHARED = 0.3

ERROR = (
    "error: mean L1 distance of planted and found topics, matched one to one; 2 for a topic that "
    "was not found, which is the most there can be"
)
COLUMNS = [
    Column("variant", "variant"),
    Column("documents", "documents", whole),
    Column("length", "length"),
    Column("error_1", "error, level 1", lambda value: f"{value:.3f}"),
    Column("error_2", "error, level 2", lambda value: f"{value:.3f}"),
    Column("spread_2", "±", lambda value: f"{value:.3f}"),
    Column("tree_seconds", "tree, s", seconds),
]


def recovery(context: Context) -> tuple[list[Cell], Any]:
    """Error of φ against the number of documents and their length."""
    plan = context.settings.plan
    asked = _variants(context)
    middle = min(DOCUMENTS, plan.planted[-1]), min(LENGTH, plan.lengths[-1])
    sizes = [(documents, middle[1]) for documents in plan.planted]
    sizes += [(middle[0], length) for length in plan.lengths]
    cells = [
        _cell(context, variant, documents, length)
        for documents, length in dict.fromkeys(sizes)
        for variant in asked
    ]
    return cells, lambda rows: _result(context, rows, *middle)


def _variants(context: Context) -> list[str]:
    """With --methods: ours with all its switches, the paper's, or both."""
    ours = ("strod", "strod-paper")
    asked = context.methods(ours, all_but(ours, "recovery compares strod and strod-paper"))
    return [name for name, given in VARIANTS.items() if given.get("method", "strod") in asked]


def _cell(context: Context, variant: str, documents: int, length: int) -> Cell:
    plan, children = context.settings.plan, 3 if context.settings.quick else 5
    fixed = {
        "planted": plan.seeds, "words": plan.words, "children": children, "shared": SHARED,
        "options": VARIANTS[variant],
    }  # fmt: skip

    def work() -> dict[str, Any]:
        started = time.perf_counter()
        errors = [
            _errors(seed, documents, length, children, plan.words, VARIANTS[variant])
            for seed in range(plan.seeds)
        ]
        spent = (time.perf_counter() - started) / plan.seeds
        first, second = np.mean(errors, axis=0).tolist()
        spread = float(np.std([error for _, error in errors]))
        return {
            "error_1": first, "error_2": second, "spread_2": spread, "tree_seconds": spent,
        }  # fmt: skip

    row = {"variant": variant, "documents": documents, "length": length}
    return Cell(row, fixed, work)


def _errors(  # noqa: PLR0913, PLR0917 - of a corpus and of a method
    seed: int, documents: int, length: int, children: int, words: int, options: dict[str, Any]
) -> tuple[float, float]:
    """Mean L1 distances on both levels."""
    truth = plant(
        seed, documents=documents, length=length, children=children, shared=SHARED, words=words
    )
    shape = TreeOptions(children=children, height=2, seed=seed, **options)
    tree = grow_tree(truth.counts, shape)
    return (
        recovery_error(_level(tree, 1, words), truth.parents),
        recovery_error(_level(tree, 2, words), truth.leaves),
    )


def _level(tree: Grown, level: int, words: int) -> Any:
    found = [node.words for node in tree.nodes.values() if node.level == level]
    return np.array(found).reshape(len(found), words)


def _result(context: Context, rows: list[dict[str, Any]], documents: int, length: int) -> Result:
    panels = []
    for level in (1, 2):
        for x, fixed, at in (("documents", "length", length), ("length", "documents", documents)):
            lines: dict[str, list[tuple[Any, float]]] = {}
            for row in rows:
                if row[fixed] == at and "error_1" in row:
                    point = (row[x], row[f"error_{level}"])
                    lines.setdefault(row["variant"], []).append(point)
            title = f"level {level}, {fixed} {at:,}"
            panels.append(Panel(title, x, "mean L1 error of φ", lines, "x"))
    notes = [
        *context.notes,
        ERROR,
        f"± is the standard deviation on level 2 over {context.settings.plan.seeds} planted trees",
        f"siblings share {SHARED:.0%} of their words; seconds include drawing the documents",
        "topical word has a say only where children are decomposed afresh: without look-ahead",
    ]
    return Result("recovery", "Recovery of planted trees", COLUMNS, rows, panels, notes)
