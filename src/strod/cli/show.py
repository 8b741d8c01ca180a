"""``strod show``: the tree of a workspace, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import typer
from rich.cells import cell_len
from rich.text import Text

from strod.cli.console import TerminalProgress, output
from strod.values.topic import walk
from strod.wording import json_text, percent, sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from strod.export.samples import Sample
    from strod.workspace.change import Change
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

__all__ = ["NO_TREE", "print_branch", "print_tree", "show"]

SHOWN = 8  # phrases of a topic where the screen has no width
LEAF = {"height": "", "": ""}  # reasons that go without saying
NO_TREE = "--height 0 asks for no tree; strod expand splits o"


def show(
    workspace: Path = typer.Argument(..., metavar="W.strod", help="The workspace."),
    topic: str = typer.Argument(
        None, metavar="[TOPIC]", help="Path (o/1/2), name or id: only this branch."
    ),
    depth: int = typer.Option(None, min=0, help="Levels to show.  [default: all]"),
    phrases: int = typer.Option(
        None, min=0, help="Phrases of a topic; 0 means all.  [default: what fits the line]"
    ),
    words: int = typer.Option(None, min=0, help="Show so many single words instead; 0 means all."),
    documents: int = typer.Option(
        0, min=0, metavar="N", help="Show the N documents that a topic has most of, too."
    ),
    ids: bool = typer.Option(False, "--ids", help="Show ids, which never change, too."),
    as_json: bool = typer.Option(False, "--json", help="For programs."),
) -> None:
    """Show the tree of a workspace.

    \b
    Examples:
      strod show papers.strod
      strod show papers.strod o/1 --phrases 20
      strod show papers.strod --words 10
      strod show papers.strod o/1/2 --documents 5
      strod show papers.strod --json | jq '.topics[1].phrases'
    """
    from strod.export.samples import samples
    from strod.workspace.summary import as_dictionary
    from strod.workspace.workspace import Workspace

    opened = Workspace(workspace)
    opened.tree.find(topic or "o")
    with TerminalProgress(quiet=not documents) as progress:
        examples = samples(opened, documents, progress)
    if as_json:
        content = as_dictionary(opened, topic, depth, words, phrases)
        for one in content["topics"] if documents else ():
            one["examples"] = [some.as_dictionary() for some in examples.get(one["id"], ())]
        print(json_text(content))
    else:
        print_tree(opened, output(), topic, depth, words, phrases, ids=ids, examples=examples)


def print_tree(
    workspace: Workspace,
    console: Console,
    start: str | None = None,
    depth: int | None = None,
    words: int | None = None,
    phrases: int | None = None,
    *,
    ids: bool = False,
    examples: Mapping[str, Sequence[Sample]] = MappingProxyType({}),
) -> None:
    """The tree for people: a line a topic, as wide as the screen unless a number is given."""
    corpus, tree = workspace.corpus, workspace.tree
    top = tree.find(start or "o")
    console.print(sizes(corpus.documents, corpus.tokens, len(tree) - 1))
    if not tree.root.children:
        reason = tree.root.reason if tree.settings.height else NO_TREE
        why = "" if reason in LEAF else f": {reason}"
        console.print(f"the corpus is one topic{why}")
    for guide, topic in _lines(top, "", depth):
        chosen = words if words is not None else phrases
        texts = _texts(topic, words, phrases)
        line = _line(guide, topic, texts, console, fit=chosen is None, ids=ids)
        console.print(line, soft_wrap=True)
        stem = _stem(guide) + ("│  " if topic.children and depth != 0 else "   ")
        for example in examples.get(topic.id, ()):
            console.print(_example(stem, example, console), soft_wrap=True)


def _example(stem: str, example: Sample, console: Console) -> Text:
    head = Text.assemble((stem, "dim"), (f"{100 * example.share:.0f}%", "cyan"), f" {example.id}  ")
    text = Text(f"[{example.fields}]  " if example.fields else "", "dim") + Text(example.text)
    if console.is_terminal:
        text.truncate(max(console.width - head.cell_len, 1), overflow="ellipsis")
    return head + text


def _stem(guide: str) -> str:
    """The lines that go on below a topic."""
    return guide.replace("├─ ", "│  ").replace("└─ ", "   ")


def _lines(topic: Topic, guide: str, depth: int | None) -> list[tuple[str, Topic]]:
    """Topics in the order of a tree, each with the lines that lead to it."""
    lines = [(guide, topic)]
    children = topic.children if depth is None or depth > 0 else []
    stem = _stem(guide)
    for index, child in enumerate(children):
        branch = "└─ " if index == len(children) - 1 else "├─ "
        lines += _lines(child, stem + branch, None if depth is None else depth - 1)
    return lines


def print_branch(change: Change, surfaces: Sequence[str], console: Console) -> list[Text]:
    """New and changed topics, one a line, with their ids and their phrases, or else words."""
    lines = []
    for path, name in walk(change.nodes):
        if name not in change.added and name not in change.changed:
            continue
        node = change.nodes[name]
        head = Text.assemble(
            (path, "bold"),
            " ",
            (percent(node.weight), "cyan"),
            " ",
            (name, "dim"),
            "  ",
            (f"{node.label}: " if node.named else "", "bold"),
        )
        texts = [text for text, _ in node.phrases] or [surfaces[word] for word in node.top_words]
        texts, room = texts[:SHOWN], console.width - head.cell_len
        while len(texts) > 1 and console.is_terminal and cell_len(", ".join(texts)) > room:
            texts.pop()
        lines.append(head + Text(", ".join(texts)))
    return lines


def _texts(topic: Topic, words: int | None, phrases: int | None) -> list[str]:
    """What is shown of a topic: its phrases, or single words if asked for or none are there."""
    from strod.export.names import texts_of

    if words is None:
        return texts_of(topic, phrases)
    return [word for word, _ in topic.top(words)]


def _line(
    guide: str, topic: Topic, texts: list[str], console: Console, *, fit: bool, ids: bool
) -> Text:
    head = Text.assemble(
        (guide, "dim"),
        (topic.path, "bold" if topic.level < 2 else ""),
        " ",
        (percent(topic.weight), "cyan"),
        "  ",
        (f"{topic.id}  " if ids else "", "dim"),
    )
    if topic.named:  # by somebody; other names are made of the phrases that follow
        head += Text.assemble((f"{topic.label}", "bold"), ": ")
    notes = [topic.reason] * (topic.reason not in LEAF and topic.level > 0)
    notes += ["pinned"] * topic.pinned
    note = f"  ({', '.join(notes)})" if notes else ""
    room = console.width - head.cell_len - len(note)
    chosen: list[str] = []
    for text in texts:
        fits = cell_len(", ".join([*chosen, text])) <= room
        if fit and (not fits if console.is_terminal else len(chosen) == SHOWN):
            break
        chosen.append(text)
    return head + Text(", ".join(chosen)) + Text(note, style="dim")
