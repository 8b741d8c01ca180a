"""Killed or out of room while the index is made: the next answer is right, the workspace whole."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from strod.query.derived import FOLDER
from strod.workspace.workspace import Workspace
from tests.chance import long_but
from tests.conftest import contents
from tests.query.recount import drawn_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Asker = Callable[..., tuple[int, list[Any]]]

STEP = 8  # every such touch of the disk in one test; the long ones have the others


@pytest.fixture(scope="module")
def ask() -> Iterator[Asker]:
    """Exit code and words of a process that asks."""
    command = [sys.executable, "-m", "tests.query.killed"]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        told, heard = process.stdin, process.stdout

        def asking(path: Path, at: int = 0, size: int = 0, spoiled: str = "") -> tuple[int, Any]:
            job = {"path": str(path), "at": at, "size": size, "spoiled": spoiled}
            print(json.dumps(job), file=told, flush=True)
            code, words = json.loads(heard.readline())
            return code, words

        yield asking
        told.close()


def own(path: Path) -> dict[str, bytes]:
    """The files of a workspace without its index."""
    return {name: data for name, data in contents(path).items() if not name.startswith(FOLDER)}


def changed(path: Path) -> None:
    """New documents and new topics: most of an index stays, some is to be made."""
    workspace = Workspace(path)
    new = drawn_records(20, 7)
    workspace.add([record | {"id": f"new-{record['id']}"} for record in new])
    workspace.expand("o/1", children=2)


@pytest.fixture(params=["made", "refreshed"])
def path(kept: Path, tmp_path: Path, request: pytest.FixtureRequest, ask: Asker) -> Path:
    """A workspace without an index, or with one from before it was changed."""
    target = shutil.copytree(kept, tmp_path / "w.strod", ignore=shutil.ignore_patterns(FOLDER))
    if request.param == "refreshed":
        assert ask(target)[0] == 0
        changed(target)
    return target


class Restored:
    """A workspace that can be given back the index that it had."""

    def __init__(self, path: Path) -> None:
        self._index, self._copy = path / FOLDER, path.parent / "copy"
        self._there = self._index.is_dir()
        if self._there:
            shutil.copytree(self._index, self._copy)

    def __call__(self) -> None:
        shutil.rmtree(self._index, ignore_errors=True)
        if self._there:
            shutil.copytree(self._copy, self._index)


@pytest.mark.parametrize("part", long_but([0], range(STEP)))
def test_killed_meanwhile(path: Path, part: int, ask: Asker) -> None:
    before, restore = own(path), Restored(path)
    code, wanted = ask(path)
    assert code == 0
    touched = wanted[2]
    assert touched > 20
    for at in range(1 + part, touched + 1, STEP):
        restore()
        code, _ = ask(path, at)
        assert code == -signal.SIGKILL
        code, found = ask(path)
        assert (at, code, found[:2]) == (at, 0, wanted[:2])
    assert own(path) == before
    assert Workspace(path).check() == []


@pytest.mark.parametrize("size", [1, 100, 3000, 20_000])
def test_out_of_room(path: Path, size: int, ask: Asker) -> None:
    before, restore = own(path), Restored(path)
    _, wanted = ask(path)
    restore()
    code, found = ask(path, size=size)
    assert code == 0
    assert found[:2] == wanted[:2] or (found[0].endswith("Error") and found[1] == 0)
    assert own(path) == before
    assert ask(path)[1][:2] == wanted[:2]


@pytest.mark.parametrize("part", long_but([0], range(STEP)))
def test_deleted_meanwhile(path: Path, part: int, ask: Asker) -> None:
    before, restore = own(path), Restored(path)
    _, wanted = ask(path)
    for at in range(1 + part, wanted[2] + 1, STEP):
        restore()
        code, found = ask(path, at, 0, FOLDER)
        assert (at, code, found[:2]) == (at, 0, wanted[:2])
    assert own(path) == before


def test_readers_while_it_is_made_again(path: Path) -> None:
    wanted = Workspace(path).search("riveroaka").total
    rows = Workspace(path).slice("year").num_rows
    found: list[tuple[int, int]] = []

    def read() -> None:
        for _ in range(5):
            workspace = Workspace(path)
            found.append((workspace.search("riveroaka").total, workspace.slice("year").num_rows))

    def spoil() -> None:
        for _ in range(10):
            shutil.rmtree(path / FOLDER, ignore_errors=True)

    threads = [threading.Thread(target=act) for act in (read, spoil, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(wanted, rows)] * 10


def written(workspace: Workspace, answer: Callable[[Workspace], Any]) -> dict[int, Any]:
    """Change a workspace several times; the right answers by revision."""
    right = {}
    for number in range(6):
        right[workspace.snapshot.revision] = answer(workspace)
        if number % 2:
            workspace.expand("o/1", children=2 + number // 2)
        else:
            new = drawn_records(5, 20 + number)
            workspace.add([one | {"id": f"{number}-{one['id']}"} for one in new])
    right[workspace.snapshot.revision] = answer(workspace)
    return right


def test_readers_while_it_is_refreshed(kept: Path, tmp_path: Path) -> None:
    """Each answer is that of the revision that was open, whatever others do meanwhile."""
    path = shutil.copytree(kept, tmp_path / "w.strod", ignore=shutil.ignore_patterns(FOLDER))
    found: list[tuple[int, tuple[Any, ...]]] = []
    done = threading.Event()

    def answer(workspace: Workspace) -> tuple[Any, ...]:
        hits = workspace.search("riveroaka OR cloudf", limit=3)
        return hits.total, hits.topics.to_pylist(), workspace.slice(["year"]).to_pylist()

    def read() -> None:
        while not done.is_set():
            workspace = Workspace(path)
            found.append((workspace.snapshot.revision, answer(workspace)))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        right = written(Workspace(path), answer)
    finally:
        done.set()
    for reader in readers:
        reader.join()
    assert found
    assert all(right[revision] == one for revision, one in found)
