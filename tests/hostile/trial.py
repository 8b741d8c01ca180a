"""Runs every command on a forged workspace, in a process of its own that may die.

The process is forked from a warm one: what takes a second to import and compile is there. What
has nothing to do with the workspace is done once (the command line is put together) or less
(`evaluate` asks hundreds of questions), so that a command takes milliseconds.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from strod.cli import main as command_line
from strod.evaluate import run as evaluation
from strod.intrusion.automatic import automatic
from tests.conftest import Outcome, strod
from tests.hostile.asking import explored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["COMMANDS", "MEMORY", "Ended", "asked", "tried", "tried_together", "warm_up"]

SECONDS = 10  # of a command
MEMORY = 1 << 30  # bytes of all commands together
UNNEEDED = ("grow dry",)  # no document fits nowhere; it says so
QUESTIONS = 2  # that `evaluate` asks about a topic
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
    "json": ["export", "W", "--to", "json"],
    "graphml": ["export", "W", "--to", "graphml"],
    "markdown": ["export", "W", "--to", "markdown"],
    "parquet": ["export", "W", "--to", "parquet", "--out", "Q", "--overwrite"],
    "site": ["export", "W", "--to", "site", "--documents", "1", "--out", "D", "--overwrite"],
    "search": ["search", "W", "riveroaka", "--where", "n > 3", "--quiet"],
    "search json": ["search", "W", "river* OR c:x", "--topic", "o/1", "--json", "--quiet"],
    "slice": ["slice", "W", "--by", "n", "--json", "--quiet"],
    "trends": ["trends", "W", "--quiet"],
    "entity": ["entity", "W", "c", "x", "--quiet"],
    "entities": ["show", "W", "--entities", "c"],
    "plot tree": ["plot", "W", "tree", "--out", "P", "--quiet"],
    "plot trends": ["plot", "W", "trends", "--topic", "o/1", "--out", "P", "--quiet"],
    "plot heatmap": ["plot", "W", "heatmap", "--by", "c", "--level", "1", "--out", "P", "--quiet"],
    "csv": ["export", "W", "--to", "csv", "--out", "T", "--overwrite"],
    "html": ["export", "W", "--to", "html", "--out", "O", "--overwrite"],
    "expand dry": ["expand", "W", "o/1", "--children", "2", "--fresh", "--dry-run", "--quiet"],
    "remove dry": ["remove", "W", "o/1", "--dry-run", "--quiet"],
    "add dry": ["add", "W", "N", "--dry-run", "--quiet"],
    "compact dry": ["compact", "W", "--dry-run"],
    "undo dry": ["undo", "W", "--dry-run"],
    "collapse dry": ["collapse", "W", "o/1", "--dry-run", "--quiet"],
    "move dry": ["move", "W", "o/1/1", "o/2", "--dry-run", "--quiet"],
    "pin dry": ["pin", "W", "o/1", "--dry-run", "--quiet"],
    "grow dry": ["grow", "W", "--dry-run", "--quiet"],
    "study": ["intrusion", "make", "W", "--out", "S", "--overwrite"],
    "explore": ["explore", "W"],
    "undo": ["undo", "W", "--quiet"],
    "redo": ["redo", "W", "--quiet"],
    "unpin": ["unpin", "W", "o/2", "--quiet"],
    "rename": ["rename", "W", "o/1", "mine", "--quiet"],
    "merge": ["merge", "W", "o/1", "o/2", "--quiet"],
    "add": ["add", "W", "N", "--quiet"],
    "expand": ["expand", "W", "o/3", "--children", "2", "--force", "--quiet"],
    "collapse": ["collapse", "W", "o/3", "--quiet"],
    "compact": ["compact", "W"],
}


# Exit codes and error lines of commands, and what was wrong.
Trial = tuple[dict[str, int], dict[str, str], list[str]]


@dataclass(frozen=True)
class Ended:
    """How the commands ended, what they said, what was wrong, and how the process ended."""

    codes: dict[str, int]
    said: dict[str, str]
    wrong: list[str]
    signal: int
    peak: int


def _outside(folder: Path) -> dict[str, bytes]:
    """What lies beside the workspace and must stay as it is, with nothing new in it."""
    found = sorted((folder / "victim").rglob("*"))
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in found
    }


def _places(folder: Path) -> dict[str, Path]:
    names = {"W": "w.strod", "N": "new.jsonl", "O": "out.html", "T": "tables", "S": "study.html"}
    names |= {"P": "plot.svg", "Q": "columns", "D": "site"}
    return {letter: folder / name for letter, name in names.items()}


@cache
def _command_line() -> Any:
    """All commands and their options, which Typer puts together anew for each call otherwise."""
    return typer.main.get_command(command_line.app)


def _shorten() -> None:
    """Do less of what a forgery cannot change, in a process that is only for trials."""
    gc.freeze()  # what is there already stays: to look at it again and again copies all memory
    command_line.app = _command_line()
    vars(os)["fsync"] = _unsynced  # the power stays on
    vars(evaluation)["automatic"] = partial(automatic, questions=QUESTIONS)


def _unsynced(_descriptor: int) -> None:
    """Let the system write when it likes."""


def _limit_memory() -> None:
    """Whatever takes more than `MEMORY` on top of what a warm process has fails."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def asked(folder: Path, name: str) -> Outcome:
    """Run a command on the workspace in a folder, inside this process."""
    places = _places(folder)
    if name == "explore":
        return explored(places["W"])
    return strod(*(places.get(part, part) for part in COMMANDS[name]))


