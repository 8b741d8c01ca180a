"""The verbs that change a tree: one branch at a time, everything else keeps its bytes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from strod.cli import shape
from strod.cli.console import TerminalProgress, number, output
from strod.cli.show import print_branch
from strod.values.topic import walk
from strod.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.workspace.change import Change
    from strod.workspace.workspace import Workspace

__all__ = [
    "add",
    "collapse",
    "compact",
    "expand",
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

WORKSPACE = typer.Argument(..., metavar="W.strod", help="The workspace.")
TOPIC = typer.Argument(..., metavar="TOPIC", help="Path (o/1/2), name or id.")
NOTE = typer.Option("", "--note", "-m", help="Why, for the history.")
DRY_RUN = typer.Option(False, "--dry-run", help="Say what would change; write nothing.")
QUIET = typer.Option(False, "--quiet", "-q", help="No progress.")
GROWN, GROWING = 1.5, 8  # times its weight; topics and phrases that are shown
CHILDREN = typer.Option("auto", metavar="N|auto", help="Children of the topic.")


def _changed(
    path: Path,
    act: Callable[[Workspace, dict[str, Any]], Change],
    note: str,
    dry_run: bool,
    quiet: bool,
) -> Change:
    """Carry out a verb with a progress bar, then say what it did."""
    from strod.workspace.workspace import Workspace

    workspace = Workspace(path)
    with TerminalProgress(quiet=quiet) as progress:
        change = act(workspace, {"note": note, "dry_run": dry_run, "progress": progress})
    console = output()
    would = "would " if dry_run else ""
    parts = [
        f"{number(len(names))} {what}"
        for names, what in (
            (change.added, "new"),
            (change.changed, "changed"),
            (change.removed, "gone"),
        )
        if names
    ]
    if change.documents:
        more = "more" if change.documents > 0 else "fewer"
        parts.append(f"{counted(abs(change.documents), 'document')} {more}")
    console.print(f"{would}{change.what}: {', '.join(parts) or 'no topic differs'}")
    console.print(
        f"{counted(change.kept, 'other topic')} compared: "
        + ("all as they were" if not dry_run else "all would stay as they are")
    )
    for line in [*print_branch(change, workspace.tree.surfaces, console), *_whereabouts(change)]:
        console.print(line, soft_wrap=True)
    return change


def _whereabouts(change: Change) -> list[str]:
    """What was made of what, which topics are gone, and whose path is another one now."""
    paths = {name: path for path, name in walk(change.nodes)}
    named = {name: f"{path} ({label})" for name, (path, label) in change.gone.items()}
    lines = [
        f"{paths[new]} is made of {', '.join(named[one] for one in members)}"
        for new, members in change.joined.items()
    ]
    members = {one for group in change.joined.values() for one in group}
    gone = [text for name, text in named.items() if name not in members]
    lines += [f"gone: {', '.join(gone)}"] if gone else []
    lines += [
        f"{old} is now {new}  {change.nodes[name].label}"
        for name, (old, new) in change.moved.items()
    ]
    return lines


def expand(
    workspace: Path = WORKSPACE,
    topic: str = TOPIC,
    children: str = CHILDREN,
    height: int = typer.Option(1, min=1, help="Levels below the topic."),
    fresh: bool = typer.Option(
        False, "--fresh", help="Learn its topics anew, even if there are more already."
    ),
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
) -> None:
    """Split a topic, or split it again into another number of children.

    To fewer children than it has, it joins those that are closest, and what is below them goes;
    --fresh learns them anew from the text.

    \b
    Examples:
      strod expand papers.strod o/1/2 --children 4
      strod expand papers.strod o/1 --children auto --dry-run
    """
    wanted = shape.number_or("children", children, int, "auto")
    change = _changed(
        workspace,
        lambda w, how: w.expand(topic, wanted, height, fresh=fresh, **how),
        note,
        dry_run,
        quiet,
    )
    if change.joined:
        levels = ["--height", str(height)] if height > 1 else []
        told = shlex.join([str(workspace), topic, "--children", children, *levels, "--fresh"])
        output().print(f"children are joined; strod expand {told} learns anew", soft_wrap=True)


def collapse(
    workspace: Path = WORKSPACE,
    topic: str = TOPIC,
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
) -> None:
    """Drop what is below a topic.

    Example: strod collapse papers.strod o/3
    """
    _changed(workspace, lambda w, how: w.collapse(topic, **how), note, dry_run, quiet)


def merge(
    workspace: Path = WORKSPACE,
    topics: list[str] = typer.Argument(..., metavar="TOPIC TOPIC...", help="Siblings."),
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
) -> None:
    """Make one topic of two or more siblings; their children become its children.

    Example: strod merge papers.strod o/1/2 o/1/4
    """
    _changed(workspace, lambda w, how: w.merge(*topics, **how), note, dry_run, quiet)


def remove(
    workspace: Path = WORKSPACE,
    topic: str = TOPIC,
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
) -> None:
    """Dissolve a topic: its share goes to the siblings it has most to do with.

    Example: strod remove papers.strod o/5
    """
    _changed(workspace, lambda w, how: w.remove(topic, **how), note, dry_run, quiet)


def move(
    workspace: Path = WORKSPACE,
    topic: str = TOPIC,
    target: str = typer.Argument(..., metavar="PARENT", help="Path, name or id of the new parent."),
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
) -> None:
    """Put a topic under another parent.

    Example: strod move papers.strod o/1/3 o/2
    """
    _changed(workspace, lambda w, how: w.move(topic, target, **how), note, dry_run, quiet)


def rename(
    workspace: Path = WORKSPACE,
    topic: str = TOPIC,
    label: str = typer.Argument(
        ..., metavar="LABEL", help="The new name; an empty one brings back the automatic one."
    ),
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
) -> None:
    """Give a topic a name.

    Example: strod rename papers.strod o/1 "Machine learning"
    """
    _changed(workspace, lambda w, how: w.rename(topic, label, **how), note, dry_run, quiet)


def pin(
    workspace: Path = WORKSPACE,
    topic: str = TOPIC,
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
) -> None:
    """Let a topic survive when its parent is split again.

    Example: strod pin papers.strod o/1/2
    """
    _changed(workspace, lambda w, how: w.pin(topic, **how), note, dry_run, quiet)


def unpin(
    workspace: Path = WORKSPACE,
    topic: str = TOPIC,
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
) -> None:
    """Take back a pin.

    Example: strod unpin papers.strod o/1/2
    """
    _changed(workspace, lambda w, how: w.pin(topic, pinned=False, **how), note, dry_run, quiet)


def add(
    workspace: Path = WORKSPACE,
    sources: list[str] = typer.Argument(
        ..., metavar="SOURCE", help="Files, folders, or - for standard input."
    ),
    replace: bool = typer.Option(
        False, "--replace", help="Take out the documents that have the ids of new ones."
    ),
    note: str = NOTE,
    dry_run: bool = DRY_RUN,
    quiet: bool = QUIET,
    text_field: list[str] = typer.Option(
        None, metavar="FIELD", help="Field with the text.  [default: as in the corpus]"
    ),
    id_field: str = typer.Option(
        None, metavar="FIELD", help="Field with the id.  [default: as in the corpus]"
    ),
    format: str = typer.Option("auto", help="As for strod build."),  # noqa: A002
    tokenizer: str = typer.Option(
        None, metavar="MODULE:FUNCTION", help="That of the corpus, if it is one of your own."
    ),
    follow_links: bool = shape.FOLLOW_LINKS,
    strict: bool = typer.Option(False, "--strict", help="Stop at the first bad document."),
) -> None:
    """Add documents: they are placed in the tree, whose topics keep their numbers.

    \b
    Examples:
      strod add papers.strod new.jsonl --note "November"
      strod add papers.strod corrected.jsonl --replace
    """
    from strod.workspace.workspace import Workspace

    opened = Workspace(workspace)
    given: dict[str, Any] = {
        "text_field": text_field,
        "id_field": id_field,
        "tokenizer": tokenizer,
    }
    options = {name: value for name, value in given.items() if value}
    with TerminalProgress(quiet=quiet) as progress:
        found = opened.add(
            *sources,
            replace=replace,
            note=note,
            dry_run=dry_run,
            progress=progress,
            strict=strict,
            format=format,
            follow_links=follow_links,
            **options,
        )
    console, more = output(), found.documents - found.replaced if dry_run else 0
    console.print(
        f"{'would add' if dry_run else 'added'} {counted(found.documents, 'document')}"
        + (f" in place of {number(found.replaced)}" if found.replaced else "")
        + (f", left out {number(found.rejected)}" if found.rejected else "")
        + f"; {100 * found.unknown:.1f}% of their words are new, "
        f"{100 * found.unplaced:.1f}% of them fit no topic; "
        f"{counted(opened.corpus.documents + more, 'document')} in all"
    )
    for name, wrong in found.misfits.items():
        kind = opened.manifest.corpus.meta[name]
        console.print(f"{number(wrong)} values of {name} are not of type {kind}, and left out")
    for name in found.missing:
        console.print(f"none of them has the field {name}")
    grown = sorted(found.growth, key=lambda name: -found.growth[name])
    for name in [one for one in grown if found.growth[one] > GROWN][:GROWING]:
        topic = opened.tree[name]
        console.print(f"grows: {topic.path} x{found.growth[name]:.1f}  {topic.label}")
    if found.phrases:
        texts = ", ".join(f"{text} ({count})" for text, count in found.phrases[:GROWING])
        console.print(f"new phrases: {texts}", soft_wrap=True)


def undo(workspace: Path = WORKSPACE, dry_run: bool = DRY_RUN, quiet: bool = QUIET) -> None:
    """Take back the last change.

    Example: strod undo papers.strod
    """
    _changed(workspace, lambda w, how: w.undo(**how), "", dry_run, quiet)


def redo(workspace: Path = WORKSPACE, dry_run: bool = DRY_RUN, quiet: bool = QUIET) -> None:
    """Take back the last undo.

    Example: strod redo papers.strod
    """
    _changed(workspace, lambda w, how: w.redo(**how), "", dry_run, quiet)


def compact(
    workspace: Path = WORKSPACE,
    keep: int = typer.Option(10, min=1, metavar="N", help="Revisions that stay."),
    dry_run: bool = DRY_RUN,
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


def history(workspace: Path = WORKSPACE) -> None:
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
