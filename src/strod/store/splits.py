"""Decompositions on disk, and the shares of the documents in them."""

from __future__ import annotations

import shutil
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Self

import numpy as np

from strod.errors import DamagedError
from strod.store.arrays import ArrayWriter, read_array
from strod.store.files import Files
from strod.store.manifest import VERSION, sealed
from strod.store.publish import write_json
from strod.store.schema import SplitRecord, UsualRecord, as_json, parse
from strod.store.topics import read_json
from strod.store.upgrade import upgraded_split
from strod.store.validate import check_expected_counts, check_shares, naming
from strod.values.shares import Shares, joined, rows
from strod.values.split import Cooccurrence, Decomposition, FineTopics, Merge
from strod.values.usual import MEASURE, Usual

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from strod.store.change import Staging
    from strod.values.topic import Component, Node

__all__ = ["DiskShareStore", "SavedShares", "read_split", "read_splits", "write_split"]

_ARRAYS = {"indptr": "<i8", "indices": "<u2", "values": "<f4"}
NEAR = 1e-4  # how far weights, which are means of 32-bit shares, may be from a sum of 1


class _Opened:
    """Arrays that were opened and looked at, each once; sent elsewhere, none."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: dict[tuple[str, str], Shares] = {}

    def __reduce__(self) -> tuple[type[_Opened], tuple[()]]:
        return _Opened, ()

    def get(self, key: tuple[str, str], find: Callable[[str, str], Shares]) -> Shares:
        with self._lock:
            if key not in self._found:
                self._found[key] = find(*key)
            return self._found[key]


@dataclass(frozen=True)
class SavedShares:
    """Shares of documents on disk: a folder for each decomposition, in it one for each segment.

    Attributes
    ----------
    segments : tuple of (str, int)
        Names of the segments of the corpus, and how many documents each has.
    files : Files
        The workspace, or the folder in which it is being built.
    sizes : mapping of int
        How many topics each decomposition of `files` has.
    draft : Files, optional
        The folder of a change.
    written : frozenset of str
        The decompositions that are in `draft`.
    """

    segments: tuple[tuple[str, int], ...]
    files: Files
    sizes: Mapping[str, int] = field(default_factory=dict)
    draft: Files | None = None
    written: frozenset[str] = frozenset()
    _opened: _Opened = field(default_factory=_Opened, repr=False, compare=False)

    def read(self, owner: str, first: int, size: int) -> Shares:
        """Shares of some documents, memory-mapped."""
        parts, begin = [], 0
        for name, documents in self.segments:
            low, high = max(first, begin), min(first + size, begin + documents)
            if low < high:
                parts.append(rows(self._segment(owner, name), low - begin, high - low))
            begin += documents
        if not parts:
            parts = [rows(self._segment(owner, self.segments[-1][0]), 0, 0)]
        return parts[0] if len(parts) == 1 else joined(parts)

    def _segment(self, owner: str, segment: str) -> Shares:
        return self._opened.get((owner, segment), self._open)

    def _open(self, owner: str, segment: str) -> Shares:
        where = f"tree/splits/{owner}/{segment}"
        if self.draft is not None and owner in self.written:
            return _arrays(self.draft, where)
        found = _arrays(self.files, where)
        if self.files.digests is not None:  # what is being written is not looked at again
            with naming(self.files.path(where)):
                documents = dict(self.segments)[segment]
                check_shares(*found, documents, self.sizes.get(owner, 1 << 16))
        return found


class DiskShareStore:
    """Takes the shares of documents in new decompositions.

    Parameters
    ----------
    folder : Path or Staging
        Where they are written: a workspace that is being built, or a change, whose folder is
        made when it is needed.
    segments : sequence of (str, int)
        Names of the segments of the corpus, and how many documents each has.
    saved : SavedShares, optional
        Shares in the decompositions that there are already.
    """

    def __init__(
        self,
        folder: Path | Staging,
        segments: Sequence[tuple[str, int]],
        saved: SavedShares | None = None,
    ) -> None:
        self._target, self._saved, self._segments = folder, saved, tuple(segments)
        self._names = [name for name, _ in segments]
        self._ends = np.cumsum([documents for _, documents in segments]).tolist()
        self._written: dict[str, int] = {}
        self._writers: dict[str, dict[str, ArrayWriter]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is still open because something failed."""
        for writers in self._writers.values():
            for writer in writers.values():
                writer.discard()

    @property
    def _folder(self) -> Path:
        return self._target if isinstance(self._target, Path) else self._target.folder

    def append(self, owner: str, part: Shares) -> None:
        """The next documents; a part lies within one segment."""
        size = len(part.indptr) - 1
        begin = self._written.get(owner, 0)
        if owner not in self._writers:
            segment = bisect_right(self._ends, begin) if size else len(self._ends) - 1
            self._writers[owner] = self._begun(owner, self._names[segment])
        writers = self._writers[owner]
        writers["indptr"].append(part.indptr[1:] + writers["values"].size)
        writers["indices"].append(part.indices)
        writers["values"].append(part.values)
        self._written[owner] = begin + size
        if size and self._written[owner] in self._ends[:-1]:
            self._finish(owner)

    def _begun(self, owner: str, segment: str) -> dict[str, ArrayWriter]:
        folder = self._folder / "tree" / "splits" / owner / segment
        folder.mkdir(parents=True, exist_ok=True)
        writers = {
            name: ArrayWriter(folder / f"{name}.npy", kind) for name, kind in _ARRAYS.items()
        }
        writers["indptr"].append(np.zeros(1, dtype=np.int64))
        return writers

    def _finish(self, owner: str) -> None:
        for writer in self._writers[owner].values():
            writer.close()
        del self._writers[owner]

    def close(self, owner: str) -> None:
        """All documents are there."""
        if owner in self._writers:
            self._finish(owner)

    def discard(self, owner: str) -> None:
        """Take away what was written of a decomposition."""
        if self._written.pop(owner, None) is not None:
            shutil.rmtree(self._folder / "tree" / "splits" / owner)

    def kept(self) -> SavedShares:
        """What is there now."""
        if self._saved is None:
            return SavedShares(self._segments, Files(self._folder))
        if not self._written:
            return self._saved
        return replace(self._saved, draft=Files(self._folder), written=frozenset(self._written))


