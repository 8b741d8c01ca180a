"""A tree on disk: topics, decompositions, and the shares of the documents."""

from __future__ import annotations

import json
from bisect import bisect_right
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from strod.errors import DamagedError
from strod.store.arrays import mapped
from strod.store.manifest import file_digest, seal
from strod.store.publish import ArrayWriter, write_json
from strod.tree.grouping import Merge
from strod.tree.inference import FineTopics, Shares
from strod.tree.polish import Overlap
from strod.tree.shares import joined, rows
from strod.tree.split import Split
from strod.tree.topic import Node, Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.tree.grow import Grown

    Digests = Mapping[str, Mapping[str, Any]]

__all__ = [
    "DiskBook",
    "are_sound",
    "load_array",
    "node_sha256",
    "read_change",
    "read_revision",
    "read_split",
    "revision_name",
    "splits_of",
    "words_file",
    "write_revision",
    "write_split",
    "write_tree",
]

_ARRAYS = {"indptr": "<i8", "indices": "<u2", "values": "<f4"}
ROUNDING = 1e-4  # how far a document's shares may be from a sum of 1


class DiskBook:
    """Shares of documents: a folder for each decomposition, and in it one for each segment.

    Parameters
    ----------
    root : Path
        The folder ``tree/splits`` of a workspace, or of a change that is not published yet.
    segments : sequence of (str, int)
        Names of the segments of the corpus, and how many documents each has.
    others : Path, optional
        Where those are that `root` does not have.
    digests : mapping, optional
        Of the files of the workspace, by name; one that has another is refused.
    """

    def __init__(
        self,
        root: Path,
        segments: Sequence[tuple[str, int]],
        others: Path | None = None,
        digests: Digests | None = None,
    ) -> None:
        self._root, self._others, self._digests = root, others, digests or {}
        self._names = [name for name, _ in segments]
        self._ends = np.cumsum([documents for _, documents in segments]).tolist()
        self._written: dict[str, int] = {}
        self._writers: dict[str, dict[str, ArrayWriter]] = {}
        self._shares: dict[tuple[str, str], Shares] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close what is still open because something failed."""
        for writers in self._writers.values():
            for writer in writers.values():
                writer.discard()

    def append(self, owner: str, part: Shares) -> None:
        """The next documents; a part lies within one segment."""
        size = len(part.indptr) - 1
        begin = self._written.get(owner, 0)
        if owner not in self._writers:
            segment = bisect_right(self._ends, begin) if size else len(self._ends) - 1
            self._writers[owner] = self._opened(owner, self._names[segment])
        writers = self._writers[owner]
        writers["indptr"].append(part.indptr[1:] + writers["values"].size)
        writers["indices"].append(part.indices)
        writers["values"].append(part.values)
        self._written[owner] = begin + size
        if size and self._written[owner] in self._ends[:-1]:
            self._finish(owner)

    def _opened(self, owner: str, segment: str) -> dict[str, ArrayWriter]:
        folder = self._root / owner / segment
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

    def read(self, owner: str, first: int, size: int) -> Shares:
        """Shares of some documents, memory-mapped."""
        parts, begin = [], 0
        for name, end in zip(self._names, self._ends, strict=True):
            low, high = max(first, begin), min(first + size, end)
            if low < high:
                parts.append(rows(self._segment(owner, name), low - begin, high - low))
            begin = end
        if not parts:
            parts = [rows(self._segment(owner, self._names[-1]), 0, 0)]
        return parts[0] if len(parts) == 1 else joined(parts)

    def _segment(self, owner: str, segment: str) -> Shares:
        if (owner, segment) not in self._shares:
            folder = self._root / owner / segment
            if self._others is not None and not folder.is_dir():
                folder = self._others / owner / segment
            arrays = []
            for name, kind in _ARRAYS.items():
                array = load_array(folder / f"{name}.npy", kind)
                _compare(self._digests, folder / f"{name}.npy", 5)
                arrays.append(array)
            self._shares[owner, segment] = Shares(*arrays)
        return self._shares[owner, segment]


def _compare(digests: Digests, path: Path, steps: int) -> None:
    """Refuse a file that is not what was written; `steps` of its path are its name."""
    wanted = digests.get("/".join(path.parts[-steps:]))
    if wanted is not None and file_digest(path) != wanted:
        raise DamagedError(f"{path}: has changed since it was written; run strod check")


def load_array(path: Path, kind: str, dimensions: int = 1) -> NDArray[Any]:
    """An array as it was written, memory-mapped."""
    array = mapped(path)
    if array.dtype != kind or array.ndim != dimensions:
        raise DamagedError(f"{path}: is not the array that was written; run strod check")
    return array


def _write_sealed(path: Path, content: dict[str, Any]) -> None:
    write_json(path, content | {"sha256": seal(content)})


def _read_sealed(path: Path) -> dict[str, Any]:
    """What `_write_sealed` wrote, to the last digit."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        whole = content.pop("sha256") == seal(content)
    except (OSError, ValueError, RecursionError, LookupError, AttributeError, TypeError) as error:
        raise DamagedError(f"{path}: cannot be read ({error}); run strod check") from error
    if not whole:
        raise DamagedError(f"{path}: has changed since it was written; run strod check")
    return dict(content)


def are_sound(shares: Shares, size: int, topics: int) -> bool:
    """Whether these can be the shares of `size` documents in so many topics."""
    sizes = np.diff(shares.indptr)
    held = len(shares.indices)
    if len(sizes) != size or (sizes < 0).any() or not sizes.sum() == held == len(shares.values):
        return False
    if not held:
        return True
    sums = np.add.reduceat(shares.values, shares.indptr[:-1][sizes > 0], dtype=np.float64)
    return int(shares.indices.max()) < topics and bool((abs(sums - 1) < ROUNDING).all())


