"""``strod evaluate``: how good a tree is, and which topics look wrong."""

from __future__ import annotations

import shlex
from itertools import compress, groupby
from typing import TYPE_CHECKING, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from strod.cli.console import TerminalProgress, number, one_line, output
from strod.cli.options import Quiet, WorkspacePath
from strod.wording import counted, json_text

if TYPE_CHECKING:
    from rich.console import Console

    from strod.evaluate.report import Flag, LabelScores, LevelScores, Report

__all__ = ["evaluate"]

LEGEND = """\
NPMI, C_V   how well the words (phrases) of a topic go together; at most 1
distinct    share of different words in the lists; SD: words of one sibling only
PCC, PCD    how well a child goes with its parent, and how far it differs
even        how evenly siblings share the weight; largest: the heaviest share"""


def evaluate(
    workspace: WorkspacePath,
    *,
    labels: str | None = typer.Option(
        None,
        metavar="FIELD",
        help="Metadata field (--meta of build): a label or path to compare with.",
    ),
    top: int = typer.Option(10, min=2, max=100, help="Words and phrases of a topic to look at."),
    as_json: bool = typer.Option(False, "--json", help="For programs, with more numbers."),
    quiet: Quiet = False,
) -> None:
    """Measure how good the tree is, and flag topics that look wrong.

    \b
    Examples:
      strod evaluate papers.strod
      strod evaluate papers.strod --labels subject
      strod evaluate papers.strod --json | jq '.flags[].suggestion'
    """
    from strod.evaluate import evaluate as measure
    from strod.workspace.workspace import Workspace

    opened = Workspace(workspace)
    with TerminalProgress(quiet=quiet) as progress:
        report = measure(opened, labels, top, progress)
    if as_json:
        print(json_text(report.as_dictionary()))
    else:
        phrases = bool(opened.manifest.phrases.phrases)
        print_report(report, str(workspace), output(), phrases=phrases)


def print_report(report: Report, workspace: str, console: Console, *, phrases: bool) -> None:
    """The report for people."""
    console.print(
        f"{counted(report.documents, 'document')}, {counted(len(report.topics), 'topic')}, "
        f"the best {report.top} words {'and phrases ' if phrases else ''}of each"
    )
    if not report.topics:
        console.print("the corpus is one topic: there is nothing to compare")
        return
    console.print()
    deepest = report.levels[-1]
    leaves = [] if report.leaves.topics == deepest.topics else [report.leaves]
    console.print(_levels([*report.levels, *leaves], phrases=phrases))
    for line in LEGEND.splitlines():
        console.print(Text(line, style="dim"))
    console.print()
    for told in _intrusion(report.intrusion, phrases=phrases):
        console.print(told)
    if report.label_field is not None:
        console.print()
        # On the deepest level every document is at its leaf: one of the two will do.
        shown = [one for one in report.labels if one.level != deepest.level]
        if report.labels:
            console.print(_labels(report.label_field, shown))
        else:
            console.print(f"no document has a value of {report.label_field}: nothing to agree with")
    console.print()
    _print_flags(report.flags, workspace, console)


def _table(*names: str) -> Table:
    """Numbers under names; the first column is text."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold", pad_edge=False)
    for place, name in enumerate(names):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _levels(levels: list[LevelScores], *, phrases: bool) -> Table:
    """Scores by level; where there are no phrases, those of words alone."""
    names = (
        "words\nNPMI",
        "\nC_V",
        "phrases\nNPMI",
        "\nC_V",
        "distinct\nwords",
        "\nSD",
        "\nPCC",
        "\nPCD",
        "weights\neven",
        "\nlargest",
    )
    rows = [
        (
            level.words.npmi,
            level.words.c_v,
            level.phrases.npmi,
            level.phrases.c_v,
            level.diversity,
            level.sd,
            level.pcc,
            level.pcd,
            level.balance,
            level.largest,
        )
        for level in levels
    ]
    shown = [phrases or place not in {2, 3} for place in range(len(names))]
    table = _table("\nlevel", "\ntopics", *compress(names, shown))
    for level, row in zip(levels, rows, strict=True):
        values = map(_number, compress(row, shown))
        table.add_row(_name(level.level), number(level.topics), *values)
    return table


def _intrusion(found: dict[str, Any], *, phrases: bool) -> list[Text]:
    """How often what does not belong is found by co-occurrence."""
    parts = []
    found = found if phrases else {"words": found["words"]}
    for kind, name in (("phrase", "in a list"), ("topic", "among children")):
        asked = {of: one[kind] for of, one in found.items() if one[kind]["questions"]}
        ways = [f"{_number(one['accuracy'])} by {of}" for of, one in asked.items()]
        if asked:
            chance = next(iter(asked.values()))["chance"]
            parts.append(f"{name} {', '.join(ways)} (by chance {_number(chance)})")
    if not parts:
        return [Text("intruders     too few topics to ask", style="dim")]
    heads = ["intruders found ", *[" " * len("intruders found ")] * (len(parts) - 1)]
    return [Text(head + part) for head, part in zip(heads, parts, strict=True)]


def _name(level: int | None) -> str:
    return "leaves" if level is None else str(level)


def _labels(field: str, scores: list[LabelScores]) -> Table:
    table = _table(
        "level",
        "topics",
        f"depth of {field}",
        "labels",
        "documents",
        "NMI",
        "purity",
        "homogeneity",
    )
    for one in scores:
        table.add_row(
            _name(one.level),
            number(one.topics),
            str(one.depth),
            number(one.classes),
            number(one.documents),
            *map(_number, (one.nmi, one.purity, one.homogeneity)),
        )
    return table


def _print_flags(flags: list[Flag], workspace: str, console: Console) -> None:
    if not flags:
        console.print("No topic looks wrong.")
        return
    topics = len({flag.id for flag in flags})
    console.print(Text(f"{topics} topic{'s look' if topics > 1 else ' looks'} wrong", "bold"))
    for _, some in groupby(flags, key=lambda flag: flag.id):
        mine = list(some)
        console.print(Text.assemble((mine[0].topic, "bold"), "  ", mine[0].label))
        for flag in mine:
            _print_indented(Text.assemble((flag.kind, "yellow"), ": ", flag.reason), console)
        verb, _, rest = _suggestion(mine).partition(" ")
        command = f"strod {verb} {shlex.quote(workspace)} {rest}"
        _print_indented(Text.assemble(("→ ", "dim"), (command, "cyan")), console)
    if topics > 1:
        console.print("Take one at a time and evaluate again: paths and topics change.")


def _suggestion(flags: list[Flag]) -> str:
    """One for a topic: the first that changes something, else the first."""
    changes = [flag.suggestion for flag in flags if not flag.suggestion.startswith("show ")]
    return (changes or [flags[0].suggestion])[0]


def _print_indented(text: Text, console: Console) -> None:
    """Wrapped on a terminal, one line elsewhere."""
    wrapped, text = console.is_terminal, one_line(text)
    console.print(Padding(text, (0, 0, 0, 2)) if wrapped else Text("  ").append_text(text))
