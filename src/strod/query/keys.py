"""Keys of what follows from a tree: digests of the files and topics that it hangs on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from strod.errors import DamagedError
from strod.query.derived import key_of
from strod.values.shares import apart, left_by
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strod.values.split import Decomposition
    from strod.values.topic import Component
    from strod.workspace.snapshot import Snapshot

__all__ = ["SegmentKeys"]

_SHARES = ("indices", "indptr", "values")
_FORM = 1  # of the arrays; another one gets other keys


class SegmentKeys:
    """Keys of the placements in one segment of the corpus.

    A name changes no key, and a topic that is split gives keys to its new children alone.

    Parameters
    ----------
    snapshot : Snapshot
        The revision.
    segment : str
        Name of the segment.
    """

    def __init__(self, snapshot: Snapshot, segment: str) -> None:
        self._tree, self._nodes = snapshot.tree, snapshot.tree.structure
        self._parts, self._segment = snapshot.manifest.parts, segment
        self._root = snapshot.path
        self._splits: dict[str, str] = {}
        self._steps: dict[str, str] = {}

    @cached_property
    def shares(self) -> dict[str, str]:
        """By topic: of the documents that hold it."""
        words = self._digest(f"corpus/{self._segment}/indptr.npy")  # of equal shares, more words
        return {
            name: key_of("shares", _FORM, words, self._mass(node.components))
            for name, node in self._nodes.items()
            if name != ROOT
        }

    @cached_property
    def paths(self) -> dict[str, str]:
        """By topic: of the documents whose path leads there."""
        found = {ROOT: key_of("path", _FORM, self._digest(f"corpus/{self._segment}/indptr.npy"))}
        for name, node in self._nodes.items():  # parents come first
            for child in node.children:
                found[child] = key_of("path", found[name], self._step(name), child)
        return found

    @property
    def all(self) -> list[str]:
        """All of them."""
        return [*self.shares.values(), *self.paths.values()]

    def _step(self, name: str) -> str:
        """Of the choice among the children of a topic, in whatever order they are."""
        if name not in self._steps:
            nodes = [(one, self._nodes[one]) for one in sorted(self._nodes[name].children)]
            masses = [
                (one, self._mass(node.components), [self._mass(bid) for bid in node.path_scores])
                for one, node in nodes
            ]
            rest = self._mass(self._nodes[name].rest)
            self._steps[name] = key_of("step", _FORM, masses, rest)
        return self._steps[name]

    def _mass(self, parts: Sequence[Component]) -> str:
        return key_of([(self._split(part.split), list(part.fine)) for part in parts])

    def _split(self, name: str) -> str:
        """Of a decomposition, its shares in the segment, what was decomposed, and who has left."""
        if name not in self._splits:
            splits = self._tree.splits
            later = [one for one in apart(splits) if name in _left(splits, one)]
            files = [self._files(one) for one in (name, *later)]
            self._splits[name] = key_of(files, self._mass(splits[name].components))
        return self._splits[name]

    def _files(self, name: str) -> list[str]:
        """Checksums of the files of a decomposition."""
        folder = f"tree/splits/{name}"
        files = [f"{folder}/{self._segment}/{one}.npy" for one in _SHARES]
        return [self._digest(one) for one in (f"{folder}/split.json", *files)]

    def _digest(self, name: str) -> str:
        if name not in self._parts:
            raise DamagedError("is not in the manifest", file=self._root / name)
        return self._parts[name].sha256


def _left(splits: Mapping[str, Decomposition], name: str) -> set[str]:
    """Decompositions that the documents of one apart have left."""
    return {part.split for part in left_by(splits, name)}
