"""Where a change touches the disk, and what may happen there: a kill, a torn write, an error.

Run as a program it forks a process for every line it reads, so that a kill costs no start of
Python: ``{"verb": "undo", "arguments": [], "path": ..., "at": 7, "torn": false}``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import strod.revision  # noqa: F401 - once, not in every process
from strod.progress import Silent
from strod.store.publish import ArrayWriter
from strod.warmup import compile_kernels
from strod.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    Trouble = Callable[[str, tuple[Any, ...]], None]

# Everything that makes, fills, syncs, renames or removes a file or folder.
POINTS: list[tuple[Any, str]] = [
    (os, "write"),
    (os, "fsync"),
    (os, "replace"),
    (os, "mkdir"),
    (os, "unlink"),
    (os, "rmdir"),
    (np, "save"),
    (Path, "write_text"),
    (ArrayWriter, "append"),
    (ArrayWriter, "close"),
]


@dataclass
class Points:
    """Counts the calls of all `POINTS`; at number `at` there is trouble."""

    at: int
    trouble: Trouble
    calls: list[str] = field(default_factory=list)

    def install(self, replace: Callable[[Any, str, Any], None]) -> None:
        """Put functions in place that count."""
        for owner, name in POINTS:
            replace(owner, name, self._counting(getattr(owner, name), name))

    def _counting(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) == self.at:
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
    elif name == "write_text":
        path, text = arguments
        path.write_bytes(text.encode()[: len(text) // 2])
    elif name == "append":
        writer, values = arguments
        half = np.ascontiguousarray(values, dtype=writer._dtype).tobytes()
        writer._file.write(half[: len(half) // 2])
        writer._file.flush()


def kill(name: str, arguments: tuple[Any, ...], *, torn: bool) -> None:
    """End the process as the system would."""
    if torn:
        tear(name, arguments)
    os.kill(os.getpid(), signal.SIGKILL)


def revise(path: Path, verb: str, arguments: list[Any], **more: Any) -> None:
    """Carry out a verb."""
    how = {} if verb in ("undo", "redo", "compact") else {"workers": 1}
    getattr(Workspace(path), verb)(*arguments, **how, **more)


def _run(task: dict[str, Any]) -> None:
    """In a process of its own, from which there is no return."""
    points = Points(task["at"], lambda *given: kill(*given, torn=task["torn"]))
    points.install(setattr)
    revise(Path(task["path"]), task["verb"], task["arguments"], **task["more"])
    Path(task["path"] + ".calls").write_bytes(json.dumps(points.calls).encode())
    os._exit(0)


def main() -> None:
    """Read tasks, answer each with how its process ended."""
    compile_kernels(Silent())
    for line in sys.stdin:
        child = os.fork()
        if not child:
            try:
                _run(json.loads(line))
            finally:
                os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