def _run(folder: Path, name: str, seconds: int = SECONDS) -> tuple[int, str, str]:
    """The exit code of a command, its error line, and what was wrong with how it ended."""
    signal.alarm(seconds)
    try:
        ended = asked(folder, name)
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        last = traceback.extract_tb(error.__traceback__)[-1]
        return -1, "", f"{type(error).__name__} {error} at {Path(last.filename).name}:{last.lineno}"
    finally:
        signal.alarm(0)
    told = [line for line in ended.err.splitlines() if line.startswith("strod: ")]
    clean = ended.code in (0, 1, 2) and (not ended.code or len(told) == 1)
    clean = clean and "out of memory" not in ended.err
    problem = "" if clean else f"ended with {ended.code}: {ended.err[-300:]}"
    return ended.code, "".join(told), problem


def _run_all(folder: Path, names: Iterable[str], until: str | None) -> Trial:
    before, modules = _outside(folder), set(sys.modules)
    codes, said, wrong = {}, {}, []
    for name in names:
        codes[name], said[name], problem = _run(folder, name)
        if problem:
            wrong.append(f"{name}: {problem}"[:300])
        if _outside(folder) != before:
            wrong.append(f"{name}: something outside has changed")
        if until is not None and until in said[name]:
            break
    traps = [name for name in set(sys.modules) - modules if "trap" in name]
    return codes, said, wrong + [f"{name} was imported" for name in traps]


def _forked(folder: Path, work: Callable[[], list[Trial]]) -> tuple[list[Trial], int, int]:
    """What happened in a process of its own, the signal that ended it, and the bytes it took."""
    told = folder / "said"
    child = os.fork()
    if not child:
        try:
            _shorten()
            _limit_memory()
            tempfile.tempdir = str(folder)  # what a process that dies leaves behind goes with it
            baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            found = work()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - baseline
            told.write_text(json.dumps([found, peak * 1024]))
        except BaseException:  # noqa: BLE001 - nothing may come back from here
            traceback.print_exc()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    found, peak = json.loads(told.read_text()) if told.exists() else ([({}, {}, ["died"])], 0)
    return found, number, peak


def tried(
    base: Path,
    folder: Path,
    change: Callable[[Path], object],
    names: Iterable[str] = COMMANDS,
    until: str | None = None,
) -> Ended:
    """Change a copy of a workspace and run commands on it, all or `until` one says a word."""
    shutil.copytree(base.parent, folder)
    change(folder / "w.strod")
    [found], number, peak = _forked(folder, lambda: [_run_all(folder, names, until)])
    shutil.rmtree(folder)
    return Ended(*found, number, peak)


def tried_together(base: Path, folder: Path, changes: Iterable[Callable[[Path], object]]) -> bool:
    """Run all commands on copies with one change each, in one process; whether nothing was wrong.

    A process for each of them takes twice as long, and says which was wrong (`tried`).
    """
    copies = []
    for number, change in enumerate(changes):
        copies.append(Path(shutil.copytree(base.parent, folder / str(number))))
        change(copies[-1] / "w.strod")
    all_found, ended_by, peak = _forked(
        folder, lambda: [_run_all(o, COMMANDS, None) for o in copies]
    )
    shutil.rmtree(folder)
    wrong = [one for _, _, some in all_found for one in some]
    return not (ended_by or wrong or peak > MEMORY or any(map(is_misled, all_found)))


def is_misled(found: Trial) -> bool:
    """Whether `check` was content where another command found damage."""
    return found[0].get("check") == 0 and 1 in found[0].values()


def warm_up(base: Path, folder: Path) -> None:
    """Run every command once on a workspace that is sound."""
    _command_line()
    shutil.copytree(base.parent, folder)
    for name in COMMANDS:
        code, said, wrong = _run(folder, name, 0)  # it may have to compile first
        assert not wrong, name
        assert code == 0 or name in UNNEEDED, (name, said)
    shutil.rmtree(folder)
