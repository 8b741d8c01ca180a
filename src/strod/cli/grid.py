"""Tables of numbers that fit the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

__all__ = ["cut", "print_grid"]

NAME, LABEL = 24, 30  # letters of the first column, and of the labels


def print_grid(
    console: Console,
    heads: Sequence[tuple[str, str]],
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> None:
    """Rows with a name and a label; columns that do not fit beside each other go below."""
    left = min(max(map(cell_len, (name for name, _ in heads)), default=0), NAME)
    label = min(max(map(cell_len, (label for _, label in heads)), default=0), LABEL)
    width = 2 + max(map(cell_len, [*columns, *(cell for row in rows for cell in row)]), default=1)
    width = min(width, NAME)
    columns = [cut(column, width - 2) for column in columns]
    room = console.width if console.is_terminal else 1 << 20
    across = max((room - left - label - 1) // width, 1)
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
