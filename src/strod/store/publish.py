"""Nothing is half there: a workspace is written aside, synced, and renamed into place."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.errors import BusyError, InputError, StrodError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = [
    "ArrayWriter",
    "explained",
    "locked",
    "publish_folder",
    "put_in_place",
    "sync",
    "sync_tree",
    "write_json",
]

_HEADER = 128  # bytes, as numpy writes for one-dimensional arrays
_HERE, _EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux


class ArrayWriter:
    """Writes a one-dimensional ``.npy`` file whose length is not known beforehand."""

    def __init__(self, path: Path, dtype: str) -> None:
        self._dtype = np.dtype(dtype)
        self._file = path.open("wb")
        self._file.write(bytes(_HEADER))
        self.size = 0

    def append(self, values: NDArray[Any]) -> None:
        """Add values at the end."""
        data = np.ascontiguousarray(values, dtype=self._dtype)
        self._file.write(data.data)
        self.size += data.size

    def discard(self) -> None:
        """Close the file of an array that will not be finished."""
        with suppress(OSError):
            self._file.close()

    def close(self) -> None:
        """Write the header."""
        with self._file as file:
            file.seek(0)
            description = {"descr": self._dtype.str, "fortran_order": False, "shape": (self.size,)}
            text = repr(description).ljust(_HEADER - 11).encode("latin-1") + b"\n"
            file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Readable, with keys in a fixed order."""
    text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Wait until a folder and all that is in it is on the disk."""
    for root, _, names in os.walk(folder, topdown=False):
        for name in names:
            sync(Path(root, name))
        sync(Path(root))


def _take(path: Path) -> int:
    """Lock the file `path`; the system frees it when the process ends, however it ends."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "another"
            os.close(descriptor)
            folder = path.with_name(path.name.removeprefix(".").removesuffix(".lock"))
            raise BusyError(
                f"{folder}: process {holder} is writing the same workspace; wait for it"
            ) from None
        os.close(descriptor)  # whoever held it removed the file in the meantime


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold `path`, a file beside the folder that is written."""
    try:
        descriptor = _take(path)
    except OSError as error:
        raise UsageError(f"{path.parent}: cannot be written: {error.strerror}") from error
    try:
        with suppress(OSError):  # the number is a courtesy; a full disk shows itself later
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        with suppress(OSError):  # the lock is on the open file: one that stays locks nobody out
            path.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def publish_folder(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give a folder to write into; it becomes `target` if the block ends well.

    The folder lies beside `target`. What a killed run left there is removed first. If the
    block fails nothing is left behind, and an old `target` stays as it was.
    """
    target = target.resolve()  # a link stays a link to what is replaced
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: no such folder; make it first")
    building = target.parent / f".{target.name}.building"
    with locked(target.parent / f".{target.name}.lock"):
        _recover(target)
        if os.path.lexists(target) and not overwrite:
            raise UsageError(f"{target}: exists already; give another name or --overwrite")
        if os.path.lexists(target) and not (target / "manifest.json").is_file():
            raise UsageError(f"{target}: is not a workspace, so it is not overwritten")
        shutil.rmtree(building, ignore_errors=True)
        try:
            building.mkdir()
            yield building
            sync_tree(building)
            put_in_place(building, target)
        except OSError as error:
            raise explained(error, building) from error
        finally:
            shutil.rmtree(building, ignore_errors=True)


def _exchange(one: Path, other: Path) -> None:
    """Swap two folders in one step, so that neither name is ever without one."""
    swap = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if swap and not swap(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE):
        return
    number = ctypes.get_errno() if swap else errno.ENOSYS
    if number not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
        raise OSError(number, os.strerror(number), str(other))
    # Not this system or not this file system: as close as plain renames get.
    aside = _aside(other)
    other.rename(aside)
    try:
        one.rename(other)
    except OSError:
        aside.rename(other)
        raise
    aside.rename(one)


def _aside(target: Path) -> Path:
    return target.parent / f".{target.name}.old"


def _recover(target: Path) -> None:
    """Put back what a run that was killed between two renames had put aside."""
    if _aside(target).exists():
        if target.exists():
            shutil.rmtree(_aside(target), ignore_errors=True)
        else:
            _aside(target).rename(target)


def put_in_place(building: Path, target: Path) -> None:
    """Rename `building` to `target`; the old `target`, if any, takes its place."""
    move = _exchange if target.exists() else Path.rename
    move(building, target)
    try:
        sync(target.parent)
    except OSError:  # not certain to stay, so it is taken back
        move(target, building)
        raise


def explained(error: OSError, folder: Path) -> StrodError:
    """An error of the system in one line."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        try:
            free = f"{shutil.disk_usage(folder.parent).free / 1e6:,.0f} MB free"
        except OSError:
            free = "none left"
        return StrodError(f"{folder.parent}: the disk is full ({free}); make room and run again")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return InputError(f"{error.filename or folder.parent}: {error.strerror}")
    return StrodError(f"{error.filename or folder.parent}: {error.strerror or error}")
