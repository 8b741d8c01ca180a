"""What a verb did or would do, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from strod.cli.console import number
from strod.values.topic import walk
from strod.wording import begins_with, counted, json_text, percent
from strod.workspace.preview import mentioned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from strod.workspace.change import Change

__all__ = ["print_change", "print_json"]

SHOWN = 8  # phrases of a topic where the screen has no width


def print_json(change: Change, *, dry_run: bool) -> None:
    """The change for programs, and whether it was made."""
    print(json_text({"applied": not dry_run, **change.as_dictionary()}))


def print_change(
    change: Change, surfaces: Sequence[str], console: Console, *, dry_run: bool
) -> None:
    """The change for people, a line for each thing."""
    console.print(f"{'would ' * dry_run}{change.what}: {_summary(change)}")
    console.print(_kept(change.kept, dry_run=dry_run))
    for line in (*_branch(change, surfaces, console), *_whereabouts(change)):
        console.print(line, soft_wrap=True)
    for concern in change.warnings:
        console.print(Text.assemble(("warning: ", "yellow"), concern.text), soft_wrap=True)


def _kept(number_of_topics: int, *, dry_run: bool) -> str:
    """How many topics stay as they are, which was looked at and not assumed."""
    if not number_of_topics:
        return "no other topic would stay as it is" if dry_run else "no other topic is as it was"
    kept = "all would stay as they are" if dry_run else "all as they were"
    return f"{counted(number_of_topics, 'other topic')} compared: {kept}"


def _summary(change: Change) -> str:
    """How many topics are new, changed and gone, and documents."""
    kinds = ((change.added, "new"), (change.changed, "changed"), (change.removed, "gone"))
    parts = [f"{number(len(names))} {what}" for names, what in kinds if names]
    if change.documents:
        are = "is" if abs(change.documents) == 1 else "are"
        where = "back" if change.documents > 0 else "out again"
        parts.append(f"{counted(abs(change.documents), 'document')} {are} {where}")
    return ", ".join(parts) or "no topic differs"


def _branch(change: Change, surfaces: Sequence[str], console: Console) -> list[Text]:
    """New and changed topics, one a line, with their ids and their phrases, or else words."""
    lines = []
    for path, name in walk(change.nodes):
        if name not in change.added and name not in change.changed:
            continue
        node = change.nodes[name]
        texts = [text for text, _ in node.phrases] or [surfaces[word] for word in node.top_words]
        is_named = node.named or not begins_with(texts, node.label)
        before = change.weights.get(name, (node.weight,))[0]
        weight = percent(node.weight)
        weight = weight if name not in change.weights else f"{percent(before)} -> {weight}"
        head = Text.assemble(
            (path, "bold"),
            " ",
            (weight, "cyan"),
            " ",
            (name, "dim"),
            "  ",
            (f"{node.label}: " if is_named else "", "bold"),
        )
        texts, room = texts[:SHOWN], console.width - head.cell_len
        while len(texts) > 1 and console.is_terminal and cell_len(", ".join(texts)) > room:
            texts.pop()
        lines.append(head + Text(", ".join(texts)))
    return lines


def _whereabouts(change: Change) -> Iterator[str]:
    """What was made of what, which topics are gone, what is in no child, whose path is another."""
    paths = {name: path for path, name in walk(change.nodes)}
    then = {name: path for path, name in walk(change.was)}
    for new, members in change.joined.items():
        parts = (
            f"{change.was[one].label} ({then[one]}, {percent(change.was[one].weight)})"
            for one in members
        )
        yield f"{paths[new]} = {' + '.join(parts)}"
    for new, old in change.former_leaves.items():
        yield f"{paths[new]} is what {mentioned(then[old], change.was[old].label)} was"
    joined = {one for group in change.joined.values() for one in group}
    lost = [name for name in change.removed if change.was[name].parent in change.removed]
    gone = [name for name in change.removed if name not in joined and name not in lost]
    for what, names in (("gone", gone), ("lost below", lost)):
        told = [mentioned(then[one], change.was[one].label) for one in names]
        if told:
            yield f"{what}: {', '.join(told)}"
    for name, (before, after) in change.rests.items():
        share = f"{percent(before)} -> {percent(after)}" if before else percent(after)
        yield f"{mentioned(paths[name], change.nodes[name].label)}: {share} in none of its children"
    for name, (was, now) in change.renamed.items():
        yield f"{paths[name]} is called {now} now; it was {was}"
    if change.pinned:
        told = [mentioned(paths[one], change.nodes[one].label) for one in change.pinned]
        yield f"pinned, and so as before: {', '.join(told)}"
    for name, (old, new) in change.moved.items():
        yield f"{old} is now {new}  {change.nodes[name].label}"
