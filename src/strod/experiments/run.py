"""Running an experiment from settings to files."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from strod.errors import InputError, StrodError, UsageError
from strod.experiments import planted, reading, stability, timing
from strod.experiments.cells import Context, measure_all
from strod.experiments.corpora import read_corpora
from strod.experiments.journal import Journal
from strod.experiments.machine import fingerprint, machine
from strod.experiments.methods import available
from strod.experiments.plot import draw
from strod.experiments.table import csv_text, markdown
from strod.plots.figure import need_matplotlib
from strod.progress import Progress, Silent
from strod.store.publish import locked
from strod.workspace.warmup import compile_kernels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strod.experiments.cells import Cell
    from strod.experiments.settings import Settings
    from strod.experiments.table import Result

__all__ = ["NAMES", "run_experiment"]

EXPERIMENTS: dict[str, Callable[[Context], tuple[list[Cell], Any]]] = {
    "scalability": timing.scalability,
    "height": timing.height,
    "width": timing.width,
    "variants": timing.variants,
    "robustness": stability.robustness,
    "iterations": stability.iterations,
    "recovery": planted.recovery,
    "interpretability": reading.interpretability,
}
NAMES = tuple(EXPERIMENTS)


def run_experiment(name: str, settings: Settings, progress: Progress | None = None) -> Result:
    """Run an experiment and write ``NAME.csv``, ``NAME.md``, ``NAME.png`` and ``NAME.svg``.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    settings : Settings
        On what, how much, and where to.
    progress : Progress, optional
        Told of every cell.

    Returns
    -------
    Result
        The rows that were written, and notes on them.
    """
    if name not in EXPERIMENTS:
        raise UsageError(f"no experiment {name}; there are {', '.join(NAMES)}")
    need_matplotlib()  # before hours of measuring
    if name == "recovery" and settings.corpora:
        raise UsageError("recovery draws its own documents; leave out `corpus`")
    available(settings.methods)  # refuses unknown names before anything is read
    progress = progress or Silent()
    folder = settings.out
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made: {error.strerror}") from error
    with locked(folder / f".{name}.lock"):
        return _run(name, settings, progress)


def _run(name: str, settings: Settings, progress: Progress) -> Result:
    work = settings.out / f".{name}.work"
    journal = Journal(settings.out / f"{name}.sqlite", fingerprint(), fresh=settings.fresh)
    begun = work.exists()
    work.mkdir(exist_ok=True)
    try:
        context, cells, finish = _planned(name, settings, work, progress)
    except (UsageError, InputError):
        if not begun:  # what an earlier run has left may still be of use
            shutil.rmtree(work, ignore_errors=True)
        raise
    for old in work.glob("*.strod") if settings.fresh else ():
        shutil.rmtree(old, ignore_errors=True)
    result: Result = finish(measure_all(name, cells, context, journal, progress))
    if journal.older:
        result.notes.append(
            f"{journal.older} cells were measured with another version of the code; --fresh "
            "measures them again"
        )
    if settings.quick:
        result.notes.append("quick: tiny, in one process; its times and scores say nothing")
        result.panels[:] = [replace(one, title=f"{one.title} (quick)") for one in result.panels]
    progress.stage("writing", 0, "")
    _write(result, settings.out)
    shutil.rmtree(work, ignore_errors=True)
    if failed := [row["note"] for row in result.rows if row.get("status") == "failed"]:
        raise StrodError(
            f"{len(failed)} of {len(cells)} cells failed, the same command tries them again; the "
            f"others are in {settings.out / name}.md. The first {failed[0]}"
        )
    return result


def _planned(
    name: str, settings: Settings, work: Path, progress: Progress
) -> tuple[Context, list[Cell], Any]:
    """What is to be measured."""
    if name != "recovery":
        progress.stage("reading documents", 0, "")
    corpora = [] if name == "recovery" else read_corpora(settings, work)
    compile_kernels(progress)  # kept on disk: no cell has to wait for the compiler
    context = Context(settings, corpora, work)
    cells, finish = EXPERIMENTS[name](context)
    if not cells:
        raise UsageError(f"nothing to measure: {'; '.join(context.notes)}")
    return context, cells, finish


def _write(result: Result, folder: Path) -> None:
    """Each file is written aside and renamed, so that none is ever half there."""
    about = machine()
    for suffix, text in ((".csv", csv_text(result, about)), (".md", markdown(result, about))):
        target = folder / f"{result.name}{suffix}"
        aside = folder / f".{target.name}"
        aside.write_text(text, encoding="utf-8")
        aside.replace(target)
    if result.panels:
        stem = folder / f".{result.name}"
        draw(result.panels, stem.with_name(f"{stem.name}.aside"))
        for kind in ("png", "svg"):
            (folder / f"{stem.name}.{kind}").replace(folder / f"{result.name}.{kind}")
