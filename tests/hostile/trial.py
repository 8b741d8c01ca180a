"""Runs every command on a forged workspace, in a process of its own that may die.

The process is forked from a warm one: what takes a second to import and compile is there.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conftest import strod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["COMMANDS", "MEMORY", "Ended", "tried", "warm_up"]

SECONDS = 60  # of a command: what hangs hangs for ever, and a loaded machine is slow
MEMORY = 1 << 30
COMMANDS: dict[str, list[str]] = {
    "check": ["check", "W"],
    "show": ["show", "W"],
    "words": ["show", "W", "--json", "--words", "0"],
    "documents": ["show", "W", "o/1", "--documents", "2"],
    "assign": ["assign", "W", "--quiet"],
    "assign new": ["assign", "W", "N", "--quiet"],
    "history": ["history", "W"],
    "evaluate": ["evaluate", "W", "--quiet"],
    "skos": ["export", "W", "--to", "skos"],
    "html": ["export", "W", "--to", "html", "--out", "O", "--overwrite"],
    "expand dry": ["expand", "W", "o/1", "--children", "2", "--fresh", "--dry-run", "--quiet"],
    "remove dry": ["remove", "W", "o/1", "--dry-run", "--quiet"],
    "add dry": ["add", "W", "N", "--dry-run", "--quiet"],
    "compact dry": ["compact", "W", "--dry-run"],
    "undo dry": ["undo", "W", "--dry-run"],
    "rename": ["rename", "W", "o/1", "mine", "--quiet"],
    "merge": ["merge", "W", "o/1", "o/2", "--quiet"],
    "add": ["add", "W", "N", "--quiet"],
}


@dataclass(frozen=True)
class Ended:
    """How the commands ended, what they said, what was wrong, and how the process ended."""

    codes: dict[str, int]
    said: dict[str, str]
    wrong: list[str]
    signal: int
    peak: int


def _outside(folder: Path) -> list[bytes]:
    """What lies beside the workspace and must stay."""
    return [path.read_bytes() for path in sorted((folder / "victim").rglob("precious"))]


def _places(folder: Path) -> dict[str, Path]:
    return {"W": folder / "w.strod", "N": folder / "new.jsonl", "O": folder / "out.html"}


def _run(folder: Path, name: str) -> tuple[int, str, str]:
    """The exit code of a command, its error line, and what was wrong with how it ended."""
    places = _places(folder)
    signal.alarm(SECONDS)
    try:
        ended = strod(*(places.get(part, part) for part in COMMANDS[name]))
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        return -1, "", f"{type(error).__name__} {error} at {Path(last.filename).name}:{last.lineno}"
    finally:
        signal.alarm(0)
    told = [line for line in ended.err.splitlines() if line.startswith("strod: ")]
    clean = ended.code in (0, 1, 2) and (not ended.code or len(told) == 1)
    problem = "" if clean else f"ended with {ended.code}: {ended.err[-300:]}"
    return ended.code, "".join(told), problem


def _run_all(
    folder: Path, names: Iterable[str]
) -> tuple[dict[str, int], dict[str, str], list[str]]:
    before, modules = _outside(folder), set(sys.modules)
    codes, said, wrong = {}, {}, []
    for name in names:
        codes[name], said[name], problem = _run(folder, name)
        if problem:
            wrong.append(f"{name}: {problem}"[:300])
        if _outside(folder) != before:
            wrong.append(f"{name}: something outside has changed")
    traps = [name for name in set(sys.modules) - modules if "trap" in name]
    return codes, said, wrong + [f"{name} was imported" for name in traps]


def tried(
    base: Path, folder: Path, change: Callable[[Path], object], names: Iterable[str] = COMMANDS
) -> Ended:
    """Change a copy of a workspace and run commands on it."""
    shutil.copytree(base.parent, folder)
    change(folder / "w.strod")
    child = os.fork()
    if not child:
        try:
            baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            found = _run_all(folder, names)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - baseline
            (folder / "said").write_text(json.dumps([*found, peak * 1024]))
        except BaseException:  # noqa: BLE001 - nothing may come back from here
            traceback.print_exc()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    told = folder / "said"
    found = json.loads(told.read_text()) if told.exists() else ({}, {}, ["died"], 0)
    shutil.rmtree(folder)
    codes, said, wrong, peak = found
    return Ended(codes, said, wrong, number, peak)


def warm_up(base: Path, folder: Path) -> None:
    """Run every command once on a workspace that is sound."""
    shutil.copytree(base.parent, folder)
    for name in COMMANDS:
        assert _run(folder, name) == (0, "", ""), name
    shutil.rmtree(folder)
