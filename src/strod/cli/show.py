"""``strod show``: the tree of a workspace, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import typer
from rich.cells import cell_len
from rich.text import Text

from strod.cli.console import TerminalProgress, output
from strod.cli.options import Json, WorkspacePath, flat, option
from strod.wording import begins_with, json_text, percent, sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from strod.export.samples import Sample
    from strod.query.entities import Entity
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

__all__ = ["LEAF", "NO_TREE", "print_tree", "show"]

SHOWN = 8  # phrases of a topic where the screen has no width
LISTED = 20  # phrases that a topic has in its list; more are found when they are asked for
LEAF = ("", "height", "topics")  # reasons that go without saying
NO_TREE = "height 0 asks for no tree; strod expand splits o"


class Below(NamedTuple):
    """What is shown below the line of a topic, by its id: documents, entities."""

    examples: Mapping[str, Sequence[Sample]] = MappingProxyType({})
    entities: Mapping[str, Sequence[Entity]] = MappingProxyType({})


@dataclass(frozen=True)
class Shown:
    """How deep a tree is shown, and what of each topic."""

    depth: int | None = option(None, min=0, help="Levels to show.  [default: all]")
    phrases: int | None = option(
        None, min=0, help="Phrases of a topic; 0 means all.  [default: what fits the line]"
    )
    words: int | None = option(None, min=0, help="Show so many single words instead; 0 means all.")
    documents: int = option(
        0, min=0, metavar="N", help="Show the N documents that a topic has most of, too."
    )
    entities: str | None = option(
        None, metavar="FIELD", help="Show members of a field that stand for a topic, too: authors."
    )
    ids: bool = option(False, "--ids", help="Show ids, which never change, too.")

    @property
    def fits_the_line(self) -> bool:
        """Whether as many phrases are shown as the line has room for."""
        return self.words is None and self.phrases is None

    @property
    def beyond_the_list(self) -> bool:
        """Whether more phrases are asked for than a topic has in its list."""
        return self.words is None and self.phrases is not None and not 0 < self.phrases <= LISTED


@flat
def show(
    workspace: WorkspacePath,
    topic: str | None = typer.Argument(
        None, metavar="[TOPIC]", help="Path (o/1/2), name or id: only this branch."
    ),
    *,
    shown: Shown,
    as_json: Json = False,
) -> None:
    """Show the tree of a workspace.

    \b
    Examples:
      strod show papers.strod
      strod show papers.strod o/1 --phrases 20
      strod show papers.strod --words 10
      strod show papers.strod o/1/2 --documents 5
      strod show papers.strod o/3 --entities authors
      strod show papers.strod --json | jq '.topics[1].phrases'
    """
    from strod.export.samples import samples
    from strod.workspace.summary import as_dictionary
    from strod.workspace.workspace import Workspace

    opened = Workspace(workspace)
    branch = [one for _, one in _lines(opened.tree.find(topic or "o"), "", shown.depth)]
    with TerminalProgress(quiet=not shown.documents and not shown.beyond_the_list) as progress:
        examples = samples(opened, shown.documents, progress)
        members = _members(opened, shown.entities, topic, progress)
        if shown.beyond_the_list:
            found = opened.snapshot.all_phrases([one.id for one in branch], progress)
            for one in branch:
                one.phrases = found[one.id]
    if as_json:
        content = as_dictionary(opened, topic, shown.depth, shown.words, shown.phrases)
        for one in content["topics"] if shown.documents else ():
            one["examples"] = [some.as_dictionary() for some in examples.get(one["id"], ())]
        for one in content["topics"] if shown.entities else ():
            one["entities"] = [list(some) for some in members[one["id"]]]
        print(json_text(content))
    else:
        print_tree(opened, output(), topic, shown, Below(examples, members))


def _members(
    workspace: Workspace, field: str | None, topic: str | None, progress: TerminalProgress
) -> dict[str, list[Entity]]:
    """Entities that stand for topics, by the topic's id."""
    if not field:
        return {}
    from strod.query.entities import Entities

    index = workspace.snapshot.index
    index.progress = progress
    entities = Entities(index, field)
    return {one.id: entities.best(one) for one in index.topics(topic)}


def print_tree(
    workspace: Workspace,
    console: Console,
    topic: str | None = None,
    shown: Shown = Shown(),
    below: Below = Below(),
) -> None:
    """The tree for people: a line a topic, as wide as the screen unless a number is given."""
    corpus, tree = workspace.corpus, workspace.tree
    top = tree.find(topic or "o")
    console.print(sizes(corpus.documents, corpus.tokens, len(tree) - 1))
    if not tree.root.children:
        reason = tree.root.reason if tree.settings.height else NO_TREE
        why = "" if reason in LEAF else f": {reason}"
        console.print(f"the corpus is one topic{why}")
    for guide, one in _lines(top, "", shown.depth):
        console.print(_line(guide, one, console, shown), soft_wrap=True)
        stem = _stem(guide) + ("│  " if one.children and shown.depth != 0 else "   ")
        for example in below.examples.get(one.id, ()):
            console.print(_example(stem, example, console), soft_wrap=True)
        if members := below.entities.get(one.id):
            names = ", ".join(f"{some.name} ({some.documents:,})" for some in members)
            console.print(Text.assemble((stem, "dim"), names), soft_wrap=True)


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


def _texts(topic: Topic, words: int | None, phrases: int | None) -> list[str]:
    """What is shown of a topic: its phrases, or single words if asked for or none are there."""
    from strod.export.names import texts_of

    if words is None:
        return texts_of(topic, phrases)
    return [word for word, _ in topic.top(words)]


def _line(guide: str, topic: Topic, console: Console, shown: Shown) -> Text:
    texts, fit = _texts(topic, shown.words, shown.phrases), shown.fits_the_line
    head = Text.assemble(
        (guide, "dim"),
        (topic.path, "bold" if topic.level < 2 else ""),
        " ",
        (percent(topic.weight), "cyan"),
        "  ",
        (f"{topic.id}  " if shown.ids else "", "dim"),
    )
    if topic.named or (shown.words is None and not begins_with(texts, topic.label or "")):
        head += Text.assemble((f"{topic.label}", "bold"), ": ")
    notes = [topic.reason] * (topic.reason not in LEAF and topic.level > 0)
    notes += ["pinned"] * topic.pinned
    notes += [f"{percent(topic.rest)} in no child"] * (topic.rest > 0)
    notes += [f"+{percent(topic.surplus)} in grown topics"] * (topic.surplus > 0)
    note = f"  ({', '.join(notes)})" if notes else ""
    room = console.width - head.cell_len - len(note)
    chosen: list[str] = []
    for text in texts if fit else ():
        fits = cell_len(", ".join([*chosen, text])) <= room
        if not fits if console.is_terminal else len(chosen) == SHOWN:
            break
        chosen.append(text)
    return head + Text(", ".join(chosen if fit else texts)) + Text(note, style="dim")
