"""What the commands share that ask a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strod.cli.console import TerminalProgress, say
from strod.cli.options import Json, Quiet, option
from strod.errors import UsageError

if TYPE_CHECKING:
    from strod.query.index import Index
    from strod.query.trends import Trends

__all__ = [
    "Answer",
    "Asked",
    "Place",
    "Topic",
    "Where",
    "check_plot",
    "opened",
    "placed",
    "progress",
    "save_plot",
    "save_trends",
]

Topic = Annotated[
    str | None,
    typer.Option(metavar="TOPIC", help="Only this topic and those below: path or name."),
]
Place = Annotated[
    str | None, typer.Argument(metavar="[TOPIC]", help="Only this topic and those below.")
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


def placed(asked: Asked, place: str | None) -> Asked:
    """What is asked, with a topic that stands behind the workspace, as for `strod show`."""
    if place is None:
        return asked
    if asked.topic is not None:
        raise UsageError("`topic` is given twice")
    return replace(asked, topic=place)


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


def save_trends(found: Trends, out: Path) -> None:
    """Draw topics over time, and say if some have no room."""
    from strod.plots.draw import draw_trends, left_out

    save_plot(draw_trends(found), out)
    if left_out(found):
        say(f"{out}: {left_out(found)}; --topic, --level or --where choose others", error=True)


def save_plot(figure: Any, out: Path) -> None:
    """Write a picture, in place of an older one."""
    from strod.export.files import write_file
    from strod.plots.figure import kind_of, rendered

    kind = kind_of(out)
    write_file(out, lambda: rendered(figure, kind), overwrite=True)
    say(f"{out}: written")
