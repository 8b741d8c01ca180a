"""``strod export``: a tree for other tools, or to read."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from strod.cli.console import TerminalProgress, number, say, size
from strod.cli.options import Overwrite, Quiet, WorkspacePath, flat, option

__all__ = ["export"]


@dataclass(frozen=True)
class Content:
    """What an export holds."""

    phrases: int | None = option(
        None, min=0, help="Phrases of a topic; 0 means all.  [default: all; markdown, html: 10]"
    )
    documents: int | None = option(
        None,
        min=0,
        help="Documents of a topic, for html, json and site.  [default: html: 5; site: 3 to 100]",
    )
    base: str | None = option(
        None, metavar="URI", help="Begin of the URIs, for skos.  [default: urn:strod:topic:]"
    )


@flat
def export(
    workspace: WorkspacePath,
    *,
    to: str = typer.Option(
        ..., "--to", help="json, csv, parquet, markdown, graphml, skos, html or site."
    ),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        help="File to write, a folder for tables and sites.  [default: standard output]",
    ),
    content: Content,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the tree in a format of other tools.

    \b
    Examples:
      strod export papers.strod --to html --out papers.html
      strod export papers.strod --to site --out papers
      strod export papers.strod --to csv --out tables
      strod export papers.strod --to parquet --out tables
      strod export papers.strod --to markdown --phrases 5
      strod export papers.strod --to skos --base https://example.org/topics/ > papers.ttl
    """
    from strod.export import export as write
    from strod.workspace.workspace import Workspace

    opened = Workspace(workspace)
    with TerminalProgress(quiet=quiet) as progress:
        text = write(opened, to, out, overwrite=overwrite, progress=progress, **vars(content))
    if text is not None:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    elif out is not None and not quiet:
        files = [path for path in [out, *out.rglob("*")] if path.is_file()]
        written = size(sum(path.stat().st_size for path in files))
        behind = f" (a link to {out.resolve()})" if out.is_symlink() else ""
        say(f"{out}{behind}: {number(len(opened.tree) - 1)} topics, {written}")
