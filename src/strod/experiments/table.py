"""What an experiment gives: rows, and how they are shown."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Column", "Panel", "Result", "csv_text", "markdown", "table_text"]

Row = dict[str, Any]


class Column(NamedTuple):
    """A column of the Markdown table.

    Attributes
    ----------
    key : str
        Of a row.
    heading : str
        What people read.
    form : callable
        Turns a value into text.
    """

    key: str
    heading: str
    form: Callable[[Any], str] = str


@dataclass(frozen=True)
class Panel:
    """One part of a plot.

    Attributes
    ----------
    title, x, y : str
        Heading and axes.
    lines : dict
        Points of each line by its name; for bars the first of a pair is the group's name.
    logarithmic : str
        Axes with a logarithmic scale: "", "x", "y" or "xy".
    bars : bool
        Whether these are bars in groups.
    """

    title: str
    x: str
    y: str
    lines: dict[str, list[tuple[Any, float]]]
    logarithmic: str = ""
    bars: bool = False


@dataclass
class Result:
    """Outcome of an experiment.

    Attributes
    ----------
    name, title : str
        Which experiment.
    columns : list of Column
        Of the table.
    rows : list of dict
        What was measured.
    panels : list of Panel
        Of the plot.
    notes : list of str
        What a reader has to know: what was scaled, skipped, refused.
    """

    name: str
    title: str
    columns: list[Column]
    rows: list[Row]
    panels: list[Panel]
    notes: list[str] = field(default_factory=list)


def csv_text(result: Result, about: dict[str, str]) -> str:
    """Comma-separated values; machine and notes are comments in front."""
    keys = [column.key for column in result.columns]
    keys += sorted({key for row in result.rows for key in row if key not in keys})
    keys = list(dict.fromkeys(keys))
    out = io.StringIO()
    out.writelines(f"# {name}: {value}\n" for name, value in about.items())
    out.writelines(f"# {_line(note)}\n" for note in result.notes)
    writer = csv.DictWriter(out, keys, lineterminator="\n")
    writer.writeheader()
    writer.writerows(result.rows)
    return out.getvalue()


def markdown(result: Result, about: dict[str, str]) -> str:
    """Heading, table, plot, notes and the machine."""
    lines = [f"# {result.title}", "", *_table(result.columns, result.rows), ""]
    if result.panels:
        lines += [f"![{result.title}]({result.name}.svg)", ""]
    lines += [f"- {_line(note)}" for note in result.notes] + [""] * bool(result.notes)
    lines += [f"Measured on: {', '.join(f'{name} {value}' for name, value in about.items())}."]
    return "\n".join(lines) + "\n"


def table_text(result: Result) -> str:
    """The table alone."""
    return "\n".join(_table(result.columns, result.rows))


def _table(columns: Sequence[Column], rows: Sequence[Row]) -> list[str]:
    """Columns that no row has a value for are left out."""
    used = [c for c in columns if any(row.get(c.key) not in (None, "") for row in rows)]
    cells = [[_cell(column, row) for column in used] for row in rows]
    widths = [
        max([len(column.heading), 3, *(len(line[i]) for line in cells)])
        for i, column in enumerate(used)
    ]
    heads = [column.heading.ljust(width) for column, width in zip(used, widths, strict=True)]
    numeric = [_numeric(column, rows) for column in used]
    rule = ["-" * (w - n) + ":" * n for w, n in zip(widths, numeric, strict=True)]
    padded = [
        [c.rjust(w) if n else c.ljust(w) for c, w, n in zip(line, widths, numeric, strict=True)]
        for line in cells
    ]
    return [f"| {' | '.join(line)} |" for line in [heads, rule, *padded]]


def _numeric(column: Column, rows: Sequence[Row]) -> bool:
    values = [value for row in rows if (value := row.get(column.key)) not in (None, "")]
    return all(isinstance(value, int | float) for value in values)


def _cell(column: Column, row: Row) -> str:
    value = row.get(column.key)
    return "" if value in (None, "") else _line(column.form(value)).replace("|", "\\|")


def _line(text: str) -> str:
    return " ".join(text.split())
