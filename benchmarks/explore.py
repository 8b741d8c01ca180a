"""The explorer: how long it takes to listen, to answer, to preview and to apply.

Give it a workspace, of which a copy is made, while nothing else runs::

    python benchmarks/explore.py papers.strod

Budgets stand beside the figures; what is over one is marked and makes the exit code 1. Times are
those of a client on this machine, packed answers included, with ETags not used.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINK = re.compile(r"(http://\S+)/\?token=(\S+)")
BUDGETS = {  # seconds
    "listening": 1.5,
    "topic detail, p95": 0.03,
    "page of documents, p95": 0.06,
    "search, p95": 0.15,
    "preview of expand": 0.5,
    "apply of expand": 1.5,
    "merge, preview and apply": 0.5,
    "rename, preview and apply": 0.1,
    "undo, preview and apply": 0.1,
}


@contextmanager
def served(path: Path) -> Iterator[tuple[httpx.Client, float, int]]:
    """A client of a server in a process of its own, when that listened, and which it is."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "strod", "explore", str(path), "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = LINK.search(process.stdout.readline())
        taken = time.perf_counter() - started
        assert found is not None
        headers = {"authorization": f"Bearer {found[2]}", "accept-encoding": "gzip"}
        with httpx.Client(base_url=found[1], headers=headers, timeout=300) as client:
            yield client, taken, process.pid
            client.post("/api/shutdown", json={})


def _timed(act: Callable[[], Any]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _p95(client: httpx.Client, paths: list[str]) -> float:
    """Each is asked once, so that no answer is one that was kept."""

    def ask(path: str) -> None:
        client.get(path).raise_for_status()

    return float(np.percentile([_timed(lambda one=path: ask(one)) for path in paths], 95))  # type: ignore[misc]


def _words(client: httpx.Client, topics: list[str]) -> list[str]:
    """Words that people would look for: phrases of topics."""
    found = [client.get(f"/api/topic/{path}").json()["phrases"][:8] for path in topics[1:30]]
    return list(dict.fromkeys(text for some in found for text, _ in some))


def _post(client: httpx.Client, path: str, **body: Any) -> Any:
    answer = client.post(f"/api/{path}", json=body)
    answer.raise_for_status()
    return answer.json()


def _change(client: httpx.Client, **body: Any) -> tuple[float, float]:
    """Seconds of a preview and of its application."""
    plans: list[Any] = []
    preview = _timed(lambda: plans.append(_post(client, "preview", **body)))
    return preview, _timed(lambda: _post(client, "apply", plan=plans[0]["plan"]))


def _changes(client: httpx.Client, rounds: int) -> dict[str, float]:
    """Medians over the rounds; each change is undone."""
    found: dict[str, list[float]] = {}
    leaf = "o/1/1"
    for _ in range(rounds):
        expand = _change(client, verb="expand", topics=[leaf], children=3, force=True)
        found.setdefault("preview of expand", []).append(expand[0])
        found.setdefault("apply of expand", []).append(expand[1])
        undo = sum(_change(client, verb="undo"))
        found.setdefault("undo, preview and apply", []).append(undo)
        merge = sum(_change(client, verb="merge", topics=["o/1/1", "o/1/2"]))
        found.setdefault("merge, preview and apply", []).append(merge)
        _change(client, verb="undo")
        rename = sum(_change(client, verb="rename", topics=["o/1"], label="another name"))
        found.setdefault("rename, preview and apply", []).append(rename)
        _change(client, verb="undo")
    return {what: float(np.median(seconds)) for what, seconds in found.items()}


def _measured(path: Path, rounds: int) -> dict[str, float]:
    with served(path) as (client, _, _):  # indexes are made once, and kept
        client.get("/api/search", params={"q": "a"})
    with served(path) as (client, listening, _):
        topics = client.get("/api/tree").json()["topics"]["path"]
        words = _words(client, topics)
        _changes(client, 1)
        found = {"listening": listening}
        depth = [f"/api/topic/{one}" for one in topics]
        _post(client, "apply", plan=_post(client, "preview", verb="pin", topics=["o/1"])["plan"])
        found["topic detail, p95"] = _p95(client, depth)
        pages = [f"/api/documents?topic={one}&offset={20 * n}" for one in topics for n in range(5)]
        found["page of documents, p95"] = _p95(client, pages)
        found["search, p95"] = _p95(client, [f"/api/search?q={one}" for one in words])
        return found | _changes(client, rounds)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        copy = Path(shutil.copytree(arguments.workspace, Path(folder) / "w.strod"))
        found = _measured(copy, arguments.rounds)
    for what, seconds in found.items():
        over = "" if seconds <= BUDGETS[what] else "  over"
        print(f"{what:<28}{1000 * seconds:9.1f} ms   budget {1000 * BUDGETS[what]:7.0f} ms{over}")
    sys.exit(any(seconds > BUDGETS[what] for what, seconds in found.items()))


if __name__ == "__main__":
    main()
