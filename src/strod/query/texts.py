"""Where the text index of a workspace is kept: `index/text/`, made on first use."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

from strod.errors import DamagedError, StrodError
from strod.query.derived import FOLDER, key_of
from strod.query.text import TextIndex, pieces_of
from strod.store.files import folder_handle

if TYPE_CHECKING:
    from strod.corpus.reader import Corpus
    from strod.progress import Progress

__all__ = ["open_text"]

_ROOM = "text"
_NAME = re.compile(r"[0-9a-f]{32}")
_HALF = re.compile(r"[0-9a-f]{32}\.\w+")
HOUR = 3600.0
SPARE = 1  # older indexes that stay, for a change that is undone


def open_text(corpus: Corpus, progress: Progress, *, anew: bool = False) -> TextIndex:
    """The text index of a corpus; one that is missing, stale or damaged is made again.

    With `anew`, that which is there is not asked, and nothing of another one is taken over: its
    checksums were right, but it was of no use.
    """
    name = key_of([one.key for one in pieces_of(corpus)])
    place = corpus.files.root / FOLDER / _ROOM
    if not anew:
        with (
            suppress(OSError, DamagedError),
            folder_handle(corpus.files.root, [FOLDER, _ROOM, name]),
        ):
            return TextIndex(place / name, corpus)
    try:
        with folder_handle(corpus.files.root, [FOLDER, _ROOM], make=True):
            building = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=place))
    except OSError:  # nobody may write there
        return _elsewhere(corpus, progress)
    try:
        TextIndex.build(building, corpus, progress, before=None if anew else _newest(place))
        if anew:
            shutil.rmtree(place / name, ignore_errors=True)
        return _published(building, place / name, corpus)
    except DamagedError:  # what was taken over is of no use
        return _elsewhere(corpus, progress) if anew else open_text(corpus, progress, anew=True)
    except (OSError, StrodError):  # somebody deletes it meanwhile, or there is no room
        return _elsewhere(corpus, progress)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _published(building: Path, target: Path, corpus: Corpus) -> TextIndex:
    """Put an index in its place; if another process was faster, or something is there, over it."""
    with suppress(OSError, DamagedError):
        return TextIndex(target, corpus)  # another process was faster
    with suppress(OSError):
        if target.is_symlink() or not target.is_dir():
            target.unlink(missing_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        building.rename(target)
    _sweep(target.parent, target.name)
    return TextIndex(target, corpus)


def _elsewhere(corpus: Corpus, progress: Progress) -> TextIndex:
    """An index that goes when the process does."""
    folder = Path(tempfile.mkdtemp(prefix="strod-text-"))
    try:
        index = TextIndex.build(folder, corpus, progress)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finalize(index, shutil.rmtree, folder, ignore_errors=True)
    return index


def _indexes(place: Path) -> list[Path]:
    """Indexes that are whole, the newest first."""
    found = [one for one in place.iterdir() if _NAME.fullmatch(one.name) and not one.is_symlink()]
    return sorted(found, key=lambda one: -one.lstat().st_mtime_ns)


def _newest(place: Path) -> Path | None:
    with suppress(OSError):
        return next(iter(_indexes(place)), None)
    return None


def _sweep(place: Path, used: str) -> None:
    """Remove indexes that are not in use, and what builds that were killed have left."""
    with suppress(OSError):
        others = [one for one in _indexes(place) if one.name != used][SPARE:]
        halves = [one for one in place.iterdir() if _HALF.fullmatch(one.name)]
        for one in [*others, *(one for one in halves if _abandoned(one))]:
            shutil.rmtree(one, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    """Whether nobody has written to a folder for an hour."""
    newest = max((one.lstat().st_mtime for one in [folder, *folder.iterdir()]), default=0.0)
    return time.time() - newest > HOUR
