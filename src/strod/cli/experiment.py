"""``strod experiment``: the paper's figures and tables on any corpus."""

from __future__ import annotations

import signal
from pathlib import Path

import typer

from strod.cli.console import TerminalProgress, output, say

__all__ = ["experiment"]

INTERRUPTED = 128 + signal.SIGINT
_NAMES = (
    "scalability, height, width, variants, robustness, iterations, recovery or interpretability"
)


def experiment(
    name: str = typer.Argument(..., metavar="NAME", help=f"{_NAMES}."),
    more: list[Path] = typer.Argument(None, metavar="[FILE]...", help="More of --corpus."),
    corpus: list[Path] = typer.Option(
        [], metavar="FILE...", help="Text, each a corpus of its own.  [default: docstrings]"
    ),
    out: Path = typer.Option(Path("experiments"), "--out", "-o", help="Folder of the results."),
    quick: bool = typer.Option(False, "--quick", help="A tiny version, to see that all works."),
    methods: str = typer.Option(
        "", metavar="A,B", help="What to compare.  [default: what the paper does]"
    ),
    fresh: bool = typer.Option(False, "--fresh", help="Measure again what has been measured."),
    children: int = typer.Option(5, help="Children of every topic."),
    runs: int = typer.Option(
        None, help="Runs with different seeds.  [default: 10; 1 for interpretability]"
    ),
    sample: int = typer.Option(
        None, help="Documents, where not all are taken.  [default: 10000, as in the paper]"
    ),
    iterations: int = typer.Option(
        None, help="Of baselines, at most.  [default: 1000, or what each converges in]"
    ),
    measured: int = typer.Option(
        None, help="Iterations that are run for timings, then scaled.  [default: 20]"
    ),
    max_vocabulary: str = typer.Option(
        "", metavar="N,N", help="Words, for variants; 0 is all.  [default: 100 to all]"
    ),
    workers: int = typer.Option(1, help="Threads of a build; one, as in the paper."),
    memory: str = typer.Option("2GB", help="Memory of a build."),
    limit: float = typer.Option(3600.0, metavar="SECONDS", help="When a build is given up."),
    text_field: list[str] = typer.Option(["text"], metavar="FIELD", help="Field with the text."),
    labels: str = typer.Option("label", metavar="FIELD", help="Field with the label."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress."),
) -> None:
    """Reproduce a figure or table of the paper; goes on where an earlier run was stopped.

    Writes NAME.csv, NAME.md, NAME.png and NAME.svg, and NAME.sqlite with what has been measured.

    \b
    Examples:
      strod experiment recovery --quick
      strod experiment scalability --corpus papers.jsonl --methods strod,splitlda
      strod experiment robustness --corpus titles.jsonl news.jsonl --runs 10
    """
    from strod.experiments import Settings, run_experiment
    from strod.experiments.table import table_text
    from strod.options import memory_size

    memory_size(memory)  # refuses nonsense before anything is measured
    settings = Settings(
        corpora=(*corpus, *(more or [])),
        out=out,
        quick=quick,
        methods=_names(methods),
        fresh=fresh,
        iterations=iterations,
        measured=measured,
        runs=runs,
        sample=sample,
        vocabularies=_numbers(max_vocabulary),
        children=children,
        workers=workers,
        memory=memory,
        limit=limit,
        text_field=tuple(text_field),
        labels=labels,
    )
    try:
        with TerminalProgress(quiet=quiet) as progress:
            result = run_experiment(name, settings, progress)
    except KeyboardInterrupt:
        kept = f"{out / name}.sqlite has what was measured, the same command goes on"
        say(f"strod: stopped; {kept}", error=True)
        raise SystemExit(INTERRUPTED) from None
    console = output()
    for line in table_text(result).splitlines():
        console.print(line)
    for note in result.notes:
        console.print(f"- {note}")
    if not quiet:
        console.print(f"{out / name}.csv, .md, .png, .svg")


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str) -> tuple[int, ...]:
    from strod.errors import UsageError

    try:
        return tuple(int(part) for part in _names(text))
    except ValueError:
        raise UsageError(f"--max-vocabulary must be numbers such as 200,1000, not {text}") from None