def _arrays(files: Files, where: str) -> Shares:
    return Shares(
        *(read_array(files, f"{where}/{name}.npy", kind) for name, kind in _ARRAYS.items())
    )


def write_split(folder: Path, name: str, split: Decomposition) -> None:
    """Write a decomposition into a workspace or a change."""
    where = folder / "tree" / "splits" / name
    np.save(where / "fine.npy", split.topics.counts.astype("<f4"))
    record = SplitRecord(
        version=VERSION,
        weights=tuple(split.overlap.weights.tolist()),
        joint=tuple(map(tuple, split.overlap.joint.tolist())),
        effective_documents=tuple(split.overlap.documents.tolist()),
        merges=tuple((merge.kept, merge.gone, merge.lift) for merge in split.merges),
        alpha0=split.alpha0,
        total=split.total,
        values=tuple(split.values),
        noise=split.noise,
        documents=split.documents,
        components=tuple(split.components),
        context=None if split.context is None else tuple(split.context),
        usual=_usual_record(split.usual),
        apart=split.apart,
    )
    write_json(where / "split.json", sealed(as_json(record)))


def read_split(files: Files, name: str, width: int) -> Decomposition:
    """A decomposition over a vocabulary of `width` words."""
    where = f"tree/splits/{name}"
    content = read_json(files, f"{where}/split.json")
    about = parse(upgraded_split(content), SplitRecord, files.path(f"{where}/split.json"))
    counts = read_array(files, f"{where}/fine.npy", "<f4", 2)
    with naming(files.path(f"{where}/fine.npy")):
        check_expected_counts(counts, len(about.weights), width)
    if abs(sum(about.weights) - 1) > NEAR:
        raise DamagedError("its weights do not add up to 1", file=files.path(where))
    shared = Cooccurrence(
        np.array(about.weights), np.array(about.joint), np.array(about.effective_documents)
    )
    return Decomposition(
        FineTopics(counts),
        shared,
        [Merge(*merge) for merge in about.merges],
        about.alpha0,
        about.total,
        list(about.values),
        about.noise,
        about.documents,
        list(about.components),
        None if about.context is None else list(about.context),
        _usual(about.usual),
        about.apart,
    )


def _usual_record(usual: Usual | None) -> UsualRecord | None:
    if usual is None:
        return None
    lists = {
        name: tuple(getattr(usual, name).tolist())
        for name in ("lengths", "means", "deviations", "quantiles")
    }
    return UsualRecord(**lists, threshold=usual.threshold, measure=MEASURE)


def _usual(record: UsualRecord | None) -> Usual | None:
    if record is None or record.measure != MEASURE:
        return None
    return Usual(
        np.array(record.lengths),
        np.array(record.means),
        np.array(record.deviations),
        np.array(record.quantiles),
        record.threshold,
    )


def read_splits(files: Files, nodes: Iterable[Node], width: int) -> dict[str, Decomposition]:
    """Decompositions that topics are made of, and those that these are made of."""
    nodes = list(nodes)
    used = [
        part
        for node in nodes
        for part in (*node.components, *node.rest, *(p for bid in node.path_scores for p in bid))
    ]
    splits: dict[str, Decomposition] = {}
    for part in used:  # grows while it is read
        if part.split not in splits:
            if not files.has(f"tree/splits/{part.split}/split.json"):
                raise DamagedError(f"decomposition {part.split!r} is missing", file=files.root)
            splits[part.split] = read_split(files, part.split, width)
            used += splits[part.split].sources
    _check_references(files, used, splits)
    return splits


def _check_references(
    files: Files, used: Sequence[Component], splits: Mapping[str, Decomposition]
) -> None:
    """Components are there, and no decomposition is made of itself, however far down."""
    for part in used:
        size = splits[part.split].topics.size
        if not part.fine or any(not 0 <= fine < size for fine in part.fine):
            raise DamagedError(f"{part.split} has fewer topics", file=files.root)
    done: set[str] = set()
    waiting = dict(splits)
    while waiting:
        ready = [n for n, split in waiting.items() if all(p.split in done for p in split.sources)]
        if not ready:
            raise DamagedError(f"decomposition {min(waiting)} is made of itself", file=files.root)
        done.update(ready)
        for name in ready:
            del waiting[name]
