"""Writing a file or folder: all of it or nothing, and over nothing that is not meant."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from strod.errors import UsageError
from strod.store.publish import explained, locked, put_in_place, sync, sync_tree, tidied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["new_file", "new_folder", "write_file"]

_TABLES = (".csv", ".parquet")


def write_file(
    target: Path, content: Callable[[], str | bytes], *, overwrite: bool = False
) -> None:
    """Write what `content` gives, beside `target` first; asked only if it can be written."""
    with new_file(target, overwrite=overwrite) as building:
        data = content()
        building.write_bytes(data if isinstance(data, bytes) else data.encode())


@contextmanager
def new_file(target: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Give the name of a file to write, which becomes `target` if the block ends well."""
    with _beside(target, _is_nobodys, overwrite=overwrite) as (real, building):
        if real.is_dir():
            raise UsageError(f"{real}: is a folder; give the name of a file")
        if os.path.lexists(real) and not real.is_file():
            raise UsageError(f"{real}: is no regular file; give another name")
        yield building
        sync(building)
        building.replace(real)
        sync(real.parent)


@contextmanager
def new_folder(
    target: Path, own: Callable[[Path], bool], *, overwrite: bool = False
) -> Iterator[Path]:
    """Give a folder to write into, which becomes `target` if the block ends well.

    An old `target` is replaced only if it is a folder of files which are all `own`.
    """
    with _beside(target, own, overwrite=overwrite) as (real, building):
        if os.path.lexists(real) and not (real.is_dir() and all(map(own, real.iterdir()))):
            raise UsageError(f"{real}: is not a folder that an export made; give another name")
        building.mkdir()
        yield building
        sync_tree(building)
        put_in_place(building, real)


def _is_nobodys(_: Path) -> bool:
    """Whether a single file that is written leaves such a thing: never."""
    return False


@contextmanager
def _beside(
    target: Path, own: Callable[[Path], bool], *, overwrite: bool
) -> Iterator[tuple[Path, Path]]:
    """Hold `target`; give its real path and one beside it, which is removed in the end."""
    given, target = target, target.resolve()  # a link stays a link to what is replaced
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: no such folder; make it first")
    building = target.parent / f".{target.name}.building"
    with locked(target.parent / f".{target.name}.lock"):
        if os.path.lexists(target) and not overwrite:
            name = f"{given} (a link to {target})" if given.is_symlink() else str(target)
            raise UsageError(f"{name}: exists already; give another name or `overwrite`")
        if building.is_dir() and not all(_is_left(path, own) for path in building.iterdir()):
            raise UsageError("was not left by strod", file=building, advice="move it away")
        _remove(building)  # what a killed run left
        with tidied(lambda: _remove(building)):
            try:
                yield target, building
            except OSError as error:
                raise explained(error, building) from error


def _is_left(path: Path, own: Callable[[Path], bool]) -> bool:
    """Whether a killed run left it: a table that may be half written, or what is `own`."""
    return path.suffix in _TABLES or own(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
