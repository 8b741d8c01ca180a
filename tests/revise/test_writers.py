"""One writes, many read: a reader sees one revision, whole."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from strod.errors import BusyError
from strod.store.change import Staging
from strod.workspace.workspace import Workspace
from tests.conftest import check_error, names
from tests.conftest import strod as run
from tests.revise.seen import check_files, files_of, fingerprint, topics_of

if TYPE_CHECKING:
    from pathlib import Path

HOLDER = """
import sys
from pathlib import Path
from strod.store.change import Staging

staging = Staging(Path(sys.argv[1]), dry_run=False)
assert staging.folder.is_dir()
print("held", flush=True)
sys.stdin.read()
staging.__exit__()
"""


def lock_of(workspace: Workspace) -> Path:
    return workspace.path.parent / f".{workspace.path.name}.lock"


def test_a_second_writer_is_told_who_the_first_is(workspace: Workspace) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(workspace.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        before = files_of(workspace)
        with pytest.raises(BusyError, match=rf"w\.strod: process {holder.pid} is writing"):
            workspace.rename("o/1", "x")
        assert workspace.rename("o/1", "x", dry_run=True).changed  # only looks
        outcome = run("merge", workspace.path, "o/1", "o/2")
        check_error(outcome, f"process {holder.pid} is writing", "wait", code=1)
        assert files_of(workspace) == before
        assert workspace.check() == []  # whoever reads is not kept waiting
        assert len(Workspace(workspace.path).tree.shares()) == 13
    workspace.rename("o/1", "x")
    check_files(workspace, {})


def test_a_thread_is_a_second_writer_too(workspace: Workspace) -> None:
    with Staging(workspace.path, dry_run=False) as staging:
        assert staging.folder.is_dir()
        with pytest.raises(BusyError, match=f"process {os.getpid()} is writing"):
            Workspace(workspace.path).collapse("o/1")
    workspace.collapse("o/1")
    assert names(workspace.path.parent) == ["w.strod"]


@pytest.mark.parametrize("content", ["", "1\n", "999999999\n"])
def test_a_stale_lock_is_no_obstacle(workspace: Workspace, content: str) -> None:
    lock_of(workspace).write_text(content)
    workspace.rename("o/1", "x")
    assert names(workspace.path.parent) == ["w.strod"]
    assert workspace.tree["o/1"].label == "x"


def test_leftovers_of_a_killed_writer_are_no_obstacle(workspace: Workspace) -> None:
    folder = workspace.path / ".change" / "tree" / "splits" / "o"
    folder.mkdir(parents=True)
    (folder / "fine.npy").write_bytes(b"half")
    stray = workspace.path / "tree" / "revisions" / "00002.json"
    stray.write_text("{")
    (workspace.path / "tree" / "words" / "o-0123456789ab.npy").write_bytes(b"half")
    assert workspace.check() == []
    workspace.rename("o/1", "x")
    check_files(workspace, {})
    assert not (workspace.path / ".change").exists()


# Opens the workspace again and again, notes which revisions it has seen and what they were.
READER = """
import sys, time
from pathlib import Path
from strod.workspace.workspace import Workspace
from tests.revise.seen import check_tree, fingerprint, topics_of

path, stop, notes = map(Path, sys.argv[1:])
print("ready", flush=True)
seen = set()
with notes.open("w") as file:
    while not stop.exists():
        workspace = Workspace(path)
        check_tree(workspace)  # compares every topic with its checksum
        number = workspace.manifest.tree.history[-1]
        one = f"{number} {fingerprint(topics_of(workspace.tree))}"
        if one not in seen:
            print(one, file=file, flush=True)
        seen.add(one)
        time.sleep(0.02)  # leaves the processor to the writer; nothing depends on it
"""


@pytest.mark.parametrize(
    ("readers", "revisions"), [(2, 12), pytest.param(8, 99, marks=pytest.mark.long)]
)
def test_readers_see_whole_revisions(
    workspace: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    readers: int,
    revisions: int,
) -> None:
    """The writer goes on until readers have seen a sixth of so many revisions."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    stop = tmp_path / "stop"
    notes = [tmp_path / f"{number}.seen" for number in range(readers)]
    written: dict[int, str] = {}

    def note() -> None:
        number = workspace.manifest.tree.history[-1]
        found = fingerprint(topics_of(workspace.tree))
        assert written.setdefault(number, found) == found

    def seen() -> set[str]:
        return {line for path in notes if path.exists() for line in path.read_text().splitlines()}

    command = [sys.executable, "-c", READER, str(workspace.path), str(stop)]
    processes = [
        subprocess.Popen(
            [*command, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for path in notes
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        note()
        turn = 0
        while len(seen()) <= revisions / 6 or 3 * turn < revisions:
            assert [process.poll() for process in processes] == [None] * readers
            workspace.rename("o/2", f"turn {turn}")
            note()
            pair = [("o/1", "o/3"), ("o/1/1", "o/1/2"), ("o/2", "o/3")][turn % 3]
            workspace.merge(*pair, workers=1)
            note()
            workspace.undo()
            note()
            turn += 1
    finally:
        stop.touch()
        errors = [process.communicate(timeout=300)[1] for process in processes]
    assert errors == [""] * readers
    assert seen() <= {f"{number} {found}" for number, found in written.items()}
    assert workspace.check() == []
