"""Tables of numbers that fit the screen."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

__all__ = ["Grid", "cut", "fitting", "print_grid"]

NAME, LABEL = 24, 30  # letters of the first column, and of the labels


class Grid(NamedTuple):
    """Rows with a name and a label each, and a cell for each column."""

    heads: Sequence[tuple[str, str]]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def only(self, places: Sequence[int]) -> Grid:
        """The same with some of the columns."""
        rows = [[row[place] for place in places] for row in self.rows]
        return Grid(self.heads, [self.columns[place] for place in places], rows)

    @property
    def widths(self) -> tuple[int, int, int]:
        """Of the names, of the labels, and of each column."""
        left = max((cell_len(name) for name, _ in self.heads), default=0)
        label = max((cell_len(label) for _, label in self.heads), default=0)
        cells = chain(self.columns, *self.rows)
        return min(left, NAME), min(label, LABEL), min(2 + max(map(cell_len, cells)), NAME)


def fitting(console: Console, grid: Grid) -> int:
    """How many columns fit beside each other."""
    left, label, width = grid.widths
    room = console.width if console.is_terminal else 1 << 20
    return max((room - left - label - 1) // width, 1)


def print_grid(console: Console, grid: Grid) -> None:
    """Print rows; columns that do not fit beside each other go below."""
    left, label, width = grid.widths
    heads, rows, across = grid.heads, grid.rows, fitting(console, grid)
    columns = [cut(column, width - 2) for column in grid.columns]
    for first in range(0, len(columns), across):
        some = slice(first, first + across)
        blank = " " * (left + (label + 1 if label else 0))
        console.print(Text(blank + _cells(columns[some], width), style="dim"), soft_wrap=True)
        for (name, text), row in zip(heads, rows, strict=True):
            head = _fit(name, left) + (f" {_fit(text, label)}" if label else "")
            console.print(Text(head + _cells(row[some], width)), soft_wrap=True)


def cut(text: str, width: int) -> str:
    """As much of a text as fits, with an ellipsis if something is left out."""
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"


def _fit(text: str, width: int) -> str:
    return set_cell_size(cut(text, width), width)


def _cells(cells: Sequence[str], width: int) -> str:
    return "".join(" " * max(width - cell_len(cell), 1) + cell for cell in cells)
