"""Changing a workspace: files that are never changed, and a manifest that says which count.

A change writes new files into a folder of its own, syncs them, moves them into place, and
then replaces the manifest in one step. A reader has read one manifest or the other; a
writer that dies leaves files that no manifest names, which the next one removes.

Nothing is written, and nobody is locked out, before the first new file or the new manifest is
there to be written: a verb that is refused, and one that is only tried, leave no trace.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Self, TypeVar

from strod.errors import BusyError, StaleError, StrodError, UsageError
from strod.store.files import folder_handle, is_name
from strod.store.manifest import NAME, finished, read_manifest
from strod.store.publish import (
    CHANGE,
    Draft,
    explained,
    locked,
    sync,
    sync_tree,
    tidied,
    write_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from strod.store.schema import Manifest

__all__ = ["Prepared", "Staging", "change"]

CHANGED = ("corpus", "phrases", "tree")  # folders whose files come and go
_LEFT = {*CHANGED, "incoming", "draft.json", NAME, f"{NAME}.old"}  # in the folder of a change
TRIES = 3  # if others publish in the meantime
_FOLDER = re.compile(r"\d{4,9}|o|[0-9a-f]{12}(?:-\d+)?|splits|words|revisions")

T = TypeVar("T")


class _OvertakenError(Exception):
    """Somebody else has published a change since this one began."""


class Staging:
    """A change under way.

    Parameters
    ----------
    root : Path
        The workspace.
    dry_run : bool
        Whether nothing will be published: files then go to a temporary folder elsewhere.

    Attributes
    ----------
    manifest : Manifest
        The manifest as it was when the change began.
    """

    def __init__(self, root: Path, *, dry_run: bool) -> None:
        self._root, self._dry_run = root, dry_run
        self._draft: Draft | None = None
        self._stack = ExitStack()
        self.manifest = read_manifest(root)

    @property
    def folder(self) -> Path:
        """Where new files go, under the names they will have in the workspace."""
        if self._draft is None:
            self._draft = self._begin()
        return self._draft.folder

    def _begin(self) -> Draft:
        """Hold the workspace alone from now on; readers go on reading."""
        if self._dry_run:
            folder = Path(mkdtemp(prefix="strod-"))
        else:
            self._stack.enter_context(locked(self._root.parent / f".{self._root.name}.lock"))
            if read_manifest(self._root) != self.manifest:
                raise _OvertakenError
            folder = self._root / CHANGE
            _clear(folder)
            folder.mkdir()
        self._stack.enter_context(tidied(lambda: shutil.rmtree(folder, ignore_errors=True)))
        return Draft(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the workspace, and leave nothing behind."""
        self._stack.close()

    def take(self, other: Staging) -> None:
        """Take over the files that another change of the same manifest has written."""
        if other._draft is None:
            return
        for one in sorted(other.folder.iterdir()):
            shutil.move(one, self.folder / one.name)

    def sweep(self, parts: Collection[str]) -> None:
        """Remove files of ours that are not among `parts`, and folders that are empty then."""
        for top in CHANGED:
            with folder_handle(self._root, [top]) as handle:
                for where, folders, names, inside in os.fwalk(".", topdown=False, dir_fd=handle):
                    prefix = Path(top, where)
                    for name in names:
                        full = (prefix / name).as_posix()
                        if is_name(full) and full not in parts:
                            os.unlink(name, dir_fd=inside)
                    for name in filter(_FOLDER.fullmatch, folders):
                        with suppress(OSError):  # it is not empty
                            os.rmdir(name, dir_fd=inside)

    def folders(self, where: str) -> list[str]:
        """Names of the folders in a folder of the workspace, of all its revisions."""
        depth = where.count("/") + 1
        below = [name.split("/") for name in self.manifest.parts if name.startswith(f"{where}/")]
        return sorted({steps[depth] for steps in below if len(steps) > depth + 1})

    def publish(self, manifest: Manifest, workers: int = 1) -> None:
        """Move the new files into place, then the manifest; nothing counts before that."""
        folder = self.folder
        self.sweep(self.manifest.parts)
        new = Draft(folder).digests(workers)
        sync_tree(folder)
        for name in new:
            *steps, last = name.split("/")
            with folder_handle(self._root, steps, make=True) as handle:
                os.replace(folder / name, last, dst_dir_fd=handle)
        for parent in sorted({(self._root / name).parent for name in new}):
            _sync_up(parent, self._root)
        self._replace_manifest(finished(manifest, {**manifest.parts, **new}))

    def _replace_manifest(self, content: dict[str, object]) -> None:
        fresh, old = self.folder / NAME, self.folder / f"{NAME}.old"
        write_json(fresh, content)
        shutil.copyfile(self._root / NAME, old, follow_symlinks=False)
        sync_tree(self.folder)
        fresh.replace(self._root / NAME)
        try:
            sync(self._root)
        except OSError:  # not certain to stay, so it is taken back
            old.replace(self._root / NAME)
            raise


