"""Many readers while the tree is revised: every answer belongs to one whole revision."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from strod.workspace.workspace import Workspace
from tests.conftest import strod

if TYPE_CHECKING:
    from pathlib import Path

    from tests.explorer.conftest import Client

STEPS: list[tuple[str, list[str], dict[str, Any]]] = [
    ("rename", ["o/1"], {"label": "a name"}),
    ("merge", ["o/2/1", "o/2/2"], {}),
    ("pin", ["o/3"], {}),
    ("undo", [], {}),
    ("undo", [], {}),
    ("redo", [], {}),
    ("collapse", ["o/3"], {}),
    ("undo", [], {}),
    ("undo", [], {}),
    ("undo", [], {}),
]


def reading(client: Client, ended: Event) -> list[tuple[int, Any, Any]]:
    """Trees and topics as one visitor sees them, until all is done."""
    seen = []
    while not ended.is_set():
        tree = client.json("tree")
        root = client.json("topic/o")
        seen.append((tree["revision"], tree["topics"], root["sha256"]))
        path = tree["topics"]["path"][-1]
        assert client.get(f"/api/topic/{path}").status_code in (200, 404)
        assert client.get("/api/documents", params={"topic": "o/1"}).status_code == 200
    return seen


def revise(client: Client, path: Path, rounds: int) -> list[Any]:
    """Trees as they should be, one after the other."""
    right = [client.json("tree")]
    for number in range(rounds):
        verb, topics, more = STEPS[number % len(STEPS)]
        if number % 3 == 2:  # the command line, at once
            assert strod(verb, path, *topics, *more.values(), "-q").code == 0
        else:
            client.applied(verb, *topics, **more)
        right.append(client.json("tree"))
    return right


def crowd(client: Client, path: Path, readers: int, rounds: int) -> None:
    ended = Event()
    with ThreadPoolExecutor(readers) as pool:
        found = [pool.submit(reading, client, ended) for _ in range(readers)]
        try:
            right = revise(client, path, rounds)
        finally:
            ended.set()
        seen = [one for some in found for one in some.result()]
    whole = [(one["revision"], one["topics"]) for one in right]
    assert len(seen) >= readers
    for number, topics, _ in seen:
        assert (number, topics) in whole
    assert Workspace(path).check() == []


def test_readers_see_whole_revisions(client: Client, path: Path) -> None:
    crowd(client, path, 6, 10)


@pytest.mark.long
def test_twenty_readers_and_thirty_revisions(client: Client, path: Path) -> None:
    crowd(client, path, 20, 30)
