"""Writes, syncs and renames that fail: a clear error, nothing half there."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import strod
from strod.corpus.spill import SpillWriter
from strod.corpus.texts import TextWriter
from strod.errors import StrodError
from strod.store.arrays import ArrayWriter
from strod.workspace.workspace import Workspace
from tests.chance import long_but
from tests.conftest import check_error, contents, json_lines, names, texts
from tests.conftest import strod as run

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("warm")


@dataclass
class Fault:
    """Lets one call of a function fail, the others pass."""

    function: Callable[..., Any]
    at: int
    number: int = errno.EIO
    calls: int = 0

    def install(self, patch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
        """Put it in place of the function; a function, so that methods get their `self`."""

        def call(*arguments: Any, **more: Any) -> Any:
            self.calls += 1
            if self.calls == self.at:
                raise OSError(self.number, os.strerror(self.number))
            return self.function(*arguments, **more)

        patch.setattr(owner, name, call)


# Where a build touches the disk.
POINTS: dict[str, tuple[Any, str]] = {
    "os.write": (os, "write"),
    "os.fsync": (os, "fsync"),
    "rename": (Path, "rename"),
    "mkdir": (Path, "mkdir"),
    "write_text": (Path, "write_text"),
    "spill": (SpillWriter, "append"),
    "texts": (TextWriter, "append"),
    "array": (ArrayWriter, "append"),
    "np.save": (np, "save"),
    "parquet": (pq, "write_table"),
    "documents": (pq.ParquetWriter, "write_table"),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Some documents."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(*({"text": text, "n": i} for i, text in enumerate(texts(200)))))
    return path


def build(source: Path, target: Path, **more: Any) -> Workspace:
    return strod.build(source, out=target, meta="n", workers=2, **more)


def count_calls(source: Path, target: Path, owner: Any, name: str, **more: Any) -> int:
    """How often an undisturbed build calls a function."""
    fault = Fault(getattr(owner, name), at=0)
    with pytest.MonkeyPatch.context() as patch:
        fault.install(patch, owner, name)
        build(source, target, **more)
    return fault.calls


def spread(calls: int, most: int = 8) -> list[int]:
    """Some calls, always the first and the last."""
    return sorted({1 + (calls - 1) * i // (most - 1) for i in range(most)})


def fail(source: Path, target: Path, point: str, at: int, number: int, **more: Any) -> str:
    """Build with a fault; return the message."""
    owner, name = POINTS[point]
    with pytest.MonkeyPatch.context() as patch:
        Fault(getattr(owner, name), at, number).install(patch, owner, name)
        with pytest.raises(StrodError) as raised:
            build(source, target, **more)
    return str(raised.value)


@pytest.mark.parametrize(
    "number",
    long_but([errno.ENOSPC], [errno.ENOSPC, errno.EIO, errno.EDQUOT]),
    ids=errno.errorcode.get,
)
@pytest.mark.parametrize("point", long_but([*POINTS][1::3], POINTS))
def test_nothing_is_left_behind(source: Path, point: str, number: int) -> None:
    target = source.parent / "w.strod"
    calls = count_calls(source, target, *POINTS[point])
    shutil.rmtree(target)
    assert calls > 0
    for at in spread(calls):
        if point == "os.write" and at == 1:
            continue  # the number of the process in the lock: see below
        message = fail(source, target, point, at, number)
        assert len(message.splitlines()) == 1
        told = "Input/output error" if number == errno.EIO else "the disk is full"
        assert told in message, f"call {at}"
        assert names(source.parent) == ["a.jsonl"], f"call {at}"
    assert build(source, target).check() == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_the_lock_cannot_be_written(source: Path, number: int) -> None:
    """The build may go on without the number of the process in the lock, or end well."""
    target = source.parent / "w.strod"
    with pytest.MonkeyPatch.context() as patch:
        Fault(os.write, 1, number).install(patch, os, "write")
        try:
            build(source, target)
        except StrodError:
            assert names(source.parent) == ["a.jsonl"]
        else:
            assert names(source.parent) == ["a.jsonl", "w.strod"]


@pytest.mark.parametrize("point", long_but([*POINTS][::3], POINTS))
def test_the_old_workspace_stays(source: Path, point: str) -> None:
    target = source.parent / "w.strod"
    build(source, target)
    old = contents(target, without="")
    other = source.parent / "b.jsonl"
    other.write_bytes(json_lines(*({"text": text, "n": 1} for text in texts(90, 1000))))
    spare = source.parent.parent / f"{source.parent.name}-spare.strod"
    shutil.copytree(target, spare)
    calls = count_calls(other, spare, *POINTS[point], overwrite=True)
    shutil.rmtree(spare)
    assert calls > 0
    for at in spread(calls):
        if point == "os.write" and at == 1:
            continue
        fail(other, target, point, at, errno.ENOSPC, overwrite=True)
        assert names(source.parent) == ["a.jsonl", "b.jsonl", "w.strod"], f"call {at}"
        assert contents(target, without="") == old, f"call {at}"
        assert Workspace(target).check() == []
    assert build(other, target, overwrite=True).corpus.documents == 90
    assert names(source.parent) == ["a.jsonl", "b.jsonl", "w.strod"]


@pytest.mark.parametrize(
    ("number", "code", "phrase"),
    [
        (errno.ENOSPC, 1, "the disk is full"),
        (errno.EIO, 1, "Input/output error"),
        (errno.EROFS, 2, "Read-only file system"),
        (errno.EACCES, 2, "Permission denied"),
    ],
)
def test_on_the_command_line(source: Path, number: int, code: int, phrase: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        Fault(os.fsync, 3, number).install(patch, os, "fsync")
        outcome = run("build", source, "--out", source.parent / "w.strod")
    check_error(outcome, phrase, str(source.parent), code=code)
    assert names(source.parent) == ["a.jsonl"]


def test_short_writes(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may take less than it is given."""
    whole = contents(build(source, source.parent / "w.strod").path)
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:1000]))
    assert contents(build(source, source.parent / "v.strod").path) == whole


SIZES = [4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256]


@pytest.mark.parametrize("kilobytes", long_but([8, 48, 128], SIZES))
def test_disks_of_many_sizes(
    source: Path, make_disk: Callable[[int], Path], kilobytes: int
) -> None:
    """Each is full at another place; the workspace is there as a whole or not at all."""
    disk = make_disk(kilobytes)
    target = disk / "w.strod"
    outcome = run("build", source, "--out", target)
    if outcome.code == 0:
        assert names(disk) == ["w.strod"]
        assert Workspace(target).check() == []
    else:
        check_error(outcome, "the disk is full", code=1)
        assert names(disk) == []
