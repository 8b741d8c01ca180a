"""``strod export``: a tree for other tools, or to read."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from strod.cli.console import TerminalProgress, number, say, size

__all__ = ["export"]


def export(
    workspace: Path = typer.Argument(..., metavar="W.strod", help="The workspace."),
    to: str = typer.Option(..., "--to", help="json, csv, markdown, graphml, skos or html."),
    out: Path = typer.Option(
        None, "--out", "-o", help="File to write, a folder for csv.  [default: standard output]"
    ),
    phrases: int = typer.Option(
        None, min=0, help="Phrases of a topic; 0 means all.  [default: all; markdown, html: 10]"
    ),
    documents: int = typer.Option(
        None, min=0, help="Documents of a topic, for html and json.  [default: html: 5]"
    ),
    base: str = typer.Option(
        None, metavar="URI", help="Begin of the URIs, for skos.  [default: urn:strod:topic:]"
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace what --out names."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Write the tree in a format of other tools.

    \b
    Examples:
      strod export papers.strod --to html --out papers.html
      strod export papers.strod --to csv --out tables
      strod export papers.strod --to markdown --phrases 5
      strod export papers.strod --to skos --base https://example.org/topics/ > papers.ttl
    """
    from strod.export import export as write
    from strod.workspace import Workspace

    opened = Workspace(workspace)
    with TerminalProgress(quiet=quiet) as progress:
        text = write(
            opened,
            to,
            out,
            phrases=phrases,
            documents=documents,
            base=base,
            overwrite=overwrite,
            progress=progress,
        )
    if text is not None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    elif not quiet:
        files = [path for path in [out, *out.glob("*")] if path.is_file()]
        written = size(sum(path.stat().st_size for path in files))
        behind = f" (a link to {out.resolve()})" if out.is_symlink() else ""
        say(f"{out}{behind}: {number(len(opened.tree) - 1)} topics, {written}")
