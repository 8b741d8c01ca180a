"""Where work touches the disk, and what may happen there: a kill, a torn write, a signal, an error.

Run as a program it forks a process for every line it reads, so that trouble costs no start of
Python. A line is a task: what to do (a verb of a workspace, or a command), at which point there
is trouble and of what kind, and where to note what happened.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

import strod.workspace.revise  # noqa: F401 - once, not in every process
from strod.cli.console import TerminalProgress
from strod.cli.main import app
from strod.cli.main import main as run_command
from strod.corpus import intake, segment
from strod.errors import InputError
from strod.progress import Silent
from strod.store.arrays import ArrayWriter
from strod.workspace.warmup import compile_kernels
from strod.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    Trouble = Callable[[str, tuple[Any, ...]], None]

# Everything that makes, fills, syncs, renames or removes a file or folder.
POINTS: list[tuple[Any, str]] = [
    (os, "write"),
    (os, "fsync"),
    (os, "rename"),
    (os, "replace"),
    (os, "mkdir"),
    (os, "unlink"),
    (os, "rmdir"),
    (np, "save"),
    (pq, "write_table"),
    (Path, "write_text"),
    (ArrayWriter, "append"),
    (ArrayWriter, "close"),
    # Between two of those there may be much to compute: a command says how far it is.
    (TerminalProgress, "stage"),
    (TerminalProgress, "advance"),
]
WRITES = {"save", "write_table", "write_text", "append"}  # what can be torn

# Some documents are a corpus of several shards that come in several batches.
SMALL = [(intake, "BATCH_DOCUMENTS", 40), (segment, "SHARD_DOCUMENTS", 50)]


@dataclass
class Points:
    """Counts the calls of all `POINTS`, whichever thread makes them; at number `at` is trouble."""

    at: int
    trouble: Trouble
    calls: list[str] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def install(self, replace: Callable[[Any, str, Any], None]) -> None:
        """Put functions in place that count."""
        for owner, name in POINTS:
            replace(owner, name, self._counting(getattr(owner, name), name))

    def _counting(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            self.calls.append(name if name != "stage" else f"stage {arguments[1]}")
            if next(self._numbers) == self.at:
                self.trouble(name, arguments)
            if name != "fsync":  # nobody pulls the plug: no need to wait for the disk
                return function(*arguments, **more)
            return None

        return call


def tear(name: str, arguments: tuple[Any, ...]) -> None:
    """Write half of what was to be written."""
    if name == "save":
        path, array = arguments
        data = np.ascontiguousarray(array).tobytes()
        Path(f"{path}".removesuffix(".npy") + ".npy").write_bytes(data[: len(data) // 2])
    elif name == "write_table":
        table, path = arguments
        Path(path).write_bytes(bytes(table.nbytes // 2))
    elif name == "write_text":
        path, text = arguments
        path.write_bytes(text.encode()[: len(text) // 2])
    elif name == "append":
        writer, values = arguments
        half = np.ascontiguousarray(values, dtype=writer._dtype).tobytes()
        writer._file.write(half[: len(half) // 2])
        writer._file.flush()


def trouble(kind: str, name: str, arguments: tuple[Any, ...]) -> None:
    """End the process as the system would, perhaps in the middle of a write, or signal it."""
    if kind == "tear":
        tear(name, arguments)
    number = signal.SIGKILL if kind in ("kill", "tear") else signal.Signals[kind]
    os.kill(os.getpid(), number)  # not this thread: the system gives it to the main one


def revise(path: Path, verb: str, arguments: list[Any], **more: Any) -> None:
    """Carry out a verb."""
    how = {} if verb in ("undo", "redo", "compact") else {"workers": 1}
    getattr(Workspace(path), verb)(*arguments, **how, **more)


class Ended(NamedTuple):
    """How a process ended and what it said; its calls if it was not killed."""

    code: int
    out: str
    err: str
    calls: list[str]


class Forks:
    """A process that forks another for each task."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started, self._ended = count(), count()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )

    def start(self, work: dict[str, Any], at: int = 0, kind: str = "kill") -> None:
        """Let a process do some work, with trouble at a point."""
        log = str(self._folder / str(next(self._started)))
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(work | {"at": at, "kind": kind, "log": log}) + "\n")
        self._process.stdin.flush()

    def ended(self) -> Ended:
        """How the oldest one ended."""
        assert self._process.stdout is not None
        code = int(self._process.stdout.readline())
        log = self._folder / str(next(self._ended))
        out, err, calls = (log.with_suffix(f".{name}") for name in ("out", "err", "calls"))
        made = json.loads(calls.read_text()) if calls.exists() else []
        return Ended(code, out.read_text(), err.read_text(), made)

    def run(self, work: dict[str, Any], at: int = 0, kind: str = "kill") -> Ended:
        """Let a process do some work and wait for its end."""
        self.start(work, at, kind)
        return self.ended()

    def close(self) -> None:
        self._process.communicate(timeout=300)


def _run(task: dict[str, Any]) -> None:
    """In a process of its own, from which there is no return."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{task['log']}.{name}", os.O_WRONLY | os.O_CREAT, 0o644), number)
    points = Points(task["at"], lambda *given: trouble(task["kind"], *given))
    try:
        if "command" in task:
            for owner, name, value in SMALL:
                setattr(owner, name, value)
            sys.argv = ["strod", *task["command"]]
            points.install(setattr)
            run_command()
        else:
            points.install(setattr)
            revise(Path(task["path"]), task["verb"], task["arguments"], **task["more"])
    finally:
        with Path(f"{task['log']}.calls").open("w", encoding="utf-8") as file:
            json.dump(points.calls, file)


def _end(task: dict[str, Any]) -> None:
    """Do a task and leave, without the second that Python would take to tidy up."""
    code = 1
    try:
        _run(task)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:  # noqa: BLE001 - whoever waits for the process reads it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _prepare() -> None:
    """Compile and import all there is, once for all processes."""
    compile_kernels(Silent())
    with suppress(InputError):
        app(["build", "/nowhere", "--out", "/nowhere.strod"], standalone_mode=False)
    gc.freeze()


def main() -> None:
    """Read tasks, answer each with how its process ended."""
    _prepare()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _end(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
