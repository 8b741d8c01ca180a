"""Writes, syncs and renames that fail: a clear error, and the tree is the one it was."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from strod.errors import StrodError
from strod.workspace.workspace import Workspace
from tests.chance import long_but
from tests.conftest import check_error, names
from tests.conftest import strod as run
from tests.fault.points import Points, revise
from tests.revise.seen import check_files, state_of
from tests.revise.test_kill import VERBS, same

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.revise.test_kill import Verb

pytestmark = [
    pytest.mark.usefixtures("warm"),
    # Files of a decomposition that cannot be written are closed late: there is a report.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def attempt(path: Path, verb: Verb, points: Points) -> str | None:
    """Carry out a verb with trouble; gives the message of the error, if there was one."""
    with pytest.MonkeyPatch.context() as patch:
        points.install(patch.setattr)
        try:
            revise(path, verb.name, verb.arguments, **verb.more)
        except StrodError as error:
            return str(error)
    return None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
@pytest.mark.parametrize("name", long_but(["undo"], ["expand", "merge", "undo"]))
def test_the_old_tree_stays(planted: Path, tmp_path: Path, name: str, number: int) -> None:
    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    verb = VERBS[name]
    base = shutil.copytree(planted, tmp_path / "base.strod")
    for other, arguments in verb.before:
        revise(base, other, arguments)
    before = state_of(Workspace(base))
    done = shutil.copytree(base, tmp_path / "done.strod")
    points = Points(0, fail)
    assert attempt(done, verb, points) is None
    calls, after = points.calls, state_of(Workspace(done))
    published = max(at for at, call in enumerate(calls, 1) if call == "replace")
    told = "Input/output error" if number == errno.EIO else "the disk is full"
    for at in range(1, len(calls)):  # the last call removes the lock: there is a report
        path = shutil.copytree(base, tmp_path / "w" / "w.strod")
        message = attempt(path, verb, Points(at, fail))
        workspace = Workspace(path)
        assert workspace.check() == []
        assert names(path.parent) == ["w.strod"]
        happened = same(state_of(workspace), after)
        if message is not None:
            assert len(message.splitlines()) == 1
            assert told in message
            assert not happened
        assert happened or state_of(workspace) == before
        if at == published:  # everything but the manifest is in place
            assert not happened
            revise(path, verb.name, verb.arguments, **verb.more)
            workspace.refresh()
            assert same(state_of(workspace), after)
            check_files(workspace, {})
        shutil.rmtree(path.parent)


@pytest.mark.parametrize(
    "kilobytes", long_but([0, 36, 80], [0, 4, 12, 20, 28, 36, 44, 52, 60, 80, 100, 140])
)
def test_disks_of_many_sizes(
    planted: Path, make_disk: Callable[[int], Path], kilobytes: int
) -> None:
    """Each has so much room beside the workspace and is full at another place."""
    disk = make_disk(2048)
    if not disk.is_mount():
        pytest.skip("no right to make a small disk")
    path = shutil.copytree(planted, disk / "w.strod")
    filler = disk / "filler"
    filler.write_bytes(bytes(max(shutil.disk_usage(disk).free - (kilobytes << 10), 0)))
    before = state_of(Workspace(path))
    outcome = run("expand", path, "o/1", "--children", 2, "--fresh")
    workspace = Workspace(path)
    assert workspace.check() == []
    assert names(disk) == ["filler", "w.strod"]
    if outcome.code:
        check_error(outcome, "the disk is full", code=1)
        assert state_of(workspace) == before
        filler.unlink()
        assert run("expand", path, "o/1", "--children", 2, "--fresh").code == 0
    workspace.refresh()
    assert len(workspace.tree["o/1"].children) == 2
    assert workspace.check() == []