def _clear(folder: Path) -> None:
    """Remove what a change that was killed left; what is somebody else's is not touched."""
    if not os.path.lexists(folder):
        return
    real = stat.S_ISDIR(folder.lstat().st_mode)
    if not real or not {path.name for path in folder.iterdir()} <= _LEFT:
        raise UsageError("was not left by strod", file=folder, advice="move it away")
    shutil.rmtree(folder, ignore_errors=True)


def _sync_up(folder: Path, root: Path) -> None:
    """A new folder is there only when the one above knows it."""
    while folder != root:
        sync(folder)
        folder = folder.parent
    sync(root)


def change(root: Path, work: Callable[[Staging], T], *, dry_run: bool = False) -> T:
    """Carry out a change; if another one was faster, look at the workspace anew and try again."""
    root = root.resolve()
    for _ in range(TRIES):
        staging = Staging(root, dry_run=dry_run)
        with staging:
            try:
                return work(staging)
            except _OvertakenError:
                continue
            except OSError as error:
                raise explained(error, root) from error
    raise BusyError(f"{root}: others are changing it again and again; try later")


class Prepared:
    """A change that was computed, to be made or forgotten later.

    ``with Prepared() as plan: workspace.merge("o/1", "o/2", dry_run=True, prepared=plan)`` keeps
    what the verb found; `apply` publishes that and computes nothing.
    """

    def __init__(self) -> None:
        self._staging: Staging | None = None
        self._root = Path()
        self._publish: Callable[[Staging, str], None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Forget it."""
        self.close()

    def compute(
        self, root: Path, work: Callable[[Staging], tuple[T, Callable[[Staging, str], None]]]
    ) -> T:
        """Compute a change, and keep what publishes it."""
        self.close()
        self._root = root.resolve()
        self._staging = Staging(self._root, dry_run=True)
        try:
            found, self._publish = work(self._staging)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise explained(error, self._root) from error
            raise
        return found

    def apply(self, note: str = "") -> None:
        """Publish it; refused if the workspace is not any more what it was computed for.

        Files are moved from where they were kept, so what fails half-way is forgotten.
        """
        kept, publish = self._staging, self._publish
        if kept is None or publish is None:
            raise UsageError("nothing is prepared; preview it first")

        def work(staging: Staging) -> None:
            if staging.manifest != kept.manifest:
                raise StaleError("has been changed since", file=self._root)
            _ = staging.folder  # until it is ours, nothing is moved
            try:
                staging.take(kept)
                publish(staging, note)
            except BaseException:
                self.close()
                raise

        try:
            change(self._root, work)
        except StrodError as error:
            if self._staging is None:
                error.advice = f"{error.advice}; preview it again".removeprefix("; ")
            raise
        self.close()

    def close(self) -> None:
        """Forget it, and what it has written."""
        if self._staging is not None:
            self._staging.__exit__()
        self._staging = self._publish = None
