"""``strod plot``: pictures of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typer

from strod.cli import ask
from strod.cli.options import Quiet, WorkspacePath, flat, option
from strod.errors import UsageError

__all__ = ["plot"]

KINDS = ("tree", "trends", "heatmap")


@dataclass(frozen=True)
class Picture:
    """Where to draw, and what of."""

    out: Path = option(..., "--out", "-o", help="File to write: .png, .svg or .pdf.")
    by: str | None = option(
        None, metavar="FIELD", help="Of a heat map or trends.  [default: the first that fits]"
    )
    measure: str = option("lift", help="Of a heat map: lift, share or documents.")


@flat
def plot(
    workspace: WorkspacePath,
    kind: str = typer.Argument(..., metavar="tree|trends|heatmap", help="What to draw."),
    *,
    picture: Picture,
    asked: ask.Asked,
    quiet: Quiet = False,
) -> None:
    """Draw the tree, how topics change over time, or topics by the values of a field.

    \b
    Examples:
      strod plot papers.strod tree --out tree.svg
      strod plot papers.strod trends --level 2 --out trends.png
      strod plot papers.strod heatmap --by category --level 1 --out heatmap.svg
    """
    from strod.plots.plots import Plots
    from strod.query.trends import trends

    if kind not in KINDS:
        raise UsageError(f"{kind}: no such plot; there are {', '.join(KINDS)}")
    ask.check_plot(picture.out)
    with ask.progress(quiet=quiet) as progress:
        index = ask.opened(workspace, progress)
        plots = Plots(index)
        if kind == "tree":
            if asked != ask.Asked(asked.topic) or picture.by is not None:
                raise UsageError("the tree is drawn whole or below a `topic`; leave out the rest")
            figure = plots.tree(asked.topic)
        elif kind == "trends":
            ask.save_trends(trends(index, picture.by, **vars(asked)), picture.out)
            return
        else:
            figure = plots.heatmap(picture.by, picture.measure, **vars(asked))
    ask.save_plot(figure, picture.out)
