"""``strod search``: documents by what they say, and where in the tree they live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from strod.cli import ask
from strod.cli.console import number, output
from strod.cli.options import Json, Quiet, WorkspacePath, flat, option
from strod.wording import json_text

if TYPE_CHECKING:
    from rich.console import Console

    from strod.query.search import Result

__all__ = ["search"]

PLACES = 8  # topics that are shown
INDENT = "    "


@dataclass(frozen=True)
class Hits:
    """Which of the documents that are found are shown."""

    topic: ask.Topic = None
    where: ask.Where = None
    limit: int = option(20, min=0, help="Documents to show; 0 means all.")
    offset: int = option(0, min=0, help="Documents to pass over, for the next page.")


@flat
def search(
    workspace: WorkspacePath,
    query: str = typer.Argument(..., metavar="QUERY", help='Words, "phrases", AND, OR, NOT, …'),
    *,
    hits: Hits,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find documents by their words, and see in which topics they are.

    All words must be there; OR, NOT (or -word), "phrases in quotes", prefix*, parentheses and
    field:value say it in other ways. The first search makes an index, beside the tree.

    Lift is how many times as many hits a topic has as it would have of any documents.

    \b
    Examples:
      strod search papers.strod "federated learning"
      strod search papers.strod '"topic model" OR LDA -survey' --where 'year >= 2015'
      strod search papers.strod 'graph* authors:"P. Erdős"' --topic o/5 --json
    """
    from strod.query.near import near_words
    from strod.query.search import search as found_by

    with ask.progress(quiet=quiet) as progress:
        index = ask.opened(workspace, progress)
        found = found_by(index, query, **vars(hits))
    if as_json:
        print(json_text(found.as_dictionary()))
    else:
        _print(output(), found, hits.offset)
        for written, near in () if found.total else near_words(index, query):
            output().print(f"{written}: no document has it; do you mean {' or '.join(near)}?")


def _print(console: Console, found: Result, offset: int) -> None:
    console.print(f"{number(found.total)} document{'' if found.total == 1 else 's'}")
    leaves = [row for row in found.topics.to_pylist() if row["path"] != "o"]
    wide = max((len(row["path"]) for row in leaves), default=0)
    if leaves:
        wide = max(wide, len("topic"))
        console.print(Text(f"{'topic':<{wide}} {'hits':>9}  {'lift':<9} name", style="dim"))
    for row in leaves[:PLACES]:
        line = f"{row['path']:<{wide}} {row['hits']:>9,}  ×{row['lift']:<8.2f} {row['label'] or ''}"
        console.print(Text(line), soft_wrap=True)
    for one in found.named:
        what = f": {', '.join(one.phrases)}" if one.phrases else ""
        console.print(
            Text.assemble(
                ("by name or phrase: ", "dim"), f"{one.topic.path} {one.topic.label}{what}"
            ),
            soft_wrap=True,
        )
    rows = found.documents.to_pylist()
    for place, (row, pieces) in enumerate(zip(rows, found.snippets, strict=True), offset + 1):
        console.print(_head(place, row), soft_wrap=True)
        passage = Text.assemble(*((text, "bold" if hit else "") for text, hit in pieces))
        console.print(Text(INDENT) + passage, soft_wrap=not console.is_terminal)


def _head(place: int, row: dict[str, Any]) -> Text:
    from strod.export.samples import meta_text

    fields = [
        f"{name.removeprefix('meta.')}: {meta_text(value)}"
        for name, value in row.items()
        if name.startswith("meta.") and value not in (None, [])
    ]
    leaf = row["leaf"] or "no known word"
    return Text.assemble(
        f"{place}. ", (row["id"], "bold"), f"  {leaf}  ", ("; ".join(fields), "dim")
    )
