"""Opening the files of a workspace: by name, never through a link, and only what was written.

A workspace may come from a stranger or from a disk that lost a bit. A file is opened if its name
has the form of a name of a workspace, if every folder on the way is a folder and the file a
regular one, and if its size and checksum are those of the manifest. The checksum is compared
once in a process, as long as the file stays the same.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, get_args

import orjson

from strod.errors import DamagedError
from strod.store.schema import FileName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from strod.store.schema import FileRecord

__all__ = [
    "NOT_THE_FILE",
    "UNBOUND",
    "Files",
    "digest_of",
    "folder_handle",
    "is_derived",
    "is_name",
    "read_given",
    "read_regular",
    "read_small",
]

_CHUNK = 1 << 20
UNBOUND = 1 << 53
_SMALL = 64 << 20  # bytes of a manifest or a report
_PATTERN = re.compile(str(get_args(FileName)[1].pattern))
_DERIVED = re.compile(r"index/(?:arrays/[0-9a-f]{32}\.bin(?:\.\d+)?|text/[\w.-]+(?:/[\w.-]+)*)")
_PLAIN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

# What is wrong with the process or the person, not with the file.
NOT_THE_FILE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM)

_Identity = tuple[int, int, int, int, int]
_compared: dict[tuple[_Identity, str], None] = {}
_lock = Lock()


def is_name(name: str) -> bool:
    """Whether a file of a workspace may have this name."""
    return _PATTERN.match(name) is not None


def is_derived(name: str) -> bool:
    """Whether a file may be one of the index, which follows from the others."""
    return _DERIVED.fullmatch(name) is not None


def digest_of(file: BinaryIO) -> tuple[int, str]:
    """Size and SHA-256 of what is left of a file."""
    value, size = sha256(), 0
    while data := file.read(_CHUNK):
        value.update(data)
        size += len(data)
    return size, value.hexdigest()


@contextmanager
def folder_handle(root: Path, steps: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A handle of the folder at the end of some steps, none of which is a link."""
    folder = os.open(root, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        for step in steps:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(step, dir_fd=folder)
            below = os.open(step, _PLAIN | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _opened(root: Path, steps: list[str]) -> BinaryIO:
    """The regular file at the end of some steps, none of which is a link."""
    with folder_handle(root, steps[:-1]) as folder:
        # A pipe or a device is not even opened; what replaces the file meanwhile is seen below.
        if not stat.S_ISREG(os.stat(steps[-1], dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(0, "is no regular file")
        file = os.fdopen(os.open(steps[-1], _PLAIN, dir_fd=folder), "rb", buffering=0)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(0, "is no regular file")
    return file


def read_small(root: Path, name: str) -> bytes:
    """The bytes of the manifest or the report."""
    with _opened(root, [name]) as file:
        if os.fstat(file.fileno()).st_size > _SMALL:
            raise DamagedError("is larger than strod writes", file=root / name)
        return file.read()


def read_regular(root: Path, steps: Sequence[str], most: int) -> bytes:
    """The bytes of a regular file that no link leads to, and that has no more than `most`."""
    with _opened(root, list(steps)) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, "is larger than strod writes")
        return file.read()


def read_given(path: Path) -> bytes:
    """A small file that a person has named, behind a link too: no pipe, and no end of zeros."""
    why = "it is no regular file"
    if stat.S_ISREG(path.stat().st_mode):
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            data = file.read(_SMALL + 1)
        if len(data) <= _SMALL:
            return data
        why = f"it has more than {_SMALL >> 20} MB"
    raise OSError(errno.EINVAL, why, str(path))


@dataclass(frozen=True)
class Files:
    """The files of a workspace.

    Parameters
    ----------
    root : Path
        The folder.
    digests : mapping of FileRecord, optional
        What was written, by name. None while a workspace is being written.
    """

    root: Path
    digests: Mapping[str, FileRecord] | None = field(default=None, repr=False)

    def path(self, name: str) -> Path:
        """Where a file is, for messages."""
        return self.root / name

    @property
    def size(self) -> int:
        """Bytes of all files together; without bound while a workspace is being written."""
        return UNBOUND if self.digests is None else sum(d.bytes for d in self.digests.values())

    def has(self, name: str) -> bool:
        """Whether a file was written, or, while a workspace is being written, is there."""
        return (self.root / name).is_file() if self.digests is None else name in self.digests

    def open(self, name: str) -> BinaryIO:
        """A file that is what was written, at its beginning."""
        if not is_name(name):
            raise DamagedError(f"{name!r} is no name of a file", file=self.root)
        try:
            file = _opened(self.root, name.split("/"))
        except FileNotFoundError:
            raise DamagedError("is missing", file=self.path(name)) from None
        except OSError as error:
            if error.errno in NOT_THE_FILE:
                raise OSError(error.errno, error.strerror, str(self.path(name))) from error
            why = error.strerror or error
            raise DamagedError(f"cannot be read ({why})", file=self.path(name)) from error
        try:
            self._compare(file, name)
        except BaseException:
            file.close()
            raise
        return file

    def _compare(self, file: BinaryIO, name: str) -> None:
        if self.digests is None:
            return
        about = os.fstat(file.fileno())
        wanted = self.digests.get(name)
        if wanted is None:
            raise DamagedError("is not in the manifest", file=self.path(name))
        if about.st_size != wanted.bytes:
            sizes = f"has {about.st_size} bytes, not {wanted.bytes}"
            raise DamagedError(f"{sizes}", file=self.path(name))
        identity = about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
        if (identity, wanted.sha256) in _compared:
            return
        if digest_of(file) != (wanted.bytes, wanted.sha256):
            raise self._changed(name)
        file.seek(0)
        with _lock:
            _compared[identity, wanted.sha256] = None

    def _changed(self, name: str) -> DamagedError:
        return DamagedError("has changed since it was written", file=self.path(name))

    def mapped(self, name: str) -> mmap.mmap | bytes:
        """The bytes of a file, mapped into memory."""
        with self.open(name) as file:
            if not os.fstat(file.fileno()).st_size:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def json(self, name: str) -> dict[str, Any]:
        """An object of a JSON file."""
        with self.open(name) as file:
            content = file.read()
        try:
            found = orjson.loads(content)
        except ValueError as error:
            raise DamagedError(f"cannot be read ({error})", file=self.path(name)) from error
        if not isinstance(found, dict):
            raise DamagedError("is no object", file=self.path(name))
        return found
