"""The verbs that change a tree: one branch at a time, everything else keeps its bytes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strod.cli.console import TerminalProgress, number, output
from strod.cli.options import Json, Quiet, WorkspacePath, flat, option
from strod.cli.shape import number_or

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from strod.workspace.change import Change
    from strod.workspace.workspace import Workspace

__all__ = [
    "collapse",
    "compact",
    "expand",
    "grow",
    "history",
    "merge",
    "move",
    "pin",
    "redo",
    "remove",
    "rename",
    "undo",
    "unpin",
]

Topic = Annotated[str, typer.Argument(metavar="TOPIC", help="Path (o/1/2), name or id.")]
Note = Annotated[str, typer.Option("--note", "-m", help="Why, for the history.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change; write nothing.")]


@dataclass(frozen=True)
class How:
    """Options that every verb has."""

    note: Note = ""
    dry_run: DryRun = False
    quiet: Quiet = False
    as_json: Json = False


@dataclass(frozen=True)
class Split:
    """How a topic is split."""

    children: str = option("auto", metavar="N|auto", help="Children of the topic.")
    height: int | None = option(
        None, min=1, help="Levels below the topic.  [default: as many as there were]"
    )
    fresh: bool = option(
        False, "--fresh", help="Learn its topics anew, even if there are more already."
    )
    force: bool = option(False, "--force", help="Make more children than its documents carry.")


def _changed(
    path: Path, act: Callable[[Workspace, dict[str, Any]], Change], how: How
) -> tuple[Change, Console]:
    """Carry out a verb with a progress bar, then say what it did."""
    from strod.cli.preview import print_change, print_json
    from strod.workspace.workspace import Workspace

    workspace, console = Workspace(path), output()
    with TerminalProgress(quiet=how.quiet) as progress:
        given = {"note": how.note, "dry_run": how.dry_run, "progress": progress}
        change = act(workspace, given)
    if how.as_json:
        print_json(change, dry_run=how.dry_run)
    else:
        print_change(change, workspace.tree.surfaces, console, dry_run=how.dry_run)
    return change, console


@flat
def expand(workspace: WorkspacePath, topic: Topic, *, split: Split, how: How) -> None:
    """Split a topic, or split it again into another number of children.

    Fewer children than it has are made by joining those that are closest, with all that is below
    them; --fresh learns them anew from the text.

    \b
    Examples:
      strod expand papers.strod o/1/2 --children 4
      strod expand papers.strod o/1 --children auto --dry-run
    """
    wanted = {**vars(split), "children": number_or("children", split.children, int)}
    change, console = _changed(workspace, lambda w, given: w.expand(topic, **wanted, **given), how)
    if change.joined and not how.as_json:
        levels = ["--height", str(split.height)] if split.height else []
        options = ["--children", split.children, *levels, "--fresh"]
        told = shlex.join([str(workspace), topic, *options])
        console.print(f"children are joined; strod expand {told} learns anew", soft_wrap=True)


@flat
def collapse(workspace: WorkspacePath, topic: Topic, *, how: How) -> None:
    """Drop what is below a topic.

    Example: strod collapse papers.strod o/3
    """
    _changed(workspace, lambda w, given: w.collapse(topic, **given), how)


@flat
def merge(
    workspace: WorkspacePath,
    topics: list[str] = typer.Argument(
        ..., metavar="TOPIC TOPIC...", help="Paths, names or ids; the first says where it goes."
    ),
    *,
    how: How,
) -> None:
    """Make one topic of two or more; their children become its children.

    Topics of other parents are moved beside the first before.

    Example: strod merge papers.strod o/1/2 o/1/4
    """
    _changed(workspace, lambda w, given: w.merge(*topics, **given), how)


@flat
def remove(
    workspace: WorkspacePath,
    topic: Topic,
    *,
    into: str = typer.Option("", metavar="TOPIC", help="Put all of it into this topic."),
    how: How,
) -> None:
    """Dissolve a topic: every document's share goes to the sibling where the document fits.

    What no sibling explains stays with the parent, in none of its children.

    \b
    Examples:
      strod remove papers.strod o/5
      strod remove papers.strod o/1/3 --into o/1/5
      strod remove papers.strod o/1/3 --into o/1 --dry-run
    """
    _changed(workspace, lambda w, given: w.remove(topic, into, **given), how)


@flat
def move(
    workspace: WorkspacePath,
    topic: Topic,
    target: str = typer.Argument(..., metavar="PARENT", help="Path, name or id of the new parent."),
    *,
    how: How,
) -> None:
    """Put a topic under another parent; a leaf becomes a parent of what it was, too.

    Example: strod move papers.strod o/1/3 o/2
    """
    _changed(workspace, lambda w, given: w.move(topic, target, **given), how)


@flat
def rename(
    workspace: WorkspacePath,
    topic: Topic,
    label: str = typer.Argument(
        ..., metavar="LABEL", help="The new name; an empty one brings back the automatic one."
    ),
    *,
    how: How,
) -> None:
    """Give a topic a name.

    Example: strod rename papers.strod o/1 "Machine learning"
    """
    _changed(workspace, lambda w, given: w.rename(topic, label, **given), how)


@flat
def pin(workspace: WorkspacePath, topic: Topic, *, how: How) -> None:
    """Let a topic survive when its parent is split again.

    Example: strod pin papers.strod o/1/2
    """
    _changed(workspace, lambda w, given: w.pin(topic, **given), how)


@flat
def unpin(workspace: WorkspacePath, topic: Topic, *, how: How) -> None:
    """Take back a pin.

    Example: strod unpin papers.strod o/1/2
    """
    _changed(workspace, lambda w, given: w.pin(topic, pinned=False, **given), how)


@flat
def grow(
    workspace: WorkspacePath,
    *,
    under: str = typer.Option("o", metavar="TOPIC", help="The topic that gets new children."),
    how: How,
) -> None:
    """Make new topics of the documents that fit nowhere; all others stay as they are.

    \b
    Examples:
      strod grow papers.strod --dry-run
      strod grow papers.strod --under o/1
    """
    _changed(workspace, lambda w, given: w.grow(under, **given), how)


def undo(
    workspace: WorkspacePath,
    *,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Take back the last change.

    Example: strod undo papers.strod
    """
    _changed(workspace, lambda w, given: w.undo(**given), How("", dry_run, quiet, as_json))


