"""Packages that only some commands need, and how to get them."""

from __future__ import annotations

__all__ = ["EXTRAS", "install"]

# As in pyproject.toml. Named one by one: that works in a clone, and wherever strod came from.
EXTRAS = {
    "baselines": ("scikit-learn>=1.6", "tomotopy>=0.13"),
    "explore": ("starlette>=1.0", "uvicorn>=0.30"),
    "plots": ("matplotlib>=3.9",),
    "search": ("tantivy>=0.27",),
    "sklearn": ("scikit-learn>=1.6",),
    "stem": ("snowballstemmer>=3.0",),
}


def install(extra: str) -> str:
    """The command that installs what an extra has."""
    return "pip install " + " ".join(f"'{package}'" for package in EXTRAS[extra])
