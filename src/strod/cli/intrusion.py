"""``strod intrusion``: a study for people, and its score."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from strod.cli.console import number, say
from strod.cli.options import Json, Silent, flat, option
from strod.wording import json_text

__all__ = ["intrusion"]

intrusion = typer.Typer(
    help="Ask people what does not belong: phrases in topics, topics below topics.",
    rich_markup_mode=None,
    invoke_without_command=True,
)
_COLUMNS = ("tree", "kind", "questions", "judged", "chosen", "correct")
_MEASURES = ("precision", "recall", "f1")


@intrusion.callback()
def _options(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@dataclass(frozen=True)
class Design:
    """What is asked."""

    questions: int = option(10, metavar="N", help="Of each kind from each tree.")
    seed: int = option(0, help="Decides the questions and their order.")
    x: int = option(4, "--x", help="Options of a question, 3 to 9: the paper's X.")


@intrusion.command("make")
@flat
def make(
    workspaces: list[Path] = typer.Argument(..., metavar="W.strod...", help="The trees."),
    *,
    out: Path = typer.Option(
        ..., "--out", "-o", help="Page to write, NAME.html; the key goes to NAME.key.json."
    ),
    design: Design,
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an old page and key."),
    quiet: Silent = False,
) -> None:
    """Write a page with questions about one tree or several, and its key.

    Give the page to the judges and keep the key.

    \b
    Examples:
      strod intrusion make papers.strod --out study.html
      strod intrusion make ours.strod lda.strod --questions 20 --seed 7 --out study.html
    """
    from strod.intrusion import make as write

    made = write(workspaces, out, overwrite=overwrite, **vars(design))
    if quiet:
        return
    total = sum(sum(kinds.values()) for kinds in made.questions.values())
    trees = "tree" if len(made.questions) == 1 else "trees"
    say(f"{made.page}: {number(total)} questions about {len(made.questions)} {trees}")
    for note in made.notes:
        say(f"  {note}")
    say(f"{made.key}: the key; keep it from the judges")


@intrusion.command("score")
def score(
    answers: list[Path] = typer.Argument(
        ..., metavar="ANSWERS.json...", help="What the page saved, a file for each judge."
    ),
    *,
    key: Path | None = typer.Option(
        None, metavar="FILE", help="The key.  [default: found beside the answers or here]"
    ),
    as_json: Json = False,
) -> None:
    """Say how well the judges found the intruders of each tree, and how far they agree.

    \b
    Examples:
      strod intrusion score answers-*.json
      strod intrusion score answers-Ann.json --key study.key.json --json
    """
    from strod.intrusion import score as scored

    result = scored(answers, key)
    if as_json:
        print(json_text(result))
    else:
        _print(result)


def _print(result: dict[str, Any]) -> None:
    judges = result["judges"]
    heads = "judge" if len(judges) == 1 else "judges"
    say(f"{number(result['questions'])} questions, {len(judges)} {heads}: {', '.join(judges)}")
    for judge, open_ in result["unanswered"].items():
        if open_:
            say(f"  {judge} left {number(open_)} unanswered; they are not counted")
    print()
    rows = [
        [
            name,
            kind,
            *(str(found[column]) for column in _COLUMNS[2:]),
            *(_digits(found[measure]) for measure in _MEASURES),
            _digits(found["consistent"]["f1"]),
            _digits(found["chance"]),
        ]
        for name, kinds in result["methods"].items()
        for kind, found in kinds.items()
        if found["questions"]
    ]
    _print_table([*_COLUMNS, "precision", "recall", "F1", "F1 all agree", "chance"], rows)
    print('\n"unable to choose" lowers recall, not precision')
    if len(judges) > 1:
        print()
        lines = [
            [kind, str(one["questions"]), _percent(one["percent"]), _digits(one["kappa"])]
            for kind, one in result["agreement"].items()
            if one["questions"]
        ]
        _print_table(["agreement", "questions", "pairs", "Fleiss' kappa"], lines)


def _digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"


def _print_table(heads: list[str], rows: list[list[str]]) -> None:
    """Text to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    texts = sum(head in {"tree", "kind", "agreement"} for head in heads)
    for row in [heads, *rows]:
        cells = [
            cell.ljust(width) if place < texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        say("  ".join(cells).rstrip())
