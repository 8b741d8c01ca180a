"""Plots that can be read in grey: markers, dashes and hatches, not colours alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strod.plots.figure import new_figure, rendered, style

if TYPE_CHECKING:
    from pathlib import Path

    from strod.experiments.table import Panel

__all__ = ["draw"]

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
MARKERS = "osD^vPX*<>"
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 3)), (0, (7, 3, 2, 3)))
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo", "---", "***", "|||")
ACROSS = 2  # panels beside each other
LEGEND = 3  # names below a panel, beside each other
TICKS = 9  # most values of x that are written out


def draw(panels: list[Panel], stem: Path) -> None:
    """Write ``stem.png`` and ``stem.svg``; the same data give the same bytes."""
    down = -(-len(panels) // ACROSS)
    across = min(ACROSS, len(panels))
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    with style():
        figure = new_figure(5.2 * across, 3.8 * down)
        axes = figure.subplots(down, across, squeeze=False).ravel()
        for axis, panel in zip(axes, panels, strict=False):
            (_bars if panel.bars else _lines)(axis, panel, names)
            axis.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
            axis.grid(visible=True, color="0.9", linewidth=0.5)
            axis.set_axisbelow(True)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        _legend(figure, axes[: len(panels)], across)
    for kind in ("png", "svg"):
        stem.with_suffix(f".{kind}").write_bytes(rendered(figure, kind))


def _lines(axis: Any, panel: Panel, names: list[str]) -> None:
    for name, points in panel.lines.items():
        i = names.index(name)
        x, y = zip(*sorted(points), strict=True) if points else ((), ())
        axis.plot(
            x,
            y,
            label=name,
            color=COLOURS[i % len(COLOURS)],
            marker=MARKERS[i % len(MARKERS)],
            linestyle=DASHES[i % len(DASHES)],
            linewidth=1.4,
            markersize=5,
        )
    if "x" in panel.logarithmic:
        axis.set_xscale("log")
    at = sorted({x for points in panel.lines.values() for x, _ in points})
    if len(at) <= TICKS:
        axis.set_xticks(at, [f"{x:,}" for x in at])
        axis.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    _scale(axis, panel)


def _bars(axis: Any, panel: Panel, names: list[str]) -> None:
    groups = list(dict.fromkeys(group for points in panel.lines.values() for group, _ in points))
    width = 0.8 / max(len(panel.lines), 1)
    for number, (name, points) in enumerate(panel.lines.items()):
        i = names.index(name)
        at = [groups.index(group) + (number + 0.5) * width - 0.4 for group, _ in points]
        axis.bar(
            at,
            [y for _, y in points],
            width,
            label=name,
            color="white",
            edgecolor=COLOURS[i % len(COLOURS)],
            hatch=HATCHES[i % len(HATCHES)],
            linewidth=1,
        )
    axis.set_xticks(range(len(groups)), groups)
    _scale(axis, panel)


def _scale(axis: Any, panel: Panel) -> None:
    """A line without points, or with zeros, has no place on a logarithmic axis."""
    values = [y for points in panel.lines.values() for _, y in points]
    if "y" in panel.logarithmic and values:
        if min(values) > 0:
            axis.set_yscale("log")
        else:
            least = min((value for value in values if value > 0), default=1.0)
            axis.set_yscale("symlog", linthresh=least)


def _legend(figure: Any, axes: Any, across: int) -> None:
    """One legend for all panels, below them."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, name in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    if found:
        figure.legend(
            list(found.values()),
            list(found),
            loc="outside lower center",
            ncols=LEGEND * across,
            frameon=False,
            handlelength=3.5,
        )
