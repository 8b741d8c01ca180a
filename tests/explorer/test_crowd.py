"""Many readers while the tree is revised: every answer belongs to one whole revision."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from strod.workspace.workspace import Workspace
from tests.conftest import strod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.explorer.conftest import Client

WORD = "rivera OR stonea"
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


def answers(client: Client, paths: list[str]) -> Iterator[tuple[str, Any]]:
    """What a visitor asks about some topics, by what was asked; None for what is not there."""
    for path in paths:
        answer = client.get(f"/api/topic/{path}")
        assert answer.status_code in (200, 404)
        yield f"topic/{path}", answer.json() if answer.status_code == 200 else None
    yield "documents", client.json("documents", topic="o/3", limit=5)
    yield "search", client.json("search", q=WORD, limit=3)
    yield "slice", client.json("slice", by="venue", level=2)


def reading(client: Client, ended: Event) -> list[tuple[str, Any]]:
    """Answers as one visitor sees them, until all is done."""
    seen = []
    while not ended.is_set():
        tree = client.json("tree")
        seen += [("tree", tree), *answers(client, ["o", tree["topics"]["path"][-1]])]
    return seen


def whole(client: Client) -> tuple[int, dict[str, Any]]:
    """A revision that nobody changes meanwhile: its number, and all answers."""
    tree = client.json("tree")
    return tree["revision"], {"tree": tree, **dict(answers(client, tree["topics"]["path"]))}


def revise(client: Client, path: Path, rounds: int) -> dict[int, dict[str, Any]]:
    """Answers as they should be, by revision; `undo` goes back to one that was there."""
    right = dict([whole(client)])
    for number in range(rounds):
        verb, topics, more = STEPS[number % len(STEPS)]
        if number % 3 == 2:  # the command line, at once
            assert strod(verb, path, *topics, *more.values(), "-q").code == 0
        else:
            client.applied(verb, *topics, **more)
        right |= [whole(client)]
    return right


def crowd(client: Client, path: Path, readers: int, rounds: int) -> None:
    client.json("search", q=WORD)  # makes the index
    ended = Event()
    with ThreadPoolExecutor(readers) as pool:
        found = [pool.submit(reading, client, ended) for _ in range(readers)]
        try:
            right = revise(client, path, rounds)
        finally:
            ended.set()
        seen = [one for some in found for one in some.result()]
    assert len(seen) >= 5 * readers
    for what, answer in seen:
        assert any(some.get(what) == answer for some in right.values()), what
        assert what != "tree" or right[answer["revision"]]["tree"] == answer
    for what in ("tree", "topic/o", "documents", "search", "slice"):  # else nothing is proved
        assert len({str(some[what]) for some in right.values()}) > 1, what
    assert Workspace(path).check() == []


def test_readers_see_whole_revisions(client: Client, path: Path) -> None:
    crowd(client, path, 6, 10)


@pytest.mark.long
def test_twenty_readers_and_thirty_revisions(client: Client, path: Path) -> None:
    crowd(client, path, 20, 30)
