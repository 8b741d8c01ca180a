"""Nothing is half there: a workspace is written aside, synced, and renamed into place."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strod.errors import BusyError, InputError, StrodError, UsageError
from strod.store.files import is_derived, is_name
from strod.store.manifest import NAME, REPORT, file_digests, finished, is_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strod.store.schema import FileRecord, Manifest

__all__ = [
    "CHANGE",
    "Draft",
    "explained",
    "locked",
    "publish_folder",
    "put_in_place",
    "sync",
    "sync_tree",
    "tidied",
    "write_json",
]

MARK = ".strod-building"  # a folder that holds it was made by a build that did not end
CHANGE = ".change"  # where a verb writes before it publishes
FOLDERS = ("corpus", "phrases", "tree", "index", CHANGE)
_HOLDER = re.compile(rb"(?:\d{1,20}\n)?\Z")


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


def _open_lock(path: Path) -> int:
    """The lock file, which is nobody else's file: not a link, a pipe, or one with other content."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise UsageError(f"{path}: is not a lock file of strod; move it away")
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags, 0o600)
    about = os.fstat(descriptor)
    own = stat.S_ISREG(about.st_mode) and about.st_nlink <= 1
    if not own or not _HOLDER.match(os.pread(descriptor, 64, 0)):
        os.close(descriptor)
        raise UsageError(f"{path}: is not a lock file of strod; move it away")
    return descriptor


def _take(path: Path) -> int:
    """Lock the file `path`; the system frees it when the process ends, however it ends."""
    while True:
        descriptor = _open_lock(path)
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
def tidied(tidy: Callable[[], None]) -> Iterator[None]:
    """Tidy up when the block ends, however it ends.

    A signal that comes meanwhile would leave half of it: then it is done once more, from the
    beginning, before the signal has its way.
    """
    try:
        yield
    finally:
        try:
            tidy()
        except BaseException:
            tidy()
            raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold `path`, a file beside the folder that is written."""
    try:
        descriptor = _take(path)
    except OSError as error:
        raise UsageError(f"{path.parent}: cannot be written: {error.strerror}") from error

    def unlock() -> None:
        with suppress(OSError):  # the lock is on the open file: one that stays locks nobody out
            if os.path.samestat(os.fstat(descriptor), path.stat()):  # not that of the next one
                path.unlink()

    try:
        with tidied(unlock):
            with suppress(OSError):  # the number is a courtesy; a full disk shows itself later
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"{os.getpid()}\n".encode())
            yield
    finally:
        os.close(descriptor)


class Draft:
    """A folder whose files will be those of a workspace.

    Attributes
    ----------
    folder : Path
        Where they are written, under the names they will have.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def digests(self, workers: int = 1) -> dict[str, FileRecord]:
        """Size and checksum of every file that was written."""
        found = (path for path in self.folder.rglob("*") if path.is_file())
        names = (path.relative_to(self.folder).as_posix() for path in found)
        return file_digests(self.folder, sorted(name for name in names if is_name(name)), workers)

    def seal(self, manifest: Manifest, workers: int = 1) -> None:
        """Write the manifest of a workspace that is all in this folder."""
        content = finished(manifest, self.digests(workers))
        write_json(self.folder / NAME, content)


@contextmanager
def publish_folder(target: Path, *, overwrite: bool = False) -> Iterator[Draft]:
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
        _check_free(target, overwrite=overwrite)
        _remove(building)
        with tidied(lambda: _discard(building)):
            try:
                building.mkdir()
                (building / MARK).touch()
                yield Draft(building)
                (building / MARK).unlink()
                sync_tree(building)
                put_in_place(building, target)
            except OSError as error:
                raise explained(error, building) from error


def _check_free(target: Path, *, overwrite: bool) -> None:
    """Refuse to replace anything but a workspace and what strod wrote there."""
    if not os.path.lexists(target):
        return
    if not overwrite:
        raise UsageError(f"{target}: exists already; give another name or `overwrite`")
    if not (is_workspace(target) or (target / "corpus" / "lexicon.parquet").is_file()):
        raise UsageError(f"{target}: is not a workspace, so it is not overwritten")
    foreign = _foreign(target)
    if foreign is not None:
        raise UsageError(f"{target}: holds {foreign}, which strod did not write; move it away")
    _remove(_aside(target))  # where it is put while another takes its place


def _foreign(workspace: Path) -> str | None:
    """A file, link or folder in a workspace that is none of its own."""
    for folder, folders, names in os.walk(workspace):
        where = Path(folder).relative_to(workspace)
        for name in sorted(names):
            full = (where / name).as_posix()
            own = full in (NAME, REPORT) or is_name(full) or is_derived(full)
            if not own and where.parts[:1] != (CHANGE,):  # a verb that was killed leaves its files
                return full
        for name in folders:
            inside = where / name
            if (workspace / inside).is_symlink() or inside.parts[0] not in FOLDERS:
                return inside.as_posix()
    return None


def _aside(target: Path) -> Path:
    return target.parent / f".{target.name}.old"


def _is_own(folder: Path) -> bool:
    """Whether a folder beside the target is one that a build left behind."""
    real = folder.is_dir() and not folder.is_symlink()
    whole = real and is_workspace(folder) and _foreign(folder) is None
    return whole or (real and (folder / MARK).is_file())


def _discard(folder: Path) -> None:
    """Remove a folder of ours, as far as that can be done.

    What tells that it is one goes last, so that the next run knows what one that was killed left.
    """
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name not in (NAME, MARK):
                path.unlink()
    shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path) -> None:
    """Remove what a build left behind; what is somebody else's is not touched."""
    if not os.path.lexists(folder):
        return
    real = folder.is_dir() and not folder.is_symlink()
    if not real or (not _is_own(folder) and any(folder.iterdir())):
        raise UsageError(f"{folder}: was not left by strod; move it away")
    _discard(folder)
    if folder.exists():
        shutil.rmtree(folder)  # says what is in the way


def _recover(target: Path) -> None:
    """Put back what a run that was killed between two renames had put aside."""
    if not _is_own(_aside(target)):
        return
    if target.exists():
        _discard(_aside(target))
    else:
        _aside(target).rename(target)


def put_in_place(building: Path, target: Path) -> None:
    """Rename `building` to `target`; an old `target` is put aside first and then removed."""
    aside = _aside(target)
    replaces = target.exists()
    if replaces:
        target.rename(aside)
    try:
        building.rename(target)
    except BaseException:  # a signal, too, leaves one of the two in place
        if replaces and not target.exists():
            aside.rename(target)
        raise
    with tidied(lambda: _forget(aside, target) if replaces else None):
        try:
            sync(target.parent)
        except OSError:  # not certain to stay, so it is taken back
            target.rename(building)
            if replaces:
                aside.rename(target)
            raise


def _forget(aside: Path, target: Path) -> None:
    """Remove what was replaced, if what replaces it is there."""
    if target.exists():
        _discard(aside)


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
