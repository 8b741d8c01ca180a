"""The manifest: format, version, and a checksum for every file of a workspace."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from strod.errors import DamagedError, InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "FORMAT",
    "VERSION",
    "checksum",
    "file_digest",
    "file_digests",
    "read_manifest",
    "seal",
]

FORMAT = "strod workspace"
VERSION = 3
NAME = "manifest.json"
_CHUNK = 1 << 20


def file_digest(path: Path) -> dict[str, Any]:
    """Size and SHA-256 of a file."""
    value, size = sha256(), 0
    with path.open("rb", buffering=0) as file:
        while data := file.read(_CHUNK):
            value.update(data)
            size += len(data)
    return {"bytes": size, "sha256": value.hexdigest()}


def file_digests(root: Path, names: list[str], workers: int = 1) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of files, by their names below `root`."""
    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(names, pool.map(lambda name: file_digest(root / name), names), strict=True))


def checksum(digests: dict[str, dict[str, Any]]) -> str:
    """One SHA-256 over the names and digests of several files."""
    lines = (f"{name} {digests[name]['sha256']}\n" for name in sorted(digests))
    return sha256("".join(lines).encode()).hexdigest()


def seal(manifest: dict[str, Any]) -> str:
    """SHA-256 of the manifest itself."""
    return sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def read_manifest(root: Path) -> dict[str, Any]:
    """Read the manifest of the workspace at `root` and check format and version."""
    path = root / NAME
    if not root.exists():
        raise InputError(f"{root}: no such workspace")
    if not path.is_file():
        raise InputError(f"{root}: is not a workspace (it has no {NAME})")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{path}: is damaged ({error}); build the workspace again") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DamagedError(f"{path}: is not the manifest of a {FORMAT}")
    if content.get("version") != VERSION:
        raise DamagedError(
            f"{path}: has format version {content.get('version')}, this strod reads version "
            f"{VERSION}; use the strod that wrote it ({content.get('writer')})"
        )
    if content.pop("sha256", None) != seal(content):
        raise DamagedError(f"{path}: is damaged (it has changed); build the workspace again")
    return content
