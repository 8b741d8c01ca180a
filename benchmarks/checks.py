"""What looking at every file costs: checksums and checks beside the work that they guard.

Run it on JSON lines with a ``text`` field, gzip too::

    python benchmarks/checks.py 20newsgroups.jsonl.gz

Builds a 5x5 tree, revises it and asks it. Each command is measured twice, in CPU time: as a person
runs it, a process of its own from its first import to its end, and as the work alone, in a process
that has all imports and compiled code but has opened no file of the workspace yet. *Checks* are all
that is done only because a file may not be what it should be: SHA-256 and CRC-32 of what is read
and written, ranges, offsets, orders, Arrow's own validation, headers of pages.
"""

from __future__ import annotations

import argparse
import io
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import redirect_stdout, suppress
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strod.cli.main import main
from strod.query import pieces
from strod.store import blocks, files, manifest, splits, tables, topics, validate

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKS: dict[Any, tuple[str, ...]] = {
    files: ("digest_of",),
    pieces: ("checksum",),
    manifest: ("file_digests", "is_sealed", "seal"),
    blocks: ("unpacked",),
    tables: ("_unpacked", "_decoded_bytes", "_validate"),
    topics: ("_check_tree",),
    splits: ("_check_references",),
    validate: tuple(name for name in validate.__all__ if name != "naming"),
}
ROUNDS = 3
BUILD = ("--children", "5", "--height", "2", "--workers", "2", "--quiet")
COMMANDS: dict[str, tuple[str, ...]] = {
    "rename": ("rename", "W", "o/1", "a name", "--quiet"),
    "merge": ("merge", "W", "o/1", "o/2", "--quiet"),
    "remove": ("remove", "W", "o/3", "--quiet"),
    "expand, into fewer": ("expand", "W", "o/1", "--children", "3", "--quiet"),
    "expand, learnt anew": ("expand", "W", "o/2", "--children", "3", "--fresh", "--quiet"),
    "show": ("show", "W"),
    "show, documents": ("show", "W", "o/1", "--documents", "3", "--quiet"),
    "search": ("search", "W", "system", "--quiet"),
    "check": ("check", "W"),
}


class Meter:
    """CPU seconds of all threads inside functions that were named."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), threading.local()
        self.spent = 0.0

    def watch(self, functions: dict[Any, tuple[str, ...]]) -> None:
        """Measure functions wherever they were imported to."""
        for module, names in functions.items():
            for name in names:
                old = getattr(module, name)
                new = self._measured(old)
                for other in [one for one in sys.modules.values() if _is_ours(one)]:
                    for key in [key for key, value in vars(other).items() if value is old]:
                        setattr(other, key, new)

    def _measured(self, act: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(act)
        def measured(*given: Any, **named: Any) -> Any:
            if getattr(self._inside, "a_check", False):
                return act(*given, **named)
            self._inside.a_check, started = True, time.thread_time()
            try:
                return act(*given, **named)
            finally:
                spent = time.thread_time() - started
                self._inside.a_check = False
                with self._lock:
                    self.spent += spent

        return measured


def _is_ours(module: Any) -> bool:
    return str(getattr(module, "__name__", "")).startswith("strod")


def _run(arguments: list[str]) -> None:
    """A command, without its output."""
    sys.argv = ["strod", *arguments]
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")), suppress(SystemExit):
        main()


def _alone(meter: Meter, arguments: list[str]) -> tuple[float, float]:
    """CPU seconds of a command and of its checks where all is loaded but no file was compared."""
    files._compared.clear()  # noqa: SLF001 - as in a new process
    pieces._known.clear()  # noqa: SLF001
    before, started = meter.spent, time.process_time()
    _run(arguments)
    return time.process_time() - started, meter.spent - before


def _process(arguments: list[str]) -> tuple[float, float]:
    """The same of a process of its own."""
    told = subprocess.run(
        [sys.executable, __file__, "--command", *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    whole, checks = map(float, told.stdout.split())
    return whole, checks


def _medians(
    path: Path, parts: tuple[str, ...], measure: Callable[[list[str]], tuple[float, float]]
) -> list[float]:
    """Of rounds on a workspace that is as it was built each time; the first only warms up."""
    found = []
    for _ in range(ROUNDS + 1):
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            copy = shutil.copytree(path, Path(folder) / path.name)
            found.append(measure([str(copy) if part == "W" else part for part in parts]))
    return [statistics.median(column) for column in zip(*found[1:], strict=True)]


def _table(source: Path, meter: Meter) -> None:
    print(f"| {source.name} | command, CPU s | checks | work alone, CPU s | checks |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w.strod"
        build = ["build", str(source), *BUILD, "--overwrite", "--out", str(path)]
        _run(build)  # compiles and loads what is needed
        _row("build", *_process(build), *_alone(meter, build))
        _run(["search", str(path), "system", "--quiet"])  # makes the index
        for name, parts in COMMANDS.items():
            whole = _medians(path, parts, _process)
            _row(name, *whole, *_medians(path, parts, partial(_alone, meter)))


def _row(name: str, whole: float, checks: float, work: float, its_checks: float) -> None:
    shares = f"{whole:.2f} | {100 * checks / whole:.1f} % | "
    print(f"| {name} | {shares}{work:.3f} | {100 * its_checks / work:.1f} % |", flush=True)


def _measured_main() -> None:
    """Print a table, or, in a process of its own, the seconds of a command and of its checks."""
    meter = Meter()
    meter.watch(CHECKS)
    if sys.argv[1:2] == ["--command"]:
        _run(sys.argv[2:])
        print(time.process_time(), meter.spent)
        return
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file", type=Path)
    _table(parser.parse_args().file, meter)


if __name__ == "__main__":
    _measured_main()
