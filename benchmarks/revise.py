"""Revising a tree: how long each verb takes beside the build.

Run it on JSON lines with a ``text`` field, while nothing else runs::

    python benchmarks/revise.py arxiv_abstracts_150k.jsonl

Builds a 5x5 tree over 99 % of the documents, then revises it in the same process and adds the
rest. Times are medians over the rounds (each change is undone before the next round). A preview is
a dry run whose findings are kept; applying it computes nothing, which is how the explorer works.
Budgets are those of arxiv_abstracts_150k; what is over one is marked and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import strod
from strod.store.change import Prepared

if TYPE_CHECKING:
    from collections.abc import Callable

ADDED = 100  # every so manieth document is added later
BUDGETS = {  # seconds
    "expand: preview": 0.5,
    "expand: applied": 1.5,
    "merge: preview and applied": 0.5,
    "rename: preview and applied": 0.1,
    "undo": 0.1,
}
_clock = [time.perf_counter]


def _parts(path: Path, folder: Path) -> tuple[Path, Path]:
    """Most of the file, and the documents that are added later."""
    most, rest = folder / "most.jsonl", folder / "rest.jsonl"
    with path.open("rb") as source, most.open("wb") as one, rest.open("wb") as other:
        for number, line in enumerate(source):
            (other if number % ADDED == 0 else one).write(line)
    return most, rest


def _timed(act: Callable[[], Any], undo: Callable[[], Any] | None, rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        started = _clock[0]()
        act()
        seconds.append(_clock[0]() - started)
        if undo is not None:
            undo()
    return statistics.median(seconds)


def _in_two(act: Callable[..., Any], undo: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Seconds of a preview, and of its application."""
    previews, applied = [], []
    for _ in range(rounds):
        with Prepared() as plan:
            previews.append(_timed(partial(act, dry_run=True, prepared=plan), None, 1))
            applied.append(_timed(plan.apply, undo, 1))
    return statistics.median(previews), statistics.median(applied)


def found_in_two(what: str, preview: float, applied: float) -> dict[str, float]:
    """What of a preview and its application there are budgets for."""
    verb = what.partition(" ")[0]
    figures = {
        f"{verb}: preview": preview,
        f"{verb}: applied": applied,
        f"{verb}: preview and applied": preview + applied,
    }
    return {name: seconds for name, seconds in figures.items() if name in BUDGETS}


def over(found: dict[str, float]) -> str:
    """What is over its budget, as it stands behind a line; nothing if all is well."""
    late = [name for name, seconds in found.items() if seconds > BUDGETS[name]]
    return "".join(f"   OVER: {name} within {BUDGETS[name]:g} s" for name in late)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu", action="store_true", help="CPU time, whatever else runs")
    arguments = parser.parse_args()
    if arguments.cpu:
        _clock[0] = time.process_time
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        most, rest = _parts(arguments.file, folder)
        strod.build(["warm up the kernels " * 9] * 20, out=folder / "warm.strod")
        started = _clock[0]()
        workspace = strod.build(most, out=folder / "w.strod", children=5, height=2)
        build = _clock[0]() - started
        print(f"{arguments.file.name}, {workspace.corpus.documents:,} documents")
        print(f"build, 5x5                          {build:7.2f} s")
        verbs: dict[str, Callable[..., Any]] = {
            "expand o/1 into 3, fewer than it has": partial(workspace.expand, "o/1", 3),
            "expand o/1/1 into 3, learnt anew": partial(workspace.expand, "o/1/1", 3),
            "expand o/5 into 5, learnt anew": partial(workspace.expand, "o/5", 5, fresh=True),
            "merge o/1/1 and o/1/2": partial(workspace.merge, "o/1/1", "o/1/2"),
            "remove o/2/3": partial(workspace.remove, "o/2/3"),
            "move o/1/2 to o/2": partial(workspace.move, "o/1/2", "o/2"),
            "collapse o/3": partial(workspace.collapse, "o/3"),
            "rename o/1": partial(workspace.rename, "o/1", "another name"),
        }
        late = []
        for what, act in verbs.items():
            seconds = _timed(act, workspace.undo, arguments.rounds)
            print(f"{what:<37}{seconds:6.2f} s   {100 * seconds / build:5.1f} % of the build")
            preview, applied = _in_two(act, workspace.undo, arguments.rounds)
            ratio = f"; the preview takes {preview / seconds:.2f} of the verb"
            late.append(over(found_in_two(what, preview, applied)))
            line = f"{'  preview, then applied':<37}{preview:6.2f} s + {applied:.2f} s{ratio}"
            print(f"{line}{late[-1]}")
            sys.stdout.flush()
        workspace.rename("o/1", "another name")
        seconds = _timed(workspace.undo, workspace.redo, arguments.rounds)
        late.append(over({"undo": seconds}))
        part = f"{100 * seconds / build:5.1f} % of the build{late[-1]}"
        print(f"{'undo':<37}{seconds:6.2f} s   {part}")
        seconds = _timed(lambda: workspace.add(rest), workspace.undo, arguments.rounds)
        print(f"{'add 1 %':<37}{seconds:6.2f} s   {100 * seconds / build:5.1f} % of the build")
        sys.exit(any(late))


if __name__ == "__main__":
    main()
