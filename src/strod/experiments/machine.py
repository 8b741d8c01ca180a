"""Where and with what something was measured."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import strod

__all__ = ["fingerprint", "machine", "machine_name"]

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn", "tomotopy")
# What has no say in the numbers: a change there leaves what was measured valid. The defaults of
# a build are in its command line.
_OUTSIDE = ("cli", "export", "pages", "experiments/plot.py", "experiments/table.py")
_INSIDE = ("cli/build.py", "cli/shape.py")
_KINDS = (".py", ".txt")  # code and stop words


def machine() -> dict[str, str]:
    """Cores, processor, memory, system and versions."""
    found = {
        "cores": str(_cores()),
        "processor": _processor(),
        "memory": f"{_memory() / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "strod": strod.__version__,
    }
    return found | {name: number for name in PACKAGES if (number := _version(name))}


def machine_name() -> str:
    """What seconds depend on: they are never mixed with those of another machine."""
    return f"{_processor()}, {_cores()} cores"


def fingerprint() -> str:
    """Checksum of the code that builds and scores trees, and of what it runs on."""
    versions = [f"{name} {_version(name)}" for name in PACKAGES]
    digest = hashlib.sha256(" ".join(versions).encode())
    root = Path(strod.__file__).parent
    for path in sorted(path for path in root.rglob("*") if path.suffix in _KINDS):
        name = path.relative_to(root).as_posix()
        if name in _INSIDE or not name.startswith(_OUTSIDE):
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return 0


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
