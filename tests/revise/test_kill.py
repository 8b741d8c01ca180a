"""A revision that is killed has happened or has not, and the next one is as if nothing had been."""

from __future__ import annotations

import os
import shutil
import signal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from strod.workspace.workspace import Workspace
from tests.conftest import names
from tests.fault.points import WRITES, Forks, revise
from tests.planted_text import planted_texts
from tests.revise.seen import check_files, check_tree, state_of, topics_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.revise.seen import State


class Verb(NamedTuple):
    """A revision, those that come before it, and at how many points it is killed."""

    name: str
    arguments: list[Any]
    more: dict[str, Any]
    before: list[tuple[str, list[Any]]]
    least: int
    step: int = 1

    def work(self, path: Path) -> dict[str, Any]:
        """The task for a process."""
        task = {"verb": self.name, "arguments": self.arguments, "more": self.more}
        return task | {"path": str(path)}


NEW = [{"id": str(190 + i), "text": text} for i, text in enumerate(planted_texts(20, 3))]
VERBS = {
    "add": Verb("add", [NEW], {"replace": True}, [("collapse", ["o/1"])], 60, 5),
    "expand": Verb("expand", ["o/1", 2], {"fresh": True}, [("merge", ["o/2", "o/3"])], 50, 2),
    "merge": Verb("merge", ["o/1", "o/2"], {}, [("expand", ["o/3", 2])], 40),
    "move": Verb("move", ["o/1/1", "o/2"], {}, [("rename", ["o/1", "x"])], 22, 2),
    "remove": Verb("remove", ["o/1"], {}, [("pin", ["o/1"])], 44),
    "undo": Verb("undo", [], {}, [("merge", ["o/1", "o/2"]), ("move", ["o/4/1", "o/3"])], 10),
}
assert sum(verb.least for verb in VERBS.values()) >= 200


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    process = Forks(tmp_path_factory.mktemp("log"))
    yield process
    process.close()


def same(one: State, other: State) -> bool:
    """Whether two revisions are the same but for the time."""
    return one[:2] == other[:2]


class Killing:
    """A verb, a workspace to carry it out on, and what it looks like before and after."""

    def __init__(self, forks: Forks, planted: Path, folder: Path, verb: Verb) -> None:
        self.forks, self.folder, self.verb = forks, folder, verb
        self.base = shutil.copytree(planted, folder / "base.strod")
        for other, arguments in verb.before:
            revise(self.base, other, arguments)
        self.before = state_of(Workspace(self.base))
        done = shutil.copytree(self.base, folder / "done.strod")
        ended = forks.run(verb.work(done))
        assert ended.code == 0, ended.err
        self.calls = ended.calls
        self.after = state_of(Workspace(done))
        assert not same(self.before, self.after)

    def kill(self, points: list[int], kind: str = "kill") -> list[bool]:
        """Kill it at each of the points, look at what is left; says where it has happened."""
        found = []
        for at, after in pairwise([0, *points, 0]):
            if after:  # the next one is killed while this one is looked at
                path = shutil.copytree(self.base, self.folder / str(after) / "w.strod")
                self.forks.start(self.verb.work(path), after, kind)
            if at:
                path = self.folder / str(at) / "w.strod"
                found.append(check_killed(path, self.verb, self.before, self.after))
                shutil.rmtree(path.parent)
            if after:
                assert self.forks.ended().code == -signal.SIGKILL
        return found


@pytest.fixture
def killing(
    planted: Path, tmp_path: Path, forks: Forks, monkeypatch: pytest.MonkeyPatch, name: str
) -> Killing:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return Killing(forks, planted, tmp_path, VERBS[name])


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("name", VERBS)
def test_kill(killing: Killing) -> None:
    """At the beginning, before and after the manifest is replaced, and at the end."""
    last = len(killing.calls)
    replaced = last - killing.calls[::-1].index("replace")
    assert killing.kill([1, replaced, replaced + 1, last]) == [False, False, True, True]


@pytest.mark.long
@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("name", VERBS)
def test_kill_anywhere(killing: Killing) -> None:
    step, calls = killing.verb.step, killing.calls
    points = [*range(len(calls), 0, -step)][::-1]
    torn = [at for at, call in enumerate(calls, 1) if call in WRITES][::step]
    assert len(points) + len(torn) >= killing.verb.least
    found = killing.kill(points)
    assert found == sorted(found)  # from some point on it has happened
    assert set(found) == {False, True}
    assert not any(killing.kill(torn, "tear"))


def check_killed(path: Path, verb: Verb, before: State, after: State) -> bool:
    """All is well, and the verb can be had if it has not happened; says whether it has."""
    workspace = Workspace(path)
    assert workspace.check() == []
    state = state_of(workspace)
    happened = same(state, after)
    assert happened or state == before
    if happened:
        path_of_one = workspace.tree.root.children[0].path
        workspace.rename(path_of_one, "after the kill")
        assert workspace.tree[path_of_one].label == "after the kill"
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


@pytest.mark.long
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
    ended = forks.run(verb.work(done))
    assert ended.code == 0, ended.err
    lengths = []
    for at in range(1, len(ended.calls) + 1):
        path = shutil.copytree(base, tmp_path / str(at) / "w.strod")
        assert forks.run(verb.work(path), at).code == -signal.SIGKILL
        workspace = Workspace(path)
        lengths.append(len(workspace.history()))
        assert workspace.check() == []
        assert topics_of(workspace.tree) == topics
        workspace.compact(1)
        assert len(workspace.history()) == 1
        check_files(workspace, {})
        shutil.rmtree(path.parent)
    assert set(lengths) == {1, 3}