def node_sha256(node: Node) -> str:
    """Checksum of a topic's own numbers: words, weight, alpha, heads, phrases.

    Not of its documents, which grow as some are added, and not of its name.
    """
    value = sha256(np.ascontiguousarray(node.words, dtype="<f8").tobytes())
    value.update(np.array([node.weight, node.alpha], dtype="<f8").tobytes())
    value.update(np.array(node.heads, dtype="<i8").tobytes())
    value.update(json.dumps([list(pair) for pair in node.phrases]).encode())
    return value.hexdigest()


def write_tree(folder: Path, tree: Grown, change: dict[str, Any], number: int = 1) -> None:
    """Write a revision and the decompositions below ``tree/``; the shares are there already."""
    write_revision(folder, tree.nodes.values(), change, number)
    for name, split in tree.splits.items():
        write_split(folder / "splits" / name, split)


def write_revision(
    folder: Path, nodes: Iterable[Node], change: dict[str, Any], number: int
) -> None:
    """Write what there is to know about all topics, and the words of those that have new ones."""
    for part in ("words", "revisions"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    topics = []
    for node in nodes:
        name = words_file(node)
        if not isinstance(node.words, np.memmap):
            np.save(folder / "words" / name, node.words.astype("<f8"))
        entry = {key: value for key, value in vars(node).items() if key != "words"}
        topics.append(entry | {"words": name, "sha256": node_sha256(node)})
    content = {"topics": topics, "change": change}
    _write_sealed(folder / "revisions" / revision_name(number), content)


def revision_name(number: int) -> str:
    """File of a revision."""
    return f"{number:05d}.json"


def words_file(node: Node) -> str:
    """File of a topic's words: the one they come from, or one named after what they are."""
    if isinstance(node.words, np.memmap):
        return Path(str(node.words.filename)).name
    digest = sha256(np.ascontiguousarray(node.words, dtype="<f8").tobytes()).hexdigest()
    return f"{node.id}-{digest[:12]}.npy"


def write_split(folder: Path, split: Split) -> None:
    """Write a decomposition."""
    np.save(folder / "fine.npy", split.topics.counts.astype("<f4"))
    _write_sealed(
        folder / "split.json",
        {
            "weights": split.overlap.weights.tolist(),
            "joint": split.overlap.joint.tolist(),
            "effective_documents": split.overlap.documents.tolist(),
            "merges": [list(merge) for merge in split.merges],
            "alpha0": split.alpha0,
            "total": split.total,
            "values": split.values,
            "noise": split.noise,
            "documents": split.documents,
            "parts": [list(part) for part in split.parts],
        },
    )


def read_revision(
    folder: Path, number: int, digests: Digests | None = None
) -> tuple[dict[str, tuple[Node, str]], dict[str, Any]]:
    """Topics by id with their checksums, parents before children, and what was changed.

    Words are memory-mapped. With `digests` the file is compared with what was written.
    """
    path = folder / "revisions" / revision_name(number)
    content, found = _read_sealed(path), {}
    _compare(digests or {}, path, 3)
    try:
        for entry in content["topics"]:
            checksum = entry.pop("sha256")
            words = load_array(folder / "words" / entry.pop("words"), "<f8")
            entry["parts"] = [Part(str(name), list(fine)) for name, fine in entry["parts"]]
            entry["bids"] = [
                [Part(str(name), list(fine)) for name, fine in bid] for bid in entry.get("bids", [])
            ]
            entry["phrases"] = [(str(text), float(score)) for text, score in entry["phrases"]]
            found[str(entry["id"])] = (Node(words=words, **entry), str(checksum))
        return found, dict(content["change"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise DamagedError(f"{path}: is damaged ({error}); run strod check") from error


def read_change(folder: Path, number: int) -> dict[str, Any]:
    """What was changed in a revision, without its topics."""
    path = folder / "revisions" / revision_name(number)
    try:
        return dict(_read_sealed(path)["change"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{path}: is damaged ({error}); run strod check") from error


def splits_of(nodes: Iterable[Node], splits: Mapping[str, Split]) -> set[str]:
    """Decompositions that topics are made of, and those that these are made of."""
    found: set[str] = set()
    waiting = {part.split for node in nodes for part in node.parts}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= {part.split for part in splits[name].parts} - found
    return found


def read_split(folder: Path, digests: Digests | None = None) -> Split:
    """A decomposition; with `digests` its numbers are compared with what was written."""
    about = _read_sealed(folder / "split.json")
    counts = load_array(folder / "fine.npy", "<f4", 2)
    _compare(digests or {}, folder / "fine.npy", 4)
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise DamagedError(f"{folder / 'fine.npy'}: holds what is no count; run strod check")
    try:
        shared = Overlap(
            np.array(about["weights"]),
            np.array(about["joint"]),
            np.array(about["effective_documents"]),
        )
        merges = [Merge(int(kept), int(gone), float(lift)) for kept, gone, lift in about["merges"]]
        rest = {name: about[name] for name in ("alpha0", "total", "values", "noise", "documents")}
        parts = [Part(str(name), list(fine)) for name, fine in about["parts"]]
        return Split(FineTopics(counts), shared, merges, **rest, parts=parts)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"{folder}: is damaged ({error}); run strod check") from error
