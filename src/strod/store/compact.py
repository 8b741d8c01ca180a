"""Shortening the history: what no revision needs any more is given back to the disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strod.errors import UsageError
from strod.store.change import change
from strod.store.files import Files
from strod.store.history import shortened
from strod.store.schema import replace
from strod.store.splits import read_splits
from strod.store.topics import read_revision, revision_name, words_file

if TYPE_CHECKING:
    from pathlib import Path

    from strod.store.change import Staging
    from strod.store.schema import Manifest, TreeRecord

__all__ = ["KEPT", "Compaction", "compact"]

KEPT = 10  # revisions, unless told otherwise


@dataclass(frozen=True)
class Compaction:
    """What was given up.

    Attributes
    ----------
    revisions : int
        Revisions that are gone, undone ones among them.
    files, bytes : int
        Files that are gone, and their size.
    """

    revisions: int
    files: int
    bytes: int


def compact(root: Path, keep: int = KEPT, *, dry_run: bool = False) -> Compaction:
    """Forget all but the last `keep` revisions; the tree itself stays as it is.

    Undone changes are forgotten too. Whoever reads an older revision has to open the
    workspace again.
    """
    if keep < 1:
        raise UsageError(f"`keep` must be 1 or more, not {keep}")

    def work(staging: Staging) -> Compaction:
        manifest, files = staging.manifest, Files(root, staging.manifest.parts)
        tree = shortened(manifest.tree, keep)
        needed = _needed(files, manifest, tree)
        parts = {name: part for name, part in manifest.parts.items() if name in needed}
        gone = [part.bytes for name, part in manifest.parts.items() if name not in needed]
        if not dry_run:
            staging.publish(replace(manifest, tree=tree, parts=parts))
            staging.sweep(parts)
        before = len(manifest.tree.history) + len(manifest.tree.undone)
        return Compaction(before - len(tree.history), len(gone), sum(gone))

    return change(root, work, dry_run=dry_run)


def _needed(files: Files, manifest: Manifest, tree: TreeRecord) -> set[str]:
    """Names of the files that these revisions are made of."""
    width = manifest.corpus.vocabulary
    segments = {s.name for corpus in tree.corpora.values() for s in corpus.segments}
    splits: set[str] = set()
    needed: set[str] = set()
    for number in tree.history:
        nodes = list(read_revision(files, number, width).nodes.values())
        needed.add(revision_name(number))
        needed |= {f"tree/words/{words_file(node)}" for node in nodes}
        splits |= read_splits(files, nodes, width).keys()
    return needed | {n for n in manifest.parts if _is_needed(n, segments, splits)}


def _is_needed(name: str, segments: set[str], splits: set[str]) -> bool:
    top, *rest = name.split("/")
    if top == "tree":
        kind, owner, *inside = rest
        return kind == "splits" and owner in splits and (len(inside) == 1 or inside[0] in segments)
    return len(rest) == 1 or rest[0] in segments
