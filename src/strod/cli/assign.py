"""``strod assign``: topics of documents, of the corpus or new ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson
import typer

from strod.cli import shape
from strod.cli.console import TerminalProgress, say
from strod.wording import escaped

__all__ = ["assign"]


def assign(
    workspace: Path = typer.Argument(..., metavar="W.strod", help="The workspace."),
    sources: list[str] = typer.Argument(
        None, metavar="[SOURCE]...", help="New text; without it, the documents of the corpus."
    ),
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
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Give every document's share of every topic, as JSON lines.

    \b
    Examples:
      strod assign papers.strod > topics.jsonl
      strod assign papers.strod new.jsonl
      echo "a text about trees" | strod assign papers.strod -
    """
    from strod.placements import assign_corpus
    from strod.workspace import Workspace

    opened = Workspace(workspace)
    lines: list[str] = []
    with TerminalProgress(quiet=quiet) as progress:
        if sources:
            from strod.assign import assign_new  # the others start at once

            given: dict[str, Any] = {
                "text_field": tuple(text_field or ()),
                "id_field": id_field,
                "tokenizer": tokenizer,
                "follow_links": follow_links,
            }
            options = {name: value for name, value in given.items() if value}
            rows = assign_new(
                opened, *sources, progress=progress, tell=lines.append, format=format, **options
            )
        else:
            rows = assign_corpus(opened, progress)
        for row in rows:
            sys.stdout.buffer.write(escaped(orjson.dumps(row).decode()).encode() + b"\n")
        sys.stdout.buffer.flush()
    for line in lines:
        say(line, error=True)
