"""Measuring a build: in a process of its own, so that memory and start-up are its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from strod.errors import StrodError, UsageError
from strod.experiments.methods import build_options, iterations, scalable
from strod.pipeline import build
from strod.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from strod.experiments.settings import Settings

__all__ = ["Build", "built", "repeated", "scaled", "timed"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
REFUSED = 2  # exit code
PATIENCE = 30.0  # seconds that a build and its repetitions may have taken for one more


@dataclass(frozen=True)
class Build:
    """A build to measure.

    Attributes
    ----------
    source : Path
        Documents.
    out : Path
        The workspace.
    method : str
        How the tree is made.
    children, height : int
        Its shape.
    seed : int
        Of all that is random.
    iterations : int or None
        Of methods that iterate.
    vocabulary : int
        Most words; 0 for the usual number.
    phrases : bool
        Whether phrases are mined; of no use if only the tree is timed.
    labelled : bool
        Whether the documents have labels.
    """

    source: Path
    out: Path
    method: str
    children: int = 5
    height: int = 2
    seed: int = 0
    iterations: int | None = None
    vocabulary: int = 0
    phrases: bool = False
    labelled: bool = False

    def options(self, settings: Settings) -> dict[str, Any]:
        """As `strod.build` takes them."""
        chosen = {
            "children": self.children,
            "height": self.height,
            "seed": self.seed,
            "phrases": self.phrases,
            "workers": settings.workers,
            "memory": settings.memory,
            **build_options(self.method, self.iterations),
        }
        if self.vocabulary:
            chosen["max_vocabulary"] = self.vocabulary
        if self.labelled:
            chosen["meta"] = "label"
        return chosen

    def arguments(self, settings: Settings) -> list[str]:
        """As the command line takes them."""
        words = ["build", str(self.source), "--out", str(self.out), "--overwrite", "--quiet"]
        for name, value in self.options(settings).items():
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                words += [f"--{flag}", str(value)]
        return words


def built(one: Build, settings: Settings) -> dict[str, Any]:
    """Build, and say how long it took and how much memory.

    Returns
    -------
    dict
        ``status`` is ``ok``, ``refused`` (with the reason in ``note``) or ``stopped`` (after
        ``settings.limit`` seconds). ``tree_seconds``: from counts to a tree, which is what
        methods differ in; ``seconds``: the whole command; ``memory``: bytes at the peak, None
        if other work was done in the same process; ``iterations``: of a baseline.
    """
    started = time.perf_counter()
    problem = _here(one, settings) if settings.quick else _apart(one, settings)
    seconds = time.perf_counter() - started
    if problem is not None:
        return problem
    workspace = Workspace(one.out)
    report, about = workspace.report, workspace.manifest.corpus
    return {
        "status": "ok",
        "tree_seconds": report["stages"]["tree"]["seconds"],
        "seconds": seconds,
        "memory": None if settings.quick else report["peak_memory_bytes"],
        "documents": about.documents,
        "tokens": about.tokens,
        "vocabulary": about.vocabulary,
        "topics": workspace.manifest.tree.topics - 1,
        "iterations": _iterations(report["stages"]["tree"]),
        "iterating_seconds": report["stages"]["tree"].get("iterating_seconds"),
    }


def _iterations(stage: dict[str, Any]) -> int | None:
    """Of the topic that took most: fewer than asked for if the method has converged."""
    return max(
        (split["iterations"] for split in stage["splits"] if "iterations" in split), default=None
    )


def _here(one: Build, settings: Settings) -> dict[str, Any] | None:
    """Build in this process; there is no time limit."""
    try:
        build(one.source, out=one.out, overwrite=True, **one.options(settings))
    except UsageError as error:
        return _refused(str(error))
    return None


def _refused(message: str) -> dict[str, Any]:
    """What is wrong, without the advice on what to do."""
    return {"status": "refused", "note": f"refused: {message.partition(';')[0]}"}


def _apart(one: Build, settings: Settings) -> dict[str, Any] | None:
    """Build in a process of its own, with as many threads as asked for."""
    command = [sys.executable, "-m", "strod", *one.arguments(settings)]
    environment = os.environ | dict.fromkeys(THREADS, str(settings.workers))
    try:
        done = subprocess.run(  # noqa: S603 - our own command, no shell
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env=environment,
            timeout=settings.limit,
        )
    except subprocess.TimeoutExpired:
        shutil.rmtree(one.out.with_name(f".{one.out.name}.building"), ignore_errors=True)
        return {"status": "stopped", "note": f"stopped after {settings.limit:g} s"}
    if done.returncode == 0:
        return None
    said = [line for line in done.stderr.splitlines() if line.startswith("strod: ")]
    message = said[-1].removeprefix("strod: ") if said else f"exit code {done.returncode}"
    if done.returncode == REFUSED:
        return _refused(message)
    raise StrodError(f"strod {' '.join(one.arguments(settings))} failed: {message}")


def repeated(one: Build, settings: Settings) -> dict[str, Any]:
    """Build several times, unless that takes long, and give the run with the median time.

    The shorter a build, the more its time varies.
    """
    found = [built(one, settings)]
    while found[-1]["status"] == "ok" and len(found) < settings.plan.repeats:
        if sum(each["seconds"] for each in found) > PATIENCE:
            break
        found.append(built(one, settings))
    good = [each for each in found if each["status"] == "ok"] or found
    good.sort(key=lambda each: each.get("tree_seconds", 0.0))
    return good[(len(good) - 1) // 2]


def timed(one: Build, settings: Settings) -> dict[str, Any]:
    """Time a build; one that takes many iterations is timed at a small number of them.

    What the iterations took, which every baseline measures, is multiplied; the rest is not:
    see `scaled`.
    """
    plan = settings.plan
    wanted = iterations(one.method, plan.iterations)
    if wanted is None:
        return repeated(one, settings)
    most = min(wanted, plan.measured) if scalable(one.method) else wanted
    found = repeated(replace(one, iterations=most), settings)
    if found["status"] != "ok" or most == wanted or (found["iterations"] or 0) < most:
        return found  # refused, not to be scaled, converged, or without a topic
    tree = scaled(found["tree_seconds"], found["iterating_seconds"], wanted / most)
    factor = tree / found["tree_seconds"] if found["tree_seconds"] else 1.0
    return found | {
        "tree_seconds": tree,
        "seconds": found["seconds"] - found["tree_seconds"] + tree,
        "measured_iterations": most,
        "measured_seconds": found["tree_seconds"],
        "iterations": wanted,
        "factor": factor,
    }


def scaled(seconds: float, iterating: float, times: float) -> float:
    """Seconds of a build with so many times the iterations, which took `iterating` of them.

    Examples
    --------
    >>> scaled(3.5, 2.0, 50)
    101.5
    """
    return seconds + iterating * (times - 1)
