"""A workspace: one folder with a corpus and its tree."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strod.corpus.reader import Corpus
from strod.errors import DamagedError
from strod.hierarchy import Tree
from strod.store.check import check_files
from strod.store.manifest import read_manifest

if TYPE_CHECKING:
    import os

__all__ = ["Workspace", "open_workspace"]


class Workspace:
    """A folder that `strod.build` made, open for reading.

    Parameters
    ----------
    path : path
        The folder.

    Attributes
    ----------
    path : Path
        The folder.
    manifest : dict
        Format, version, and a checksum for every file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.manifest = read_manifest(self.path)

    def __repr__(self) -> str:
        about = self.manifest
        return (
            f"<Workspace {str(self.path)!r}: {about['corpus']['documents']:,} documents, "
            f"{about['tree']['topics']} topics>"
        )

    @cached_property
    def corpus(self) -> Corpus:
        """Documents, tokens and counts."""
        return Corpus(self.path, self.manifest)

    @cached_property
    def tree(self) -> Tree:
        """The topics."""
        return Tree(self.path / "tree", self.corpus, self.manifest["tree"]["settings"])

    @cached_property
    def report(self) -> dict[str, Any]:
        """What the build read, rejected and took."""
        path = self.path / "report.json"
        try:
            report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DamagedError(f"{path}: cannot be read ({error})") from error
        return report

    def check(self, workers: int = 1) -> list[str]:
        """Compare every file with its checksum; return a line for each that is wrong."""
        return check_files(self.path, workers)


def open_workspace(path: str | os.PathLike[str]) -> Workspace:
    """Open a workspace for reading."""
    return Workspace(path)