def redo(
    workspace: WorkspacePath,
    *,
    dry_run: DryRun = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Take back the last undo.

    Example: strod redo papers.strod
    """
    _changed(workspace, lambda w, given: w.redo(**given), How("", dry_run, quiet, as_json))


def compact(
    workspace: WorkspacePath,
    *,
    keep: int = typer.Option(10, min=1, metavar="N", help="Revisions that stay."),
    dry_run: DryRun = False,
) -> None:
    """Shorten the history: older and undone changes can no longer be had back; the tree stays.

    Example: strod compact papers.strod --keep 10
    """
    from strod.workspace.workspace import Workspace

    done = Workspace(workspace).compact(keep, dry_run=dry_run)
    output().print(
        f"{number(done.revisions)} revisions {'would be ' if dry_run else ''}forgotten, "
        f"{number(done.files)} files ({done.bytes / 1e6:,.1f} MB) removed"
    )


def history(workspace: WorkspacePath) -> None:
    """List what was changed, when and why, and what was undone.

    Example: strod history papers.strod
    """
    from strod.workspace.workspace import Workspace

    console = output()
    for entry in Workspace(workspace).history():
        when, note = entry["when"], f"  # {entry['note']}" if entry["note"] else ""
        undone = "  (undone)" if entry["undone"] else ""
        console.print(
            f"{entry['revision']:>4}  {when:<25}  {entry['what']}{note}{undone}", soft_wrap=True
        )
