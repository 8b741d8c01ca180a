"""What a person sees: progress on a terminal, quiet lines in a pipe."""

from __future__ import annotations

import sys
import time
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

__all__ = ["TerminalProgress", "number", "output", "size"]


def output() -> Console:
    """Where results go; as wide as the terminal, without markup in the text."""
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def number(value: int) -> str:
    """12,345."""
    return f"{value:,}"


def size(value: float) -> str:
    """412 MB."""
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:  # noqa: PLR2004
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


class TerminalProgress:
    """Bars with rate and time left on a terminal; a line a stage elsewhere."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._name = ""
        self._started = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._finish(well=raised[0] is None)

    def _finish(self, *, well: bool) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        elif self._name and well and not self._quiet:
            print(f"{self._name}: {time.monotonic() - self._started:.1f} s", file=sys.stderr)
        self._name = ""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Finish the stage before and begin this one."""
        self._finish(well=True)
        self._name, self._started = name, time.monotonic()
        if self._quiet or not self._console.is_terminal:
            return
        self._bar = Progress(*_columns(total, unit), console=self._console, transient=True)
        self._task = self._bar.add_task(name, total=total or None)
        self._bar.start()

    def advance(self, amount: int) -> None:
        """`amount` more of the stage is done."""
        if self._bar is not None:
            self._bar.advance(self._task, amount)


class _RateColumn(ProgressColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "")


def _columns(total: int, unit: str) -> list[ProgressColumn]:
    name = TextColumn("{task.description}")
    if not total:
        return [SpinnerColumn(), name, TimeElapsedColumn()]
    if unit == "bytes":
        amount: list[ProgressColumn] = [DownloadColumn(), TransferSpeedColumn()]
    else:
        amount = [MofNCompleteColumn(), TextColumn(unit), _RateColumn()]
    return [name, BarColumn(), TaskProgressColumn(), *amount, TimeRemainingColumn()]
