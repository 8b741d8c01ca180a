"""Shortening the history: what no revision needs any more is given back to the disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strod.errors import UsageError
from strod.store.change import changing
from strod.store.history import corpus_at, numbered
from strod.store.trees import (
    read_revision,
    read_split,
    revision_name,
    splits_of,
    words_file,
)

if TYPE_CHECKING:
    from pathlib import Path

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
        raise UsageError(f"--keep must be 1 or more, not {keep}")
    with changing(root) as staging:
        manifest = staging.manifest
        about, folder = manifest["tree"], root / "tree"
        history = about["history"][-keep:]
        before = about["history"][: len(about["history"]) - len(history) + 1]
        corpora = about["corpora"] | {str(history[0]): corpus_at(about, before)}
        tree = about | {"history": history, "undone": [], "corpora": corpora}
        tree = numbered(tree, manifest["corpus"])
        needed = _needed(folder, tree, manifest, staging.folders("tree/splits"))
        parts = {name: part for name, part in manifest["parts"].items() if name in needed}
        gone = [part["bytes"] for name, part in manifest["parts"].items() if name not in needed]
        if not dry_run:
            staging.publish(manifest | {"tree": tree, "parts": parts})
            staging.sweep(parts)
    number = len(about["history"]) + len(about["undone"]) - len(history)
    return Compaction(number, len(gone), sum(gone))


def _needed(
    folder: Path, tree: dict[str, Any], manifest: dict[str, Any], names: list[str]
) -> set[str]:
    """Names of the files that these revisions are made of."""
    segments = {s["name"] for corpus in tree["corpora"].values() for s in corpus["segments"]}
    known = {name: read_split(folder / "splits" / name) for name in names}
    splits: set[str] = set()
    needed: set[str] = set()
    for number in tree["history"]:
        nodes = [node for node, _ in read_revision(folder, number)[0].values()]
        needed.add(f"tree/revisions/{revision_name(number)}")
        needed |= {f"tree/words/{words_file(node)}" for node in nodes}
        splits |= splits_of(nodes, known)
    return needed | {n for n in manifest["parts"] if _is_needed(n, segments, splits)}


def _is_needed(name: str, segments: set[str], splits: set[str]) -> bool:
    top, *rest = name.split("/")
    if top == "tree":
        kind, owner, *inside = rest
        return kind == "splits" and owner in splits and (len(inside) == 1 or inside[0] in segments)
    return len(rest) == 1 or rest[0] in segments
