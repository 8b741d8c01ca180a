"""Whether everything is there, and is what was written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from strod.store.manifest import file_digests, read_manifest

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_files"]


def check_files(root: Path, workers: int = 1) -> list[str]:
    """Compare every file with the manifest; return a line for each that is wrong."""
    parts = read_manifest(root)["parts"]
    there = [name for name in parts if (root / name).is_file()]
    problems = [f"{root / name}: is missing" for name in parts if name not in there]
    for name, found in file_digests(root, there, workers).items():
        wanted = parts[name]
        if found["bytes"] != wanted["bytes"]:
            problems.append(f"{root / name}: has {found['bytes']} bytes, not {wanted['bytes']}")
        elif found["sha256"] != wanted["sha256"]:
            problems.append(f"{root / name}: has changed since it was written")
    try:
        json.loads((root / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problems.append(f"{root / 'report.json'}: cannot be read ({error})")
    return sorted(problems)
