"""``strod add``: new documents into an existing workspace."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strod.cli.console import TerminalProgress, number, output
from strod.cli.options import Json, Quiet, WorkspacePath, flat, option
from strod.cli.revise import DryRun, Note
from strod.cli.shape import NewText, Sources, Strict
from strod.wording import counted, json_text, listed

if TYPE_CHECKING:
    from rich.console import Console

    from strod.workspace.add import Addition
    from strod.workspace.workspace import Workspace

__all__ = ["add"]

GROWN, GROWING = 1.5, 8  # times its weight; topics and phrases that are shown


@dataclass(frozen=True)
class How:
    """How documents are added."""

    replace: bool = option(
        False, "--replace", help="Take out the documents that have the ids of new ones."
    )
    note: Note = ""
    dry_run: DryRun = False
    strict: Strict = False


@flat
def add(
    workspace: WorkspacePath,
    sources: Sources,
    *,
    how: How,
    quiet: Quiet = False,
    as_json: Json = False,
    text: NewText,
) -> None:
    """Add documents: they are placed in the tree, whose topics keep their numbers.

    \b
    Examples:
      strod add papers.strod new.jsonl --note "November"
      strod add papers.strod corrected.jsonl --replace
    """
    from strod.workspace.workspace import Workspace

    opened = Workspace(workspace)
    with TerminalProgress(quiet=quiet) as progress:
        found = opened.add(*sources, progress=progress, **vars(how), **text.given())
    if as_json:
        print(json_text({"applied": not how.dry_run, **found.as_dictionary()}))
    else:
        _tell(opened, found, dry_run=how.dry_run)


def _tell(opened: Workspace, found: Addition, *, dry_run: bool) -> None:
    """What was added, or would be, for people."""
    console, more = output(), found.documents - found.replaced if dry_run else 0
    console.print(
        f"{'would add' if dry_run else 'added'} {counted(found.documents, 'document')}"
        + (f" in place of {number(found.replaced)}" if found.replaced else "")
        + (f", left out {number(found.rejected)}" if found.rejected else "")
        + f"; {100 * found.unknown:.1f}% of their words are new; "
        f"{counted(opened.corpus.documents + more, 'document')} in all"
    )
    if found.reasons:
        console.print(f"left out {found.reasons}", soft_wrap=True)
    console.print(_drift(found), soft_wrap=True)
    if found.usual is not None and len(found.strangers) > found.usual * found.documents:
        told = shlex.join(["strod", "grow", str(opened.path)])
        console.print(
            f"they count where they fit least badly until {told} makes topics of them, in words "
            "that the corpus has; strod build with all documents learns theirs, too",
            soft_wrap=True,
        )
    _print(console, opened, found)


def _print(console: Console, opened: Workspace, found: Addition) -> None:
    """What does not fit the corpus, and what grows."""
    for name, wrong in found.misfits.items():
        kind = opened.manifest.corpus.meta[name]
        one = found.examples[name]
        are = "is" if wrong == 1 else "are"
        values = f"{counted(wrong, 'value')} of {name} {are} not of type {kind}"
        console.print(f"{values}, as {one}, and left out")
    for name in found.missing:
        console.print(f"none of them has the field {name}")
    grown = sorted(found.growth, key=lambda name: -found.growth[name])
    certain = [one for one in grown if found.growth[one] > GROWN and found.intervals[one][0] > 1]
    for name in certain[:GROWING]:
        topic, (low, high) = opened.tree[name], found.intervals[name]
        times = f"x{found.growth[name]:.1f} ({low:.1f} to {high:.1f})"
        console.print(f"grows: {topic.path} {times}  {topic.label}")
    if found.phrases:
        texts = ", ".join(f"{text} ({count})" for text, count in found.phrases[:GROWING])
        console.print(f"new phrases: {texts}", soft_wrap=True)


def _drift(found: Addition) -> str:
    """How many of the documents fit no topic, and what these speak of."""
    strange = len(found.strangers)
    usual = "" if found.usual is None else f"; usual is {100 * found.usual:.0f}%"
    words = f"; they speak of {', '.join(found.words)}" if found.words else ""
    if found.usual is None and not strange:
        return "the corpus is too small to say whether they fit"
    if not strange:
        return "all of them fit"
    few = listed(found.strangers)
    return f"{number(strange)} of {number(found.documents)} fit no topic ({few}){usual}{words}"
