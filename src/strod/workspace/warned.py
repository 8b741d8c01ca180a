"""Telling Python what the command line prints: what was left out, and why."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from strod.errors import StrodWarning
from strod.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["left_out", "misfits", "warned"]

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


def misfits(report: dict[str, Any], types: Mapping[str, str], flag: str) -> list[str]:
    """What is said of metadata that is not, or not all, of the type it should be.

    Parameters
    ----------
    report : dict
        Of a build.
    types : mapping
        Of the fields.
    flag : str
        How a field is asked for: ``--meta`` or ``meta=``.
    """
    said = [
        f"{counted(wrong, 'value')} of {name} {'is' if wrong == 1 else 'are'} not of type "
        f"{types[name]}, as {report['metadata_examples'][name]}"
        for name, wrong in report["metadata_misfits"].items()
        if wrong
    ]
    for name, found in report["metadata_forms"].items():
        ways = " or ".join(f"{flag}{one}" for one in found["meta"])
        if types[name] == "list":
            said.append(f"{name}: {found['value']} is a list of one; to have it split: {ways}")
        else:
            said.append(f"{name} is kept as text; to have {found['value']} read: {ways}")
    for name, found in report["metadata_nearly"].items():
        of = f"{found['misfits']:,} of {counted(found['values'], 'value')}"
        are = "is" if found["misfits"] == 1 else "are"
        said.append(
            f"{name} is kept as text: {of} {are} no {found['type']}, as {found['example']}; "
            f"{flag}{name}:{found['type']} leaves such values out"
        )
    return said


def warned(message: str, depth: int = 2) -> None:
    """Warn, in the line of whoever called the function `depth` calls above."""
    warnings.warn(message, StrodWarning, stacklevel=depth + 1)
