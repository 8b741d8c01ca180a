"""Asks workspaces; at the n-th touch of the disk it is killed, or the index is deleted.

A job is a line of JSON: `path`, `at`, `size` of the largest file, `spoiled`. Each is done by a fork
of this process, which has loaded all that takes time, and is answered by a line: exit code, words.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

EVENTS = {"os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.symlink"}


class Killer:
    """An audit hook that counts what makes, moves, removes or opens a file for writing."""

    def __init__(self, at: int, spoiled: Path | None) -> None:
        self.at, self.calls, self.spoiled = at, 0, spoiled

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_ACCMODE
        if event in EVENTS or writes:
            self.calls += 1
            if self.calls == self.at:
                self.act()

    def act(self) -> None:
        """Delete a folder if there is one to delete; else end here."""
        if self.spoiled is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            shutil.rmtree(self.spoiled, ignore_errors=True)


def ask(path: str, at: int, size: int, spoiled: str) -> list[Any]:
    """What is found, and how often the disk was touched; or the name of an error, and its lines."""
    from strod.workspace.workspace import Workspace  # noqa: PLC0415

    workspace = Workspace(Path(path))
    killer = Killer(at, Path(path) / spoiled if spoiled else None)
    sys.addaudithook(killer)
    if size:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        found = workspace.search("riveroaka").total
        rows = workspace.slice("year").num_rows
    except Exception as error:  # noqa: BLE001
        return [type(error).__name__, str(error).count("\n")]
    return [found, rows, killer.calls]


def warm() -> None:
    """Load what an answer needs; it starts no thread, so that a fork is a whole process."""
    import pyarrow as pa  # noqa: PLC0415

    from strod.options import CorpusOptions  # noqa: PLC0415
    from strod.query import build, bursts, search, texts  # noqa: F401, PLC0415
    from strod.query.feed import Tokenizer  # noqa: PLC0415
    from strod.query.text import engine  # noqa: PLC0415
    from strod.workspace import workspace  # noqa: F401, PLC0415

    engine()
    Tokenizer(CorpusOptions())(pa.array(["a naïve word"], type=pa.large_string()))


def done(job: dict[str, Any]) -> tuple[int, list[Any]]:
    """Do a job in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, json.dumps(ask(**job)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        words = json.loads(pipe.read() or "[]")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), words


def main() -> None:
    """Do one job after another."""
    warm()
    for line in sys.stdin:
        print(json.dumps(done(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
