"""Taking documents out: segments that hold some of them are written anew, without them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from strod.corpus.segment import ROW_GROUP
from strod.store.rows import keep_rows
from strod.store.schema import replace
from strod.values.shares import paths
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.store.change import Staging
    from strod.store.schema import SegmentRecord
    from strod.workspace.workspace import Workspace

__all__ = ["Removal", "take_out"]

# For each kind of folder: the array that says where a document begins, and what it holds.
_TOKENS = ("token_offsets", {"tokens": "<i4"})
_COUNTS = ("indptr", {"indices": "<i4", "counts": "<i4"})
_SHARES = ("indptr", {"indices": "<u2", "values": "<f4"})


class Removal:
    """Documents that are taken out.

    Attributes
    ----------
    documents, tokens : int
        How many there are, and how many words they have.
    segments : list of SegmentRecord
        The segments of the corpus without them.
    by_topic : ndarray of shape (topics,)
        How many there are in each topic, in the order of the tree's nodes.
    """

    def __init__(self, segments: Sequence[SegmentRecord], topics: int) -> None:
        self.documents = self.tokens = 0
        self.segments = list(segments)
        self.by_topic: NDArray[np.int64] = np.zeros(topics, dtype=np.int64)


def take_out(
    workspace: Workspace, staging: Staging, ids: Collection[str], names: Iterator[str]
) -> Removal:
    """Write the segments without some documents, under new names; old ones stay for undo."""
    removal = Removal([], len(workspace.tree.nodes))
    keep: dict[str, list[NDArray[np.bool_]]] = {}
    for shard in workspace.corpus.shards():
        here = np.array([one not in ids for one in shard.ids], dtype=bool)
        keep.setdefault(shard.segment, []).append(here)
        if not here.all():
            _count(removal, workspace, shard, ~here)
    for about in workspace.corpus.about.segments:
        parts = keep.get(about.name, [])
        if all(part.all() for part in parts):
            removal.segments.append(about)
            continue
        if not any(part.any() for part in parts):
            continue
        name = next(names)
        _write(workspace, staging.folder, about.name, name, np.concatenate(parts))
        ends = np.unique(np.cumsum([0, *(int(part.sum()) for part in parts)]))
        removal.segments.append(replace(about, name=name, boundaries=tuple(ends.tolist())))
    return removal


def _count(removal: Removal, workspace: Workspace, shard: Any, out: NDArray[np.bool_]) -> None:
    removal.documents += int(out.sum())
    words = shard.tokens >= 0
    removal.tokens += int(words[np.repeat(out, np.diff(shard.token_offsets))].sum())
    shares = workspace.tree.shares(shard.first, shard.size)
    levels = np.stack(paths(workspace.tree.nodes, ROOT, shares))[:, out]
    removal.by_topic += np.bincount(levels[levels >= 0], minlength=len(removal.by_topic))


def _write(workspace: Workspace, target: Path, old: str, new: str, keep: NDArray[np.bool_]) -> None:
    """A segment everywhere: corpus, phrases, and shares in the decompositions of the tree."""
    files, segment = workspace.files, target / "corpus" / new
    keep_rows(files, (f"corpus/{old}", segment), *_TOKENS, keep)
    keep_rows(files, (f"corpus/{old}", segment), *_COUNTS, keep)
    pq.write_table(
        workspace.corpus.segment(old).documents.filter(keep),
        segment / "documents.parquet",
        compression="zstd",
        row_group_size=ROW_GROUP,
    )
    texts = f"corpus/{old}/texts.arrow"  # rows keep their numbers
    with files.open(texts) as old_texts, (segment / "texts.arrow").open("wb") as copy:
        shutil.copyfileobj(old_texts, copy)
    keep_rows(files, (f"phrases/{old}", target / "phrases" / new), *_COUNTS, keep)
    for name in workspace.tree.splits:
        shares = target / "tree" / "splits" / name / new
        keep_rows(files, (f"tree/splits/{name}/{old}", shares), *_SHARES, keep)
