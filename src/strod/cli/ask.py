"""What the commands share that ask a tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strod.cli.console import TerminalProgress, say
from strod.cli.options import Json, Quiet, option

if TYPE_CHECKING:
    from strod.query.index import Index

__all__ = ["Answer", "Asked", "Topic", "Where", "check_plot", "opened", "progress", "save_plot"]

Topic = Annotated[
    str | None,
    typer.Option(metavar="TOPIC", help="Only this topic and those below: path or name."),
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="EXPRESSION", help="Which documents: \"year >= 2015 AND label = 'cs.LG'\"."
    ),
]


@dataclass(frozen=True)
class Asked:
    """Which topics and documents an answer is about."""

    topic: Topic = None
    level: int | None = option(None, min=0, help="Only topics of this level; 1 is below the root.")
    where: Where = None


@dataclass(frozen=True)
class Answer:
    """How an answer is given."""

    as_json: Json = False
    plot: Path | None = option(None, "--plot", metavar="FILE", help="Draw it: .png, .svg or .pdf.")
    quiet: Quiet = False


def progress(*, quiet: bool) -> TerminalProgress:
    """Told only if something has to be made first that takes its time."""
    return TerminalProgress(quiet=quiet, patience=2.0)


def opened(workspace: Path, told: TerminalProgress) -> Index:
    """The newest revision of a workspace, to be asked."""
    from strod.workspace.workspace import Workspace

    index = Workspace(workspace).snapshot.index
    index.progress = told
    return index


def check_plot(out: Path | None) -> None:
    """Refuse what cannot be drawn before anything is counted."""
    if out is None:
        return
    from strod.plots.figure import kind_of, need_matplotlib

    kind_of(out)
    need_matplotlib()


def save_plot(figure: Any, out: Path) -> None:
    """Write a picture, in place of an older one."""
    from strod.export.files import write_file
    from strod.plots.figure import kind_of, rendered

    kind = kind_of(out)
    write_file(out, lambda: rendered(figure, kind), overwrite=True)
    say(f"{out}: written")
