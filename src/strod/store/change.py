"""Changing a workspace: files that are never changed, and a manifest that says which count.

A change writes new files into a folder of its own, syncs them, moves them into place, and
then replaces the manifest in one step. A reader has read one manifest or the other; a
writer that dies leaves files that no manifest names, which the next one removes.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from strod.store.manifest import NAME, checksum, file_digests, read_manifest, seal
from strod.store.publish import explained, locked, sync, sync_tree, write_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

__all__ = ["Staging", "changing"]

CHANGED = ("corpus", "phrases", "tree")  # folders whose files come and go


class Staging:
    """A change under way.

    Attributes
    ----------
    folder : Path
        Where new files go, under the names they will have in the workspace.
    manifest : dict
        The manifest as it is now.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.folder = root / ".change"
        self.manifest = read_manifest(root)

    def prepare(self) -> None:
        """Remove what a change that did not come to its end has left."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.sweep(self.manifest["parts"])
        self.folder.mkdir()

    def sweep(self, parts: Collection[str]) -> None:
        """Remove the files that are not among `parts`, and folders that are empty."""
        for part in CHANGED:
            for path in sorted((self._root / part).rglob("*"), reverse=True):
                if path.is_dir():
                    if not any(path.iterdir()):
                        path.rmdir()
                elif path.relative_to(self._root).as_posix() not in parts:
                    path.unlink()

    def folders(self, where: str) -> list[str]:
        """Names of the folders in a folder of the workspace, of all its revisions."""
        depth = where.count("/") + 1
        below = [name.split("/") for name in self.manifest["parts"] if name.startswith(f"{where}/")]
        return sorted({steps[depth] for steps in below if len(steps) > depth + 1})

    def publish(self, manifest: dict[str, Any], workers: int = 1) -> None:
        """Move the new files into place, then the manifest; nothing counts before that."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        names = [path.relative_to(self.folder).as_posix() for path in files]
        parts = manifest["parts"] | file_digests(self.folder, names, workers)
        sync_tree(self.folder)
        for name in names:
            target = self._root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).replace(target)
        for folder in sorted({(self._root / name).parent for name in names}):
            _sync_up(folder, self._root)
        content = manifest | {"parts": parts}
        for part in CHANGED:
            content[part] = content[part] | {"sha256": checksum(_files(content, part))}
        self._replace_manifest(content | {"sha256": seal(content)})

    def _replace_manifest(self, content: dict[str, Any]) -> None:
        fresh, old = self.folder / NAME, self.folder / f"{NAME}.old"
        write_json(fresh, content)
        shutil.copyfile(self._root / NAME, old)
        sync_tree(self.folder)
        fresh.replace(self._root / NAME)
        try:
            sync(self._root)
        except OSError:  # not certain to stay, so it is taken back
            old.replace(self._root / NAME)
            raise


def _files(manifest: dict[str, Any], part: str) -> dict[str, dict[str, Any]]:
    """Files of a folder and their digests; of segments those that the corpus has now."""
    found = {n: d for n, d in manifest["parts"].items() if n.startswith(f"{part}/")}
    if part == "tree":
        return found
    segments = {segment["name"] for segment in manifest["corpus"]["segments"]}
    flat = 2  # steps in the name of a file that is no segment's
    return {
        name: digest
        for name, digest in found.items()
        if len(name.split("/")) == flat or name.split("/")[1] in segments
    }


def _sync_up(folder: Path, root: Path) -> None:
    """A new folder is there only when the one above knows it."""
    while folder != root:
        sync(folder)
        folder = folder.parent
    sync(root)


@contextmanager
def changing(root: Path) -> Iterator[Staging]:
    """Hold the workspace alone for one change; readers go on reading."""
    root = root.resolve()
    with locked(root.parent / f".{root.name}.lock"):
        staging = Staging(root)
        try:
            staging.prepare()
            yield staging
        except OSError as error:
            raise explained(error, root) from error
        finally:
            shutil.rmtree(staging.folder, ignore_errors=True)
