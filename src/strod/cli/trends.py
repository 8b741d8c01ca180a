"""``strod trends``: topics that grew or shrank."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from strod.cli import ask
from strod.cli.console import output
from strod.cli.grid import cut
from strod.cli.options import WorkspacePath, flat
from strod.wording import json_text, percent

if TYPE_CHECKING:
    from rich.console import Console

    from strod.query.trends import Trend, Trends

__all__ = ["trends"]

BLOCKS = "▁▂▃▄▅▆▇█"
BARS = 16  # the last ones
SHOWN = 30  # letters of a label


@flat
def trends(
    workspace: WorkspacePath,
    place: ask.Place = None,
    *,
    field: str | None = typer.Option(
        None, metavar="FIELD", help="When: date, date:month, year.  [default: the only date]"
    ),
    asked: ask.Asked,
    phrases: int = typer.Option(
        10, min=0, metavar="N", help="Bursts: so many phrases that were in fashion at one time."
    ),
    answer: ask.Answer,
) -> None:
    """Show topics that grew or shrank over time, and phrases at their time.

    A change is that of the odds from one bucket to the next, with an interval of 95 %; where it
    leaves the direction open, the line says so.

    \b
    Examples:
      strod trends papers.strod --level 2
      strod trends papers.strod o/3
      strod trends papers.strod --where "year >= 2015" --field date:quarter
      strod trends papers.strod --level 1 --plot trends.svg
    """
    from strod.query.bursts import bursts
    from strod.query.trends import trends as found_trends

    ask.check_plot(answer.plot)
    asked = ask.placed(asked, place)
    with ask.progress(quiet=answer.quiet) as progress:
        index = ask.opened(workspace, progress)
        found = found_trends(index, field, **vars(asked))
        wanted = [one.topic for one in found.rows] if phrases else []
        burst = []
        if wanted:
            burst = bursts(index, found.field, wanted, where=asked.where, limit=phrases)
    if answer.plot is not None:
        ask.save_trends(found, answer.plot)
    if answer.as_json:
        rows = [one._asdict() for one in burst]
        print(json_text(found.as_dictionary() | {"bursts": rows}))
    elif answer.plot is None:
        console = output()
        _print(console, found)
        if burst:
            console.print("phrases at their time:")
        for one in burst:
            console.print(
                f"{one.bucket}  {one.phrase}  ({one.topic}: {one.documents:,} documents, "
                f"{one.expected:,.0f} expected)",
                soft_wrap=True,
            )


def _print(console: Console, found: Trends) -> None:
    first, last = found.rows[0].series[0][0], found.rows[0].series[-1][0]
    places = _places(found)
    cut_off = f"; bars: the last {BARS}" if places[0] < 0 else ""
    console.print(
        f"change of the odds a {found.unit}, by {found.field}, {first} to {last}{cut_off}"
    )
    wide = max(len("topic"), *(len(one.topic.path) for one in found.rows))
    bars, now = " " * (places[-1] + 1), f"in {last}"
    heads = f"{'topic':<{wide}} {bars} {now:>{_last(found)}}  {f'change a {found.unit}':<28} name"
    console.print(Text(heads, style="dim"), soft_wrap=True)
    for one in found.rows:
        console.print(_line(one, (wide, _last(found)), places), soft_wrap=True)


def _last(found: Trends) -> int:
    """How wide the column of the last shares is."""
    return max(len("100.0%"), len(f"in {found.rows[0].series[-1][0]}"))


def _places(found: Trends) -> list[int]:
    """Where the bars of buckets are, the last one at the end; others are left of the first."""
    times = found.times
    width = min(BARS, round(times[-1] - times[0]) + 1)
    return [width - 1 - round(times[-1] - time) for time in times.tolist()]


def _line(one: Trend, wide: tuple[int, int], places: list[int]) -> str:
    slope, low, high = (100 * (exp(min(value, 50)) - 1) for value in one.slope)
    label = cut(one.topic.label or "", SHOWN)
    now = percent(one.series[-1][2])
    sure = "" if one.certain else "  not certain"
    change = f"{_change(slope)} ({_change(low)} to {_change(high)})"
    front = f"{one.topic.path:<{wide[0]}} {_spark(one, places)} {now:>{wide[1]}}"
    return f"{front}  {change:<28} {label}{sure}"


def _change(value: float) -> str:
    return f"{value:+.0f}%" if value < 1000 else "×" + f"{value / 100 + 1:.0f}"


def _spark(one: Trend, places: list[int]) -> str:
    """The shares as a row of little bars at their places, with gaps where there is none."""
    shares = {
        place: share for place, (_, _, share) in zip(places, one.series, strict=True) if place >= 0
    }
    top = max(shares.values()) or 1.0
    bars = {place: BLOCKS[min(int(share / top * 8), 7)] for place, share in shares.items()}
    return "".join(bars.get(place, " ") for place in range(places[-1] + 1))
