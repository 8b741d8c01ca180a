"""Files of tests are kept in memory where there is room: a disk takes longer than most tests."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["folder_in_memory"]

SHARED = Path("/dev/shm")
ROOM = 2 << 30  # bytes that must be free there; a run holds a tenth of it
SPARE = 2 << 30  # and that the machine can spare besides
PREFIX = "strod-tests-"


def _has_room(place: Path) -> bool:
    """Whether this is a file system in memory that tests can fill."""
    try:
        found = os.statvfs(place)
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
        memory = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        return False
    available = re.search(r"^MemAvailable:\s+(\d+) kB", memory, re.MULTILINE)
    return (
        f" {place} tmpfs " in mounts
        and os.access(place, os.W_OK | os.X_OK)
        and found.f_bavail * found.f_frsize >= ROOM
        and available is not None
        and int(available[1]) << 10 >= ROOM + SPARE
    )


def _held(folder: Path) -> int | None:
    """The lock of a folder, which goes with the process; nothing if another one has it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _remove_left(place: Path) -> None:
    """Remove what runs left that were killed: nobody holds it any more."""
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = _held(folder) if folder.stat().st_uid == os.geteuid() else None
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


@contextmanager
def folder_in_memory(place: Path = SHARED) -> Iterator[Path | None]:
    """A folder that is gone at the end, or nothing where there is no room for it."""
    if not _has_room(place):
        yield None
        return
    door = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(door, fcntl.LOCK_EX)  # nobody takes a folder for left before it is held
        _remove_left(place)
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        lock = _held(folder)
    finally:
        os.close(door)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)
