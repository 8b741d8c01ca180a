"""``strod assign``: topics of documents, of the corpus or new ones."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import typer

from strod.cli.console import TerminalProgress, say
from strod.cli.options import Overwrite, Quiet, WorkspacePath, flat, option
from strod.cli.shape import NewText
from strod.errors import UsageError
from strod.wording import escaped

__all__ = ["assign"]

TABLES = ("csv", "parquet")


@dataclass(frozen=True)
class Output:
    """Which shares are given, and where they go."""

    least: float = option(0.0, metavar="SHARE", help="Leave out smaller shares.")
    top: int = option(0, metavar="N", help="The N largest shares of each level; 0: all.")
    to: str | None = option(
        None, "--to", help="jsonl, csv or parquet.  [default: as --out ends, else jsonl]"
    )
    wide: bool = option(
        False, "--wide", help="A row a document and a column a topic, not a row a share."
    )
    out: Path | None = option(
        None, "--out", "-o", help="File to write.  [default for jsonl: standard output]"
    )
    overwrite: Overwrite = False


@flat
def assign(
    workspace: WorkspacePath,
    sources: list[str] | None = typer.Argument(
        None, metavar="[SOURCE]...", help="New text; without it, the documents of the corpus."
    ),
    *,
    text: NewText,
    output: Output,
    quiet: Quiet = False,
) -> None:
    """Give every document's share of every topic, how many of its tokens are known, and its fit.

    Fit is the share of the corpus' own documents that are explained no better, were they new: a
    document below 0.04 fits no topic.

    \b
    Examples:
      strod assign papers.strod > topics.jsonl
      strod assign papers.strod new.jsonl
      strod assign papers.strod new.jsonl --least 0.05 --to csv --out topics.csv
      strod assign papers.strod --to parquet --wide --out topics.parquet
      echo "a text about trees" | strod assign papers.strod -
    """
    from strod.export.assigned import assigned_table, write_table
    from strod.export.files import new_file
    from strod.workspace.workspace import Workspace

    to = _check_output(output)
    opened = Workspace(workspace)
    lines: list[str] = []
    options: dict[str, Any] = {"least": output.least, "top": output.top}
    if sources:
        options |= {**text.given(), "tell": lines.append}
    with TerminalProgress(quiet=quiet) as progress:
        rows = opened.assign(*(sources or ()), progress=progress, **options)
        if output.out is None:
            sys.stdout.buffer.writelines(map(_line, rows))
            sys.stdout.buffer.flush()
        elif to == "jsonl":
            new = new_file(output.out, overwrite=output.overwrite)
            with new as building, building.open("wb") as file:
                file.writelines(map(_line, rows))
        else:
            table = assigned_table(opened, rows, wide=output.wide)
            write_table(table, output.out, to, overwrite=output.overwrite)
    for line in lines:
        say(line, error=True)


def _check_output(output: Output) -> str:
    """Which format is meant; what cannot be written is refused before anything is read."""
    suffix = output.out.suffix.removeprefix(".").lower() if output.out is not None else ""
    to = output.to or (suffix if suffix in TABLES else "jsonl")
    if to not in ("jsonl", *TABLES):
        raise UsageError(f"--to {to}: choose from jsonl, csv, parquet")
    if to == "jsonl" and output.wide:
        raise UsageError("--wide is for csv and parquet; give --to")
    if to != "jsonl" and output.out is None:
        raise UsageError(f"--to {to} needs a file; give --out")
    return to


def _line(row: dict[str, Any]) -> bytes:
    return escaped(orjson.dumps(row).decode()).encode() + b"\n"
