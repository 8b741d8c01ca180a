"""Cells: what is measured, one by one, and what is known already."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from strod.errors import InputError, StrodError, UsageError
from strod.experiments.machine import machine_name
from strod.experiments.methods import available, iterations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from strod.experiments.corpora import Texts
    from strod.experiments.journal import Journal
    from strod.experiments.settings import Settings
    from strod.progress import Progress

__all__ = ["NOT_TRIED", "Cell", "Context", "measure_all"]

MINUTE = 60
NOT_TRIED = "not tried: stopped before, on no more than this"


class Cell(NamedTuple):
    """One measurement.

    Attributes
    ----------
    row : dict
        What it is called in tables: corpus, method, sizes.
    key : dict
        What else it depends on.
    work : callable
        Measures.
    """

    row: dict[str, Any]
    key: dict[str, Any]
    work: Callable[[], dict[str, Any]]

    @property
    def label(self) -> str:
        """For progress."""
        return ", ".join(
            str(value) if isinstance(value, str) else f"{name} {value}"
            for name, value in self.row.items()
            if value not in (None, "")
        )


@dataclass
class Context:
    """What all experiments are given.

    Attributes
    ----------
    settings : Settings
        What the user chose.
    corpora : list of Texts
        The documents.
    work : Path
        Folder for what is not kept.
    notes : list of str
        What readers of the result have to know.
    stopped : set of (str, str)
        Corpora and methods that took too long: what takes longer is not tried.
    warmed : set of str
        Methods that have run once, so that no compiler is timed.
    """

    settings: Settings
    corpora: list[Texts]
    work: Path
    notes: list[str] = field(default_factory=list)
    stopped: set[tuple[str, str]] = field(default_factory=set)
    warmed: set[str] = field(default_factory=set)

    def methods(self, usual: Sequence[str], excluded: dict[str, str]) -> list[str]:
        """Methods to compare: those asked for or the usual ones, if they can be run here."""
        asked = list(dict.fromkeys(self.settings.methods or usual))
        found, reasons = available(asked)
        reasons |= {method: excluded[method] for method in found if method in excluded}
        self.notes += [f"{method} is left out: {reason}" for method, reason in reasons.items()]
        return [method for method in found if method not in excluded]

    def key(self, texts: Texts, method: str, *, timed: bool) -> dict[str, Any]:
        """What a build depends on, apart from what its row says."""
        settings, plan = self.settings, self.settings.plan
        key: dict[str, Any] = {
            "sha256": texts.sha256,
            "workers": settings.workers,
            "memory": settings.memory,
            "limit": settings.limit,
        }
        if (steps := iterations(method, plan.iterations)) is not None:
            key |= {"iterations": steps} | ({"measured": plan.measured} if timed else {})
        return key


def measure_all(
    name: str, cells: Sequence[Cell], context: Context, journal: Journal, progress: Progress
) -> list[dict[str, Any]]:
    """Measure what is not in the journal; return the rows of all cells in their order."""
    common = {"experiment": name, "machine": machine_name(), "quick": context.settings.quick}
    keys = [common | {"row": _named(cell.row)} | cell.key for cell in cells]
    known = [journal.find(key) for key in keys]
    left, done, started = sum(one is None for one in known), 0, time.monotonic()
    rows = []
    for number, (cell, key, before) in enumerate(zip(cells, keys, known, strict=True), start=1):
        values = before
        if values is None:
            spent = time.monotonic() - started
            about = _about(spent / done * (left - done)) if done else ""
            progress.stage(f"[{number}/{len(cells)}] {cell.label}{about}", 0, "")
            values = _measured(cell, key, journal)
            done += 1
        elif values.get("status") == "stopped":  # what comes after it and is larger would be, too
            context.stopped.add((cell.row["corpus"], cell.row["method"]))
        rows.append(cell.row | values)
    if left < len(cells):
        there = f"{len(cells) - left} of {len(cells)} cells were measured before"
        progress.stage(f"{there} ({journal.path}); --fresh measures them again", 0, "")
    return rows


def _measured(cell: Cell, key: dict[str, Any], journal: Journal) -> dict[str, Any]:
    """Measure and remember; what failed or was not tried is not in the journal."""
    try:
        values = cell.work()
    except (UsageError, InputError):
        raise
    except StrodError as error:
        return {"status": "failed", "note": f"failed: {error}"}
    if values.get("note") != NOT_TRIED:
        journal.add(key, values)
    return values


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """A corpus is known by its checksum, whatever its file is called."""
    return {name: value for name, value in row.items() if name != "corpus"}


def _about(seconds: float) -> str:
    if seconds < MINUTE:
        return f" (about {seconds:.0f} s left)"
    return f" (about {seconds / MINUTE:.0f} min left)"
