"""A revision that is killed has happened or has not, and the next one is as if nothing had been."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from strod.workspace import Workspace
from tests.conftest import names
from tests.planted_text import planted_texts
from tests.revise.points import revise
from tests.revise.seen import check_files, check_tree, state_of, topics_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.revise.seen import State

WRITES = {"save", "write_text", "append"}


class Verb(NamedTuple):
    """A revision, those that come before it, and at how many points it is killed."""

    name: str
    arguments: list[Any]
    more: dict[str, Any]
    before: list[tuple[str, list[Any]]]
    least: int
    step: int = 1


NEW = [{"id": str(190 + i), "text": text} for i, text in enumerate(planted_texts(20, 3))]
VERBS = {
    "add": Verb("add", [NEW], {"replace": True}, [("collapse", ["o/1"])], 60, 5),
    "expand": Verb("expand", ["o/1", 2], {"fresh": True}, [("merge", ["o/2", "o/3"])], 50, 2),
    "merge": Verb("merge", ["o/1", "o/2"], {}, [("expand", ["o/3", 2])], 40),
    "move": Verb("move", ["o/1/1", "o/2"], {}, [("rename", ["o/1", "x"])], 22, 2),
    "remove": Verb("remove", ["o/1"], {}, [("pin", ["o/1"])], 44),
    "undo": Verb("undo", [], {}, [("merge", ["o/1", "o/2"]), ("move", ["o/1/1", "o/2"])], 10),
}
assert sum(verb.least for verb in VERBS.values()) >= 200


class Forks:
    """A process that forks another for each task."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.revise.points"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )

    def start(self, path: Path, verb: Verb, at: int, *, torn: bool = False) -> None:
        """Carry out a verb that is killed at a point."""
        task = {"path": str(path), "at": at, "torn": torn}
        task |= {"verb": verb.name, "arguments": verb.arguments, "more": verb.more}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()

    def ended(self) -> int:
        """The code that the oldest one ended with."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    process = Forks()
    yield process
    process.close()


def same(one: State, other: State) -> bool:
    """Whether two revisions are the same but for the time."""
    return one[:2] == other[:2]


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("name", VERBS)
def test_kill(
    planted: Path, tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    verb = VERBS[name]
    base = shutil.copytree(planted, tmp_path / "base.strod")
    for other, arguments in verb.before:
        revise(base, other, arguments)
    before = state_of(Workspace(base))
    done = shutil.copytree(base, tmp_path / "done.strod")
    forks.start(done, verb, 0)
    assert forks.ended() == 0
    after = state_of(Workspace(done))
    assert not same(before, after)
    calls = json.loads(Path(f"{done}.calls").read_text())
    points = [(at, False) for at in range(len(calls), 0, -verb.step)][::-1]
    whole = len(points)
    torn_at = [at for at, call in enumerate(calls, 1) if call in WRITES]
    points += [(at, True) for at in torn_at[:: verb.step]]
    assert len(points) >= verb.least
    found = []
    paths = [tmp_path / f"{number}" / "w.strod" for number in range(len(points))]
    for number in range(len(points) + 1):
        if number < len(points):  # the next one is killed while this one is looked at
            at, torn = points[number]
            forks.start(shutil.copytree(base, paths[number]), verb, at, torn=torn)
        if number:
            found.append(check_killed(paths[number - 1], verb, before, after))
            shutil.rmtree(paths[number - 1].parent)
        if number < len(points):
            assert forks.ended() == -signal.SIGKILL
    assert found[:whole] == sorted(found[:whole])  # from some point on it has happened
    assert set(found[:whole]) == {False, True}
    assert not any(found[whole:])


def check_killed(path: Path, verb: Verb, before: State, after: State) -> bool:
    """All is well, and the verb can be had if it has not happened; says whether it has."""
    workspace = Workspace(path)
    assert workspace.check() == []
    state = state_of(workspace)
    happened = same(state, after)
    assert happened or state == before
    if happened:
        workspace.rename("o/1", "after the kill")
        assert workspace.tree["o/1"].label == "after the kill"
    else:
        revise(path, verb.name, verb.arguments, **verb.more)
        workspace.refresh()
        assert same(state_of(workspace), after)
    if verb.name != "add":  # topics keep their weights whatever is added
        check_tree(workspace)
    check_files(workspace, {})
    assert workspace.check() == []
    assert names(path.parent) == [path.name]
    return happened


@pytest.mark.usefixtures("warm")
def test_a_compaction_that_is_killed_loses_nothing(
    planted: Path, tmp_path: Path, forks: Forks
) -> None:
    base = shutil.copytree(planted, tmp_path / "base.strod")
    for other, arguments in (("expand", ["o/1", 2]), ("collapse", ["o/1"]), ("undo", [])):
        revise(base, other, arguments)
    topics = topics_of(Workspace(base).tree)
    verb = Verb("compact", [1], {}, [], 0)
    done = shutil.copytree(base, tmp_path / "done.strod")
    forks.start(done, verb, 0)
    assert forks.ended() == 0
    calls = json.loads(Path(f"{done}.calls").read_text())
    lengths = []
    for at in range(1, len(calls) + 1):
        path = shutil.copytree(base, tmp_path / str(at) / "w.strod")
        forks.start(path, verb, at)
        assert forks.ended() == -signal.SIGKILL
        workspace = Workspace(path)
        lengths.append(len(workspace.history()))
        assert workspace.check() == []
        assert topics_of(workspace.tree) == topics
        workspace.compact(1)
        assert len(workspace.history()) == 1
        check_files(workspace, {})
        shutil.rmtree(path.parent)
    assert set(lengths) == {1, 3}
