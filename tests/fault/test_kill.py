"""A build that is killed leaves no half workspace, and the next one is as if nothing had been."""

from __future__ import annotations

import shutil
import signal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from strod.workspace.workspace import Workspace
from tests.conftest import contents, json_lines, names, strod
from tests.fault.points import WRITES, Forks
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOW = ("new", "overwrite")
STAGES = {"reading", "counting", "mining phrases", "cutting into phrases", "sampling"}
STAGES |= {"learning topics", "placing documents", "ranking phrases"}
PARTS = 4  # so that two processes can share them


class Course(NamedTuple):
    """The calls of a build that nobody disturbs, and which is the first that finds it published."""

    calls: list[str]
    published: int

    @property
    def stages(self) -> list[int]:
        """A call of each stage, and the last ones before and after publishing."""
        begun = [at for at, call in enumerate(self.calls, 1) if call.startswith("stage ")]
        middles = [(one + other) // 2 for one, other in pairwise([*begun, self.published])]
        return [1, *middles, self.published - 1, *self.end]

    @property
    def end(self) -> list[int]:
        """Some calls once it is published: what was there before is removed."""
        last = len(self.calls)
        return sorted({self.published, (self.published + last) // 2, last - 1, last})

    @property
    def turns(self) -> list[int]:
        """Calls that begin or end a row of equal ones; between them nothing new can happen."""
        rows = enumerate(pairwise([*self.calls, ""]), 1)
        ends = [at for at, (one, other) in rows if one != other]
        return sorted({1, *ends, *(at + 1 for at in ends[:-1])})

    def half(self, which: int) -> list[int]:
        """Every other one of the turns, and all once it is published."""
        before = [at for at in self.turns if at < self.published]
        return [*before[which::2], *(at for at in self.turns if at >= self.published)]

    @property
    def writes(self) -> list[int]:
        return [at for at, call in enumerate(self.calls, 1) if call in WRITES]


class Builds(NamedTuple):
    """Sources, what comes out of them, and a process that forks others which build."""

    source: Path
    old: Path  # a workspace of another source
    contents: dict[str, bytes]
    courses: dict[str, Course]
    forks: Forks

    def work(self, target: Path, how: str) -> dict[str, Any]:
        """The command."""
        shape = ["--meta", "n", "--children", "4", "--height", "2", "--workers", "2"]
        more = ["--overwrite"] if how == "overwrite" else []
        return {"command": ["build", str(self.source), "--out", str(target), *shape, *more]}

    def begin(self, folder: Path, how: str) -> Path:
        """Where a build goes, with what is there before it."""
        target = folder / "w.strod"
        if how == "overwrite":
            shutil.copytree(self.old, target)
        else:
            folder.mkdir(parents=True)
        return target


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builds]:
    folder = tmp_path_factory.mktemp("undisturbed")
    log, undisturbed = folder / "log", folder / "undisturbed"
    log.mkdir()
    forks = Forks(log)
    source = folder / "a.jsonl"
    records = [{"id": i, "text": text, "n": i} for i, text in enumerate(planted_texts(200))]
    source.write_bytes(json_lines(*records[:60]))
    builds = Builds(source, folder / "old.strod", {}, {}, forks)
    assert forks.run(builds.work(builds.old, "new")).code == 0
    source.write_bytes(json_lines(*records))
    for how in HOW:
        target = builds.begin(undisturbed / how, how)
        ended = forks.run(builds.work(target, how))
        assert ended.code == 0, ended.err
        assert Workspace(target).check() == []
        assert names(target.parent) == ["w.strod"]
        assert builds.contents in ({}, contents(target))
        builds.contents.update(contents(target))
        last = len(ended.calls) - ended.calls[::-1].index("fsync")  # of the folder it is now in
        builds.courses[how] = Course(ended.calls, last)
        found = {call.removeprefix("stage ") for call in ended.calls if call.startswith("stage ")}
        assert found == STAGES
    yield builds
    forks.close()


def check_killed(builds: Builds, target: Path, how: str, *, published: bool) -> None:
    """There is nothing or everything, and the same command makes it good."""
    aside = target.with_name(f".{target.name}.old")
    if how == "overwrite" and not target.exists():  # between two renames: it is told where it is
        assert not published
        assert contents(aside) == contents(builds.old)
        assert str(aside) in strod("check", target).err
    elif published or how == "overwrite":
        expected = builds.contents if published else contents(builds.old)
        assert contents(target) == expected
        assert strod("check", target).code == 0
    else:
        assert not target.exists()
        assert strod("check", target).code == 2
    if published and how == "new":
        again = builds.forks.run(builds.work(target, how))
        assert (again.code, again.out) == (2, "")
        assert "exists already" in again.err
    else:
        again = builds.forks.run(builds.work(target, how))
        assert again.code == 0, again.err
    assert contents(target) == builds.contents
    assert names(target.parent) == [target.name]
    shutil.rmtree(target.parent)


def kill(builds: Builds, folder: Path, how: str, points: list[int], kind: str = "kill") -> None:
    for at in points:
        target = builds.begin(folder / str(at), how)
        ended = builds.forks.run(builds.work(target, how), at, kind)
        assert ended.code == -signal.SIGKILL, ended.err
        check_killed(builds, target, how, published=at >= builds.courses[how].published)


@pytest.mark.parametrize("how", HOW)
def test_kill(builds: Builds, tmp_path: Path, how: str) -> None:
    course = builds.courses[how]
    kill(builds, tmp_path, how, course.stages if how == "new" else course.end)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("how", HOW)
def test_kill_anywhere(builds: Builds, tmp_path: Path, how: str, part: int) -> None:
    points = builds.courses[how].half(HOW.index(how))
    assert len(points) >= 60
    kill(builds, tmp_path, how, points[part::PARTS])


@pytest.mark.long
@pytest.mark.parametrize("how", HOW)
def test_kill_in_the_middle_of_a_write(builds: Builds, tmp_path: Path, how: str) -> None:
    kill(builds, tmp_path, how, builds.courses[how].writes[::5], "tear")


def interrupt(builds: Builds, folder: Path, how: str, points: list[int], name: str) -> None:
    """A signal ends a build at once, in one line, and nothing is left behind."""
    for at in points:
        target = builds.begin(folder / str(at), how)
        ended = builds.forks.run(builds.work(target, how), at, name)
        assert ended.code == 128 + signal.Signals[name], ended.err
        assert ended.out == ""
        told = [line for line in ended.err.splitlines() if not line.endswith(" s")]
        assert told == ["strod: stopped; nothing is half done"]
        published = at >= builds.courses[how].published
        if published or how == "overwrite":
            assert contents(target) == (builds.contents if published else contents(builds.old))
            assert names(target.parent) == [target.name], f"call {at}"
        else:
            assert names(target.parent) == [], f"call {at}"
        shutil.rmtree(target.parent)


@pytest.mark.parametrize(("name", "how"), [("SIGINT", "new"), ("SIGTERM", "overwrite")])
def test_signals(builds: Builds, tmp_path: Path, name: str, how: str) -> None:
    interrupt(builds, tmp_path, how, builds.courses[how].stages, name)


@pytest.mark.long
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("how", HOW)
def test_signals_anywhere(builds: Builds, tmp_path: Path, name: str, how: str) -> None:
    interrupt(builds, tmp_path, how, builds.courses[how].half(name == "SIGINT"), name)
