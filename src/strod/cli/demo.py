"""``strod demo``: a corpus of text that is on every machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from strod.cli.build import Work, run
from strod.cli.console import TerminalProgress, output
from strod.cli.options import Silent
from strod.cli.show import print_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["demo"]


def demo(
    *,
    out: Path = typer.Option(Path("demo.strod"), "--out", "-o", help="Folder to make."),
    workers: int | None = typer.Option(None, help="Threads.  [default: all cores]"),
    quiet: Silent = False,
) -> None:
    """Build a tree from the docstrings of Python, NumPy and SciPy and show it.

    An older demo of the same name is replaced.

    \b
    Example:
      strod demo
    """
    from strod.workspace.workspace import Workspace

    with TerminalProgress(quiet=quiet) as progress:
        records = list(_records(progress))
    options = {"meta": ["package:category", "module:category"], "children": 6}
    run([records], out, options, Work(workers=workers, overwrite=True, quiet=quiet))
    if not quiet:
        print_tree(Workspace(out), output())


def _records(progress: TerminalProgress) -> Iterator[dict[str, str]]:
    from strod.datasets.docstrings import records, source_files

    files = source_files()
    progress.stage("collecting docstrings", len(files), "files")

    def counted() -> Iterator[object]:
        for file in files:
            yield file
            progress.advance(1)

    return records(counted())  # type: ignore[arg-type]
