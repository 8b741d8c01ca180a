"""The tree as an icicle, trends as small multiples, topics by values as a heat map."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.errors import UsageError
from strod.plots.figure import new_figure, plain_text, style
from strod.query.slices import column_of
from strod.wording import percent

if TYPE_CHECKING:
    import pyarrow as pa

    from strod.query.trends import Trend, Trends
    from strod.workspace.tree import Topic, Tree

__all__ = ["draw_heatmap", "draw_icicle", "draw_trends", "left_out"]

TINTS = ("#e8eef7", "#fbeedd", "#e6f2e6", "#f5e6ef", "#efefef", "#fdf6d8", "#e2f3f5", "#efe7dc")
PANELS, ACROSS = 12, 4  # trends in one figure, and beside each other
COLUMNS = 30  # values of a heat map
LINE, LETTERS = 0.14, 50  # inches of a line of text, letters in it
HEIGHT, COLUMN = 0.32, 3.6  # inches of a leaf, and of a level


def draw_icicle(tree: Tree, topic: str | None = None) -> Any:
    """Topics as boxes, children to the right of their parents, as high as they weigh."""
    top = tree.find(topic or "o")
    found = _below(top)
    depth = max(one.level for one in found) - top.level + 1
    leaves = [one.weight for one in found if not one.children]
    legible = LINE * top.weight / max(min(leaves), 1e-9)  # then the smallest has a line, too
    height = max(HEIGHT * len(leaves), min(1.1 * legible, 2 * HEIGHT * len(leaves)))
    height = min(max(height, 4.0), 60.0)
    with style():
        figure = new_figure(COLUMN * depth, height)
        axis = figure.add_subplot()
        axis.set(xlim=(0, depth), ylim=(-1.003, 0.003))
        axis.set_axis_off()
        _box(axis, top, _Place(0, 0.0, 1.0, "white"), height)
    return figure


def _below(topic: Topic) -> list[Topic]:
    found = [topic]
    for one in found:  # grows while it is read
        found += one.children
    return found


class _Place(NamedTuple):
    """Where a box is, and its tint: its column, its top, its height."""

    column: int
    top: float
    height: float
    tint: str


def _box(axis: Any, topic: Topic, place: _Place, inches: float) -> None:
    from matplotlib.patches import Rectangle

    column, top, height, tint = place
    corner = (column + 0.005, -top - height)
    axis.add_patch(Rectangle(corner, 0.99, height, facecolor=tint, edgecolor="0.45", linewidth=0.5))
    lines = _boxed(topic)[: int(height * inches / LINE)]
    middle = -top - height / 2
    axis.text(column + 0.02, middle, "\n".join(lines), ha="left", va="center", fontsize=7.5)
    total = max(sum(child.weight for child in topic.children), topic.weight) or 1.0
    for number, child in enumerate(topic.children):
        part = height * child.weight / total
        below = tint if column else TINTS[number % len(TINTS)]
        _box(axis, child, _Place(column + 1, top, part, below), inches)
        top += part


def _boxed(topic: Topic) -> list[str]:
    """Path, weight and name in one line, then phrases, a line each."""
    names = [text for text, _ in topic.phrases[:7]] or [word for word, _ in topic.words[:7]]
    names = [name for name in names if name not in (topic.label or "").split(", ")]
    head = f"{topic.path}  {percent(topic.weight)}  {topic.label or ''}"
    return [plain_text(head, LETTERS), *(plain_text(name, LETTERS) for name in names)]


def draw_trends(found: Trends) -> Any:
    """Topics that grew or shrank most, a panel each: share by time."""
    rows = _strongest(found)
    across = min(ACROSS, len(rows))
    down = ceil(len(rows) / across)
    with style():
        figure = new_figure(3.1 * across, 1.9 * down + 0.3)
        axes = figure.subplots(down, across, squeeze=False, sharex=True).ravel()
        for axis, one in zip(axes, rows, strict=False):
            _panel(axis, one, found)
        for axis in axes[len(rows) :]:
            axis.set_axis_off()
        note = f"; {left_out(found)}" if left_out(found) else ""
        figure.suptitle(plain_text(f"share of documents by {found.field}{note}", 100), fontsize=10)
    return figure


def left_out(found: Trends) -> str:
    """What is said of topics that no panel is for; nothing if there are none."""
    if len(found.rows) <= PANELS:
        return ""
    return f"{PANELS} of {len(found.rows)} topics, those whose direction is surest"


def _strongest(found: Trends) -> list[Trend]:
    """Those whose direction is surest, in the order of their slopes."""

    def sure(one: Trend) -> float:
        return -max(one.slope.low, -one.slope.high)

    kept = sorted(found.rows, key=sure)[:PANELS]
    return [one for one in found.rows if any(one is other for other in kept)]


def _panel(axis: Any, one: Trend, found: Trends) -> None:
    shares = [100 * share for _, _, share in one.series]
    places = found.times  # to scale, whichever buckets there are
    axis.plot(places, shares, color="0.1", linewidth=1.2, marker="o", markersize=2.2)
    axis.fill_between(places, shares, color="0.9")
    axis.set_ylim(bottom=0)
    label = plain_text(one.topic.label or "", 30)
    change = f"{100 * (np.exp(one.slope.slope) - 1):+.0f}% a {found.unit}"
    sure = "" if one.certain else " (not certain)"
    axis.set_title(f"{one.topic.path} {label}\n{change}{sure}", fontsize=8, loc="left")
    middle = np.abs(places - (places[0] + places[-1]) / 2).argmin()
    ticks = sorted({0, int(middle), len(shares) - 1})
    axis.set_xticks(places[ticks], [str(one.series[tick][0]) for tick in ticks], fontsize=7)
    axis.tick_params(axis="y", labelsize=7)
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")
    axis.grid(visible=True, color="0.93", linewidth=0.5)


def draw_heatmap(table: pa.Table, by: str, measure: str, labels: dict[str, str]) -> Any:
    """Topics by the values of a field; the darker, the more."""
    rows = table.to_pylist()
    if not rows:
        raise UsageError("no document is meant, so there is nothing to draw")
    column, totals = column_of(by), dict[Any, int]()
    for row in rows:
        totals[row[column]] = totals.get(row[column], 0) + row["documents"]
    frequent = set(sorted(totals, key=lambda value: -totals[value])[:COLUMNS])
    values = [value for value in totals if value in frequent]
    values.sort(key=lambda value: (value is None, str(type(value)), value))
    topics = list(dict.fromkeys(row["topic"] for row in rows))
    cells = np.zeros((len(topics), len(values)))
    for row in rows:
        if row[column] in frequent:
            cells[topics.index(row["topic"]), values.index(row[column])] = row[measure]
    names = [plain_text(f"{path} {labels.get(path, '')}", 44) for path in topics]
    columns = [plain_text(str(value), 20) for value in values]
    few = f", the {COLUMNS} most frequent of {len(totals)} values" if len(totals) > COLUMNS else ""
    return _grid(cells, names, columns, f"{measure} by {by}{few}")


def _grid(cells: Any, rows: list[str], columns: list[str], title: str) -> Any:
    with style():
        figure = new_figure(3.6 + 0.42 * len(columns), 1.4 + 0.26 * len(rows))
        axis = figure.add_subplot()
        top = float(np.quantile(cells, 0.99)) or float(cells.max()) or 1.0
        axis.imshow(cells, cmap="Greys", vmin=0, vmax=top, aspect="auto")
        axis.set_xticks(range(len(columns)), columns, rotation=60, ha="right", fontsize=7)
        axis.set_yticks(range(len(rows)), rows, fontsize=7)
        axis.set_title(plain_text(title, 80), fontsize=9)
        for (row, column), value in np.ndenumerate(cells):
            if value:
                colour = "white" if value > 0.6 * top else "0.2"
                how = {"ha": "center", "va": "center", "fontsize": 5.5, "color": colour}
                axis.text(column, row, _short(value), **how)
    return figure


def _short(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}".lstrip("0")
