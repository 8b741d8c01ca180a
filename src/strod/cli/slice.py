"""``strod slice``: topics by the values of metadata fields."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from strod.cli import ask
from strod.cli.console import output
from strod.cli.grid import Grid, fitting, print_grid
from strod.cli.options import WorkspacePath, flat, option
from strod.errors import UsageError
from strod.wording import json_text

if TYPE_CHECKING:
    import pyarrow as pa

    from strod.query.index import Index

__all__ = ["slice_"]


@dataclass(frozen=True)
class Shown:
    """What a table has."""

    measure: str = option("share", help="What the table shows: share, documents or lift.")
    top: int | None = option(
        None,
        min=0,
        metavar="N",
        help="Values to show, those with most documents; 0: all.  [default: what fits the screen]",
    )
    as_csv: bool = option(False, "--csv", help="All values and measures, for spreadsheets.")


@flat
def slice_(
    workspace: WorkspacePath,
    place: ask.Place = None,
    *,
    by: list[str] = typer.Option(
        ..., "--by", metavar="FIELD", help="Field, with its part or bin: date:month, price:10."
    ),
    asked: ask.Asked,
    shown: Shown,
    answer: ask.Answer,
) -> None:
    """Count documents of topics by the values of metadata fields.

    share is the part of the documents with a value that are under the topic, lift that part over
    the topic's part of all documents. Dates go by year unless a part is named (date:month), numbers
    by bins, lists once for each member.

    \b
    Examples:
      strod slice papers.strod --by year --level 1
      strod slice papers.strod --by category --topic o/3 --measure lift
      strod slice papers.strod --by date:quarter --where "category = 'cs.LG'" --csv > slice.csv
      strod slice papers.strod --by year --level 1 --plot years.svg
    """
    from strod.query.fields import known
    from strod.query.slices import MEASURES, sliced

    measure, asked = shown.measure, ask.placed(asked, place)
    if measure not in MEASURES:
        raise UsageError(f"`measure` must be one of {', '.join(MEASURES)}, not {measure}")
    if answer.plot is not None and len(by) != 1:
        raise UsageError("`plot` draws topics by one field; give `by` once")
    ask.check_plot(answer.plot)
    with ask.progress(quiet=answer.quiet) as progress:
        index = ask.opened(workspace, progress)
        table = sliced(index, by, **vars(asked))
    if not table.num_rows:
        raise UsageError(f"no document is meant; {known(index.metadata.kinds)}")
    if answer.plot is not None:
        _plot(index, table, by[0], measure, answer.plot)
    if answer.as_json:
        print(json_text({"by": by, "measure": measure, "rows": table.to_pylist()}))
    elif shown.as_csv:
        _print_csv(table)
    elif answer.plot is None:
        _print(index, table, by, shown)


def _plot(index: Index, table: pa.Table, by: str, measure: str, out: Path) -> None:
    from strod.plots.draw import draw_heatmap

    labels = {topic.path: topic.label or "" for topic in index.tree.values()}
    ask.save_plot(draw_heatmap(table, by, measure, labels), out)


def _print_csv(table: pa.Table) -> None:
    import csv

    from strod.export.tables import harmless

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(harmless, table.column_names))
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    writer.writerows([harmless(cell) for cell in row] for row in rows)


def _print(index: Index, table: pa.Table, by: list[str], shown: Shown) -> None:
    """Topics by values, as a grid; of several fields one value each line."""
    from strod.query.slices import column_of

    rows = table.to_pylist()
    console = output()
    first, *others = map(column_of, by)
    values = list(dict.fromkeys(row[first] for row in sorted(rows, key=lambda r: _order(r[first]))))
    grid: dict[tuple[Any, ...], dict[Any, float]] = {}
    for row in rows:
        key = (row["topic"], *(row[name] for name in others))
        grid.setdefault(key, {})[row[first]] = row[shown.measure]
    labels = {topic.path: topic.label or "" for topic in index.tree.values()}
    heads = [(" ".join(map(_shown, key)), labels[key[0]] if len(key) == 1 else "") for key in grid]
    drawn = Grid(
        heads,
        list(map(_shown, values)),
        [[_number(cells.get(one), shown.measure) for one in values] for cells in grid.values()],
    )
    counts = Counter[Any]()
    for row in rows:
        counts[row[first]] += row["documents"]
    most = shown.top or len(values)
    if shown.top is None and console.is_terminal:
        most = fitting(console, drawn)
    print_grid(console, drawn.only(_largest([counts[value] for value in values], most)))
    if most < len(values):
        console.print(f"… {len(values) - most:,} more (--csv has all, --top N shows others)")


def _largest(counts: list[int], most: int) -> list[int]:
    """Places of the largest numbers, in their order."""
    return sorted(sorted(range(len(counts)), key=lambda place: -counts[place])[:most])


def _order(value: Any) -> tuple[bool, Any]:
    return value is None, 0 if value is None else value


def _shown(value: Any) -> str:
    return "(none)" if value is None else str(value)


def _number(value: float | None, measure: str) -> str:
    if value is None:
        return "·"
    if measure == "documents":
        return f"{value:,}"
    return f"{100 * value:.1f}%" if measure == "share" else f"{value:.2f}"
