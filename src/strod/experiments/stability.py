"""Robustness: how much runs with different seeds differ (section 6.2)."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array, vstack

from strod.errors import UsageError
from strod.experiments.cells import NOT_TRIED, Cell
from strod.experiments.machine import fingerprint
from strod.experiments.measure import Build, built
from strod.experiments.memory import MemoryTree, grow_tree
from strod.experiments.methods import all_but, variance
from strod.experiments.methods import iterations as usual_iterations
from strod.experiments.table import Column, Panel, Result
from strod.experiments.timing import seconds, whole
from strod.pipeline import build
from strod.tensor.power import Power
from strod.tree.options import TreeOptions
from strod.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from strod.experiments.cells import Context
    from strod.experiments.corpora import Texts

__all__ = ["iterations", "robustness"]

METHODS = ("strod", "strod-paper", "splitlda", "cathy", "hpam")
PAIR = 2
FIXED = 30  # N when n is varied, n when N is; the largest of a shorter sweep

Row = dict[str, Any]


def small(value: float) -> str:
    """As the paper prints variances."""
    return f"{value:.4g}"


def _check_runs(context: Context) -> None:
    if context.settings.plan.runs < PAIR:
        raise UsageError("`runs` must be at least 2: a single run has no variance")


def _documents(texts: Texts, context: Context) -> int:
    return min(context.settings.plan.sample, texts.documents)


def robustness(context: Context) -> tuple[list[Cell], Any]:
    """Variance of runs with different seeds."""
    _check_runs(context)
    methods = context.methods(
        METHODS, {"ncrp": "its number of topics differs from run to run (as in the paper)"}
    )
    cells = []
    for texts in context.corpora:
        for method in methods:
            runs = [
                _run(context, texts, method, seed) for seed in range(context.settings.plan.runs)
            ]
            cells += [*runs, _variance(context, runs)]
    return cells, lambda rows: _robustness(context, rows)


def _run(context: Context, texts: Texts, method: str, seed: int) -> Cell:
    """One build; its workspace is kept until the variance is known."""
    settings, documents = context.settings, _documents(texts, context)
    key = context.key(texts, method, timed=False)
    row = {
        "corpus": texts.name,
        "method": method,
        "documents": documents,
        "children": settings.children,
        "seed": seed,
    }

    def work() -> Row:
        if (texts.name, method) in context.stopped:
            return {"status": "stopped", "note": NOT_TRIED}
        steps = usual_iterations(method, settings.plan.iterations)
        source, out = texts.part(documents), _place(context, row | key)
        one = Build(source, out, method, settings.children, seed=seed, iterations=steps)
        found = built(one, settings)
        if found["status"] == "stopped":
            context.stopped.add((texts.name, method))
        return found

    return Cell(row, key, work)


def _place(context: Context, key: Row) -> Path:
    """Where a run is kept; those of other code, which a stopped run may have left, are others."""
    key = key | {"code": fingerprint()}
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    return context.work / f"run-{digest}.strod"


def _variance(context: Context, runs: list[Cell]) -> Cell:
    """Variance of the runs; those whose workspaces are gone are made again."""
    row = {name: value for name, value in runs[0].row.items() if name != "seed"}

    def work() -> Row:
        places = [_place(context, run.row | run.key) for run in runs]
        for run, place in zip(runs, places, strict=True):
            if not place.exists() and (outcome := run.work())["status"] != "ok":
                return outcome
        found = {"status": "ok"} | _compared([Workspace(place).tree for place in places])
        for place in places:
            shutil.rmtree(place)
        return found

    return Cell(row | {"runs": len(runs)}, runs[0].key, work)


def _compared(trees: Sequence[Any]) -> Row:
    topics = [len(tree) - 1 for tree in trees]
    return {
        "variance": variance(trees),
        "topics_least": min(topics),
        "topics_most": max(topics),
    }


def _robustness(context: Context, rows: list[Row]) -> Result:
    shown = [row for row in rows if "seed" not in row]
    for row in shown:
        same = [
            one["tree_seconds"]
            for one in rows
            if "seed" in one
            and one["status"] == "ok"
            and (one["corpus"], one["method"]) == (row["corpus"], row["method"])
        ]
        if same:
            row["tree_seconds"] = float(np.mean(same))
    lines: dict[str, list[tuple[Any, float]]] = {}
    for row in shown:
        if row.get("variance") is not None:
            lines.setdefault(row["method"], []).append((row["corpus"], row["variance"]))
    columns = [
        Column("corpus", "corpus"),
        Column("method", "method"),
        Column("documents", "documents", whole),
        Column("runs", "runs"),
        Column("variance", "variance", small),
        Column("topics_least", "fewest topics"),
        Column("topics_most", "most topics"),
        Column("tree_seconds", "tree, s (mean)", seconds),
        Column("note", "note"),
    ]
    panels = [Panel("variance of runs", "", "mean KL divergence", lines, "y", bars=True)]
    title = "Robustness: variance of runs with different seeds"
    notes = [*context.notes, VARIANCE, *_iterated(context, shown)]
    return Result("robustness", title, columns, shown, panels if lines else [], notes)


VARIANCE = (
    "variance: KL divergence of matched topics (matched from the top by the Hungarian method), "
    "mean over topics and over all ordered pairs of runs; topics are smoothed, see "
    "strod.evaluate; topics without a partner are left out"
)


def _iterated(context: Context, rows: list[Row]) -> list[str]:
    """How long the baselines ran: quality cannot be scaled, so it is not."""
    most = context.settings.plan.iterations
    steps = {row["method"]: usual_iterations(row["method"], most) for row in rows}
    said = [f"{method} {number:,}" for method, number in steps.items() if number]
    return [f"iterations, at most: {', '.join(said)}"] if said else []


# The power method: ours, ours with the paper's random starts, and the paper's own algorithm.
POWER = (
    "strod starts from the directions of frequent words and refines all vectors together; random "
    "starts: without both, as in the paper; strod-paper: the paper's Algorithm 3"
)
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "strod": ("strod", {}),
    "strod, random starts": ("strod", {"refine": False, "pointers": 0}),
    "strod-paper": ("strod-paper", {"refine": False, "pointers": 0}),
}


def iterations(context: Context) -> tuple[list[Cell], Any]:
    """Variance and runtime against outer and inner iterations of the power method."""
    _check_runs(context)
    plan = context.settings.plan
    ours = ("strod", "strod-paper")
    asked = context.methods(ours, all_but(ours, "the sweep is over the tensor power method"))
    fixed = min(FIXED, plan.sweep[-1])
    sweep = [(value, fixed) for value in plan.sweep] + [(fixed, value) for value in plan.sweep]
    cells = [
        _swept(context, texts, variant, *numbers)
        for texts in context.corpora
        for variant, (method, _) in VARIANTS.items()
        if method in asked
        for numbers in dict.fromkeys(sweep)
    ]
    return cells, lambda rows: _iterations(context, rows, fixed)


def _swept(context: Context, texts: Texts, variant: str, outer: int, inner: int) -> Cell:
    settings, documents = context.settings, _documents(texts, context)
    method, how = VARIANTS[variant]
    shape: Row = {"children": settings.children, "height": 2, "method": method}

    def work() -> Row:
        counts = _counts(context, texts, documents)
        started = time.perf_counter()
        trees = [
            MemoryTree(
                grow_tree(counts, TreeOptions(**shape, seed=seed), Power(outer, inner, **how))
            )
            for seed in range(settings.plan.runs)
        ]
        spent = (time.perf_counter() - started) / len(trees)
        return {"tree_seconds": spent} | _compared(trees)

    row = {"corpus": texts.name, "variant": variant, "outer": outer, "inner": inner}
    key = {"sha256": texts.sha256, "documents": documents, "runs": settings.plan.runs, **shape}
    return Cell(row, key, work)


def _counts(context: Context, texts: Texts, documents: int) -> csr_array:
    """Word counts of the documents, from a workspace without a tree."""
    out = context.work / f"counts-{texts.sha256[:16]}-{documents}-{fingerprint()}.strod"
    if not out.exists():
        build(texts.part(documents), out=out, height=0, phrases=False)
    return csr_array(vstack([shard.counts for shard in Workspace(out).corpus.shards()]))


def _iterations(context: Context, rows: list[Row], fixed: int) -> Result:
    panels, plan = [], context.settings.plan
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        mine = [row for row in rows if row["corpus"] == corpus]
        for value, name in (("variance", "variance"), ("tree_seconds", "seconds")):
            for x, other, what in (("outer", "inner", "N"), ("inner", "outer", "n")):
                lines: dict[str, list[tuple[Any, float]]] = {}
                for row in mine:
                    if row[other] == fixed and row.get(value) is not None:
                        lines.setdefault(row["variant"], []).append((row[x], row[value]))
                scale = "y" if value == "variance" else ""
                title = f"{corpus}, {other} iterations {fixed}"
                panels.append(Panel(title, f"{x} iterations {what}", name, lines, scale))
    columns = [
        Column("corpus", "corpus"),
        Column("variant", "variant"),
        Column("outer", "N, outer"),
        Column("inner", "n, inner"),
        Column("variance", "variance", small),
        Column("topics_least", "fewest topics"),
        Column("topics_most", "most topics"),
        Column("tree_seconds", "tree, s", seconds),
    ]
    notes = [
        *context.notes,
        VARIANCE,
        (
            f"{plan.runs} runs each, at most {plan.sample:,} documents; trees are grown in "
            "memory, in one process, on one thread"
        ),
        POWER,
    ]
    title = "Variance and runtime against iterations of the power method"
    return Result("iterations", title, columns, rows, panels, notes)
