"""What a person sees: lines that no terminal obeys, progress on a terminal, quiet in a pipe."""

from __future__ import annotations

import errno
import io
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Self, TextIO, cast

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
from rich.segment import Segment
from rich.text import Text

from strod.wording import harmless, line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType

__all__ = ["TerminalProgress", "guard_streams", "number", "one_line", "output", "say", "size"]

NARROWEST = 20  # letters of a terminal


class _Guarded(io.TextIOBase):
    """A stream that lets text through, and nothing that a terminal obeys."""

    def __init__(self, stream: TextIO) -> None:
        self.behind = stream

    def write(self, text: str) -> int:
        self.behind.write(harmless(text))
        return len(text)

    def flush(self) -> None:
        self.behind.flush()

    def isatty(self) -> bool:
        return self.behind.isatty()

    def fileno(self) -> int:
        return self.behind.fileno()

    def __getattr__(self, name: str) -> Any:  # buffer, encoding, …
        return getattr(self.behind, name)


class _Closed(io.RawIOBase):
    """Standard output that was closed before the command began."""

    def writable(self) -> bool:
        return True

    def write(self, _: object) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


def guard_streams() -> None:
    """Let every line that leaves pass one door, on both streams; do without closed ones."""
    for number_ in range(3):  # or the next file that is opened would be taken for a stream
        try:
            os.fstat(number_)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), "utf-8", write_through=True)
    sys.stdout, sys.stderr = _guarded(sys.stdout), _guarded(sys.stderr)


def _guarded(stream: TextIO) -> TextIO:
    if isinstance(stream, io.TextIOWrapper):  # a letter that cannot be shown has its number
        stream.reconfigure(errors="backslashreplace")
    return cast("TextIO", _Guarded(stream))


def _behind(stream: TextIO) -> TextIO:
    return stream.behind if isinstance(stream, _Guarded) else stream


class _Console(Console):
    """Writes one line at a time; colours are its own, whatever the text says."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        narrow = self.width < NARROWEST
        if narrow:  # COLUMNS=0 would show nothing at all
            self.width = NARROWEST

    def print(self, *objects: Any, **how: Any) -> None:
        super().print(*map(one_line, objects), **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for part in super().render(renderable, options):
            yield part if part.control else Segment(harmless(part.text), part.style)

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def one_line(content: Any) -> Any:
    """A text, styled or not, as one line; anything else as it is."""
    if isinstance(content, str):
        return line(content)
    if isinstance(content, Text):
        content = content.copy()
        content.plain = line(content.plain)
    return content


def output() -> Console:
    """Where results go; as wide as the terminal, without markup in the text."""
    return _Console(
        file=_behind(sys.stdout),
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not sys.stdout.isatty(),
    )


def say(text: str, *, error: bool = False) -> None:
    """Print one line, whatever is in it."""
    print(line(text), file=sys.stderr if error else sys.stdout)


def number(value: int) -> str:
    """12,345."""
    return f"{value:,}"


def size(value: float) -> str:
    """412 MB."""
    for unit in ("bytes", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


class TerminalProgress:
    """Bars with rate and time left on a terminal; a line a stage elsewhere.

    Parameters
    ----------
    quiet : bool
        Whether to show nothing.
    patience : float
        Seconds that a stage takes at least if it has a line.
    """

    def __init__(self, *, quiet: bool = False, patience: float = 0.0) -> None:
        self._patience = patience
        self._console = _Console(file=_behind(sys.stderr), highlight=False, markup=False)
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
            seconds = time.monotonic() - self._started
            if seconds >= self._patience:
                say(f"{self._name}: {seconds:.1f} s", error=True)
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
