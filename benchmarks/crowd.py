"""Twenty readers of the explorer while the tree is revised: answers, errors and memory.

Give it a workspace, of which a copy is made::

    python -m benchmarks.crowd papers.strod

For a minute twenty clients ask for the tree, topics, documents and searches, each in its own
thread, on loopback, while thirty revisions are applied. Every tree that a client saw must be one
of those that the workspace had, as a whole; no answer may be an error; the server's memory in the
last quarter must not be more than a tenth above that of the second.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.explore import served

if TYPE_CHECKING:
    import httpx

MAY_GROW = 1.1
GONE = 404  # a topic may have gone since the client saw the tree
STEPS: list[dict[str, Any]] = [
    {"verb": "rename", "topics": ["o/1"], "label": "a name"},
    {"verb": "merge", "topics": ["o/2/1", "o/2/2"]},
    {"verb": "pin", "topics": ["o/3"]},
    {"verb": "expand", "topics": ["o/1/1"], "children": 2, "force": True},
    {"verb": "collapse", "topics": ["o/3"]},
    *[{"verb": "undo"}] * 5,
]


def _reader(client: httpx.Client, ended: Event, number: int) -> tuple[set[tuple[int, str]], int]:
    """What a visitor saw of trees, and how many answers came."""
    seen: set[tuple[int, str]] = set()
    answers = 0
    while not ended.is_set():
        tree = client.get("/api/tree").raise_for_status().json()
        seen.add((tree["revision"], json.dumps(tree["topics"], sort_keys=True)))
        paths = tree["topics"]["path"]
        path = paths[(answers + number) % len(paths)]
        for address in (f"topic/{path}", f"documents?topic={path}", "search?q=model"):
            answer = client.get(f"/api/{address}")
            if answer.status_code != GONE:
                answer.raise_for_status()
        answers += 4
    return seen, answers


def _revise(client: httpx.Client, seconds: float, revisions: int) -> set[tuple[int, str]]:
    """Apply revisions, evenly over the time; the trees that there were."""
    right, started = set(), time.perf_counter()
    for number in range(revisions + 1):
        tree = client.get("/api/tree").raise_for_status().json()
        right.add((tree["revision"], json.dumps(tree["topics"], sort_keys=True)))
        if number == revisions:
            return right
        wait = started + number * seconds / revisions - time.perf_counter()
        time.sleep(max(0.0, wait))
        plan = client.post("/api/preview", json=STEPS[number % len(STEPS)])
        body = {"plan": plan.raise_for_status().json()["plan"]}
        client.post("/api/apply", json=body).raise_for_status()
    return right


def _memory(process: int) -> int:
    """Resident bytes of a process."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _watch(process: int, ended: Event, found: list[int]) -> None:
    while not ended.wait(0.5):
        found.append(_memory(process))


def _crowd(path: Path, clients: int, seconds: float, revisions: int) -> bool:
    """Run it all and print what was seen; whether it is as it should be."""
    ended, memory = Event(), list[int]()
    with served(path) as (client, _, process), ThreadPoolExecutor(clients) as pool:
        client.get("/api/search", params={"q": "model"}).raise_for_status()  # makes the index
        watcher = Thread(target=_watch, args=(process, ended, memory))
        watcher.start()
        readers = [pool.submit(_reader, client, ended, number) for number in range(clients)]
        try:
            right = _revise(client, seconds, revisions)
        finally:
            ended.set()
        found = [one.result() for one in readers]
        watcher.join()
    wrong = sum(len(seen - right) for seen, _ in found)
    quarters = [float(np.median(some)) for some in np.array_split(np.array(memory), 4)]
    print(f"answers          {sum(answers for _, answers in found):>8,}, none an error")
    print(f"trees seen       {len(set().union(*(seen for seen, _ in found))):>8,}, {wrong} wrong")
    print("memory, quarters " + ", ".join(f"{one / 1e6:.0f} MB" for one in quarters))
    return not wrong and quarters[3] <= MAY_GROW * quarters[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--revisions", type=int, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        copy = Path(shutil.copytree(given.workspace, Path(folder) / "w.strod"))
        sys.exit(not _crowd(copy, given.clients, given.seconds, given.revisions))


if __name__ == "__main__":
    main()
