"""Arrays that follow from a workspace, kept beside it: `index/`, which may be deleted at any time.

An array is found by a key that is a digest of all that it was made of, so that none can be
stale; what another revision needs again is still there. It carries a checksum of its own: one
that was damaged is made again. Where nothing can be written, arrays stay in memory.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from strod.store.files import folder_handle, read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["FOLDER", "Derived", "key_of"]

FOLDER = "index"
_ROOM = "arrays"
_SEAL = 32  # bytes of a checksum
_NAME = re.compile(r"[0-9a-f]{32}\.bin(?:\.\d+)?")
SPARE = 3  # times as many arrays as are in use may stay, for other revisions


def key_of(*parts: object) -> str:
    """A digest of what something is made of."""
    return sha256(repr(parts).encode()).hexdigest()[:32]


class Derived:
    """Arrays of 32-bit numbers by key, in memory and on disk.

    Parameters
    ----------
    root : Path
        The workspace.
    most : int
        Bytes that no array of it has.
    """

    def __init__(self, root: Path, most: int) -> None:
        self._root, self._most, self._lock = root, most, Lock()
        self._held: dict[str, NDArray[np.int32]] = {}
        self._wrong: set[str] = set()

    def forget(self, key: str) -> None:
        """Make an array anew whatever the disk says: it is not what it should be."""
        with self._lock:
            self._held.pop(key, None)
            self._wrong.add(key)

    def get(self, key: str) -> NDArray[np.int32] | None:
        """The array of a key, if it was made before and is what was made."""
        found = self._held.get(key)
        if found is None and key in self._wrong:
            return None
        if found is None and (found := self._read(key)) is not None:
            with self._lock:
                self._held[key] = found
        return found

    def _read(self, key: str) -> NDArray[np.int32] | None:
        try:
            data = read_regular(self._root, [FOLDER, _ROOM, f"{key}.bin"], self._most)
        except OSError:
            return None
        if len(data) % 4 or sha256(data[_SEAL:]).digest() != data[:_SEAL]:
            return None
        return np.frombuffer(data, dtype="<i4", offset=_SEAL)

    def put(self, key: str, values: NDArray[np.int32]) -> NDArray[np.int32]:
        """Keep an array; on disk, too, if that can be written."""
        values = np.ascontiguousarray(values, dtype="<i4")
        with self._lock:
            self._held[key] = values
        with suppress(OSError):
            self._write(f"{key}.bin", values.tobytes())
        return values

    def _write(self, name: str, data: bytes) -> None:
        own = f"{name}.{os.getpid()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with folder_handle(self._root, [FOLDER, _ROOM], make=True) as folder:
            try:
                with open(os.open(own, flags, 0o644, dir_fd=folder), "wb") as file:  # noqa: PTH123
                    file.write(sha256(data).digest())
                    file.write(data)
                os.replace(own, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(own, dir_fd=folder)
                raise

    def made(self, key: str, make: Callable[[], NDArray[np.int32]]) -> NDArray[np.int32]:
        """The array of a key, made if it is not there."""
        found = self.get(key)
        return self.put(key, make()) if found is None else found

    def sweep(self, used: Collection[str]) -> None:
        """Forget arrays that are not in use if there are many of them, the oldest first."""
        with self._lock:
            for key in [key for key in self._held if key not in used]:
                del self._held[key]
        with suppress(OSError), folder_handle(self._root, [FOLDER, _ROOM]) as folder:
            kept = {f"{key}.bin" for key in used}
            others = [one for one in os.scandir(folder) if one.name not in kept]
            own = [one for one in others if _NAME.fullmatch(one.name)]
            own.sort(key=lambda one: one.stat(follow_symlinks=False).st_mtime_ns)
            for one in own[: max(len(own) - SPARE * len(kept), 0)]:
                os.unlink(one.name, dir_fd=folder)
