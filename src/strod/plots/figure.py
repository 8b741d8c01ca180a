"""Figures that can be read in grey, and whose bytes depend on the data alone."""

from __future__ import annotations

from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from strod.errors import UsageError
from strod.extras import install

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["KINDS", "kind_of", "need_matplotlib", "new_figure", "plain_text", "rendered", "style"]

KINDS = ("png", "svg", "pdf")
_STYLE = {"svg.hashsalt": "strod", "svg.fonttype": "none", "font.size": 9}
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def need_matplotlib() -> Any:
    """The package that draws; if it is missing, how to get it."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise UsageError(f"plots need matplotlib: {install('plots')}") from None
    return mpl


@contextmanager
def style() -> Iterator[None]:
    """The look of all figures."""
    with need_matplotlib().rc_context(_STYLE):
        yield


def new_figure(width: float, height: float) -> Any:
    """A figure that no window shows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def rendered(figure: Any, kind: str) -> bytes:
    """The bytes of a figure as png, svg or pdf."""
    data = BytesIO()
    with style():
        figure.savefig(data, format=kind, dpi=150, metadata=_METADATA[kind])
    return data.getvalue()


def kind_of(out: Path) -> str:
    """The format that the name of a file asks for."""
    kind = out.suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise UsageError(f"{out}: give a name that ends in {', '.join(f'.{one}' for one in KINDS)}")
    return kind


def plain_text(text: str, length: int = 40) -> str:
    """A label as it stands in a picture: one line, no formulas, not too long."""
    line = " ".join(text.split()).replace("$", r"\$")
    return line if len(line) <= length else f"{line[: length - 1]}…"
