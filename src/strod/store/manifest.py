"""The manifest: format, version, and a checksum for every file of a workspace."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson

from strod.errors import DamagedError, InputError
from strod.store.files import digest_of, read_small
from strod.store.schema import FileRecord, Manifest, as_json, parse, replace
from strod.store.upgrade import OLDEST, upgraded_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "FORMAT",
    "NAME",
    "REPORT",
    "VERSION",
    "checksum",
    "file_digests",
    "finished",
    "is_sealed",
    "is_workspace",
    "read_manifest",
    "read_report",
    "seal",
    "sealed",
]

AGAIN = "build the workspace again"
FORMAT = "strod workspace"
VERSION = 4
WRITER = 100  # letters of its name that are told
NAME, REPORT = "manifest.json", "report.json"


def file_digests(root: Path, names: list[str], workers: int = 1) -> dict[str, FileRecord]:
    """Size and SHA-256 of files that were just written, by their names below `root`."""

    def digest(name: str) -> FileRecord:
        with (root / name).open("rb", buffering=0) as file:
            size, value = digest_of(file)
        return FileRecord(bytes=size, sha256=value)

    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(names, pool.map(digest, names), strict=True))


def checksum(digests: Mapping[str, FileRecord]) -> str:
    """One SHA-256 over the names and digests of several files."""
    lines = (f"{name} {digests[name].sha256}\n" for name in sorted(digests))
    return sha256("".join(lines).encode()).hexdigest()


def seal(content: dict[str, Any]) -> str:
    """SHA-256 of what a record says, whatever the order of its fields."""
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def is_sealed(content: dict[str, Any]) -> bool:
    """Whether a record says what it said when it was sealed; takes its checksum away."""
    wanted = content.pop("sha256", None)
    try:
        return bool(wanted == seal(content))
    except RecursionError:  # no record of ours is that deep
        return False


def sealed(content: dict[str, Any]) -> dict[str, Any]:
    """A record with its checksum."""
    return content | {"sha256": seal(content)}


def is_workspace(root: Path) -> bool:
    """Whether a folder says that it is a workspace, of whatever version."""
    try:
        content = orjson.loads(read_small(root, NAME))
    except (OSError, ValueError, DamagedError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT


def _loaded(root: Path) -> dict[str, Any]:
    path = root / NAME
    try:
        content = orjson.loads(read_small(root, NAME))
    except FileNotFoundError:
        raise InputError(f"{root}: is not a workspace (it has no {NAME})") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise DamagedError(f"is damaged ({error})", file=path, advice=AGAIN) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DamagedError(f"is not the manifest of a {FORMAT}", file=path, advice="")
    return content


def read_manifest(root: Path) -> Manifest:
    """Read the manifest of the workspace at `root`; every field is what it may be."""
    path = root / NAME
    aside = root.parent / f".{root.name}.old"
    if not root.exists() and is_workspace(aside):
        raise InputError(
            f"{root}: a build that was to replace it was killed; build again, or rename {aside}"
        )
    if not root.is_dir():
        raise InputError(f"{root}: {'is not a folder' if root.exists() else 'no such workspace'}")
    content = _loaded(root)
    version = content.get("version")
    if type(version) is not int or not OLDEST <= version <= VERSION:
        found = version if type(version) is int else "that is no number"
        writer = content.get("writer")
        raise DamagedError(
            f"has format version {found}, this strod reads versions {OLDEST} to {VERSION}",
            file=path,
            advice="use the strod that wrote it"
            + (f" ({writer[:WRITER]})" if isinstance(writer, str) else ""),
        )
    if not is_sealed(content):
        raise DamagedError("is damaged (it has changed)", file=path, advice=AGAIN)
    return parse(upgraded_manifest(content), Manifest, path)


def read_report(root: Path) -> dict[str, Any]:
    """What the build read, rejected and took; nothing depends on it."""
    path = root / REPORT
    try:
        report = orjson.loads(read_small(root, REPORT))
    except (OSError, ValueError) as error:
        raise DamagedError(f"cannot be read ({error})", file=path, advice="") from error
    if not isinstance(report, dict):
        raise DamagedError("is no report", file=path, advice="")
    return report


def finished(manifest: Manifest, parts: Mapping[str, FileRecord]) -> dict[str, Any]:
    """What is written: with a checksum for every file, every section, and itself."""
    segments = {segment.name for segment in manifest.corpus.segments}
    sections = {
        part: replace(getattr(manifest, part), sha256=checksum(_files(parts, part, segments)))
        for part in ("corpus", "phrases", "tree")
    }
    return sealed(as_json(replace(manifest, version=VERSION, parts=dict(parts), **sections)))


def _files(
    parts: Mapping[str, FileRecord], section: str, segments: set[str]
) -> dict[str, FileRecord]:
    """Files of a folder and their digests; of segments those that the corpus has now."""
    found = {n: d for n, d in parts.items() if n.startswith(f"{section}/")}
    if section == "tree":
        return found
    flat = 2  # steps in the name of a file that is no segment's
    return {
        name: digest
        for name, digest in found.items()
        if len(name.split("/")) == flat or name.split("/")[1] in segments
    }
