"""Telling Python what the command line prints: what was left out, and why."""

from __future__ import annotations

import warnings
from typing import Any

from strod.errors import StrodWarning
from strod.wording import counted

__all__ = ["left_out", "warned"]

_FIRST = 3  # places of a reason that are named


def left_out(documents: dict[str, Any]) -> str:
    """How many documents of a report were left out, with reasons and places; empty if none."""
    if not documents["rejected"]:
        return ""
    reasons = sorted(documents["reasons"].items(), key=lambda one: -one[1]["count"])
    why = "; ".join(
        f"{one['count']:,} with {reason}: {', '.join(one['first'][:_FIRST])}"
        + (", …" if one["count"] > _FIRST else "")
        for reason, one in reasons
    )
    return f"{counted(documents['rejected'], 'document')} of {documents['read']:,}: {why}"


def warned(message: str, depth: int = 2) -> None:
    """Warn, in the line of whoever called the function `depth` calls above."""
    warnings.warn(message, StrodWarning, stacklevel=depth + 1)
