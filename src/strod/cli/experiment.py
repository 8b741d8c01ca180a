"""``strod experiment``: the paper's figures and tables on any corpus."""

from __future__ import annotations

import signal
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from strod.cli.console import TerminalProgress, output, say
from strod.cli.options import Quiet, flat, option

if TYPE_CHECKING:
    from strod.experiments import Settings

__all__ = ["experiment"]

INTERRUPTED = 128 + signal.SIGINT
_NAMES = (
    "scalability, height, width, variants, robustness, iterations, recovery or interpretability"
)


@dataclass(frozen=True)
class Measured:
    """What is measured, and on what."""

    corpus: list[Path] = option(
        [], metavar="FILE...", help="Text, each a corpus of its own.  [default: docstrings]"
    )
    out: Path = option(Path("experiments"), "--out", "-o", help="Folder of the results.")
    quick: bool = option(False, "--quick", help="A tiny version, to see that all works.")
    methods: str = option(
        "", metavar="A,B", help="What to compare.  [default: what the paper does]"
    )
    fresh: bool = option(False, "--fresh", help="Measure again what has been measured.")
    children: int = option(5, help="Children of every topic.")
    runs: int | None = option(
        None, help="Runs with different seeds.  [default: 10; 1 for interpretability]"
    )
    sample: int | None = option(
        None, help="Documents, where not all are taken.  [default: 10000, as in the paper]"
    )
    iterations: int | None = option(
        None, help="Of baselines, at most.  [default: 1000, or what each converges in]"
    )
    measured: int | None = option(
        None, help="Iterations that are run for timings, then scaled.  [default: 20]"
    )
    max_vocabulary: str = option(
        "", metavar="N,N", help="Words, for variants; 0 is all.  [default: 100 to all]"
    )
    workers: int = option(1, help="Threads of a build; one, as in the paper.")
    memory: str = option("2GB", help="Memory of a build.")
    limit: float = option(3600.0, metavar="SECONDS", help="When a build is given up.")
    text_field: list[str] = option(["text"], metavar="FIELD", help="Field with the text.")
    labels: str = option("label", metavar="FIELD", help="Field with the label.")

    def settings(self, more: list[Path]) -> Settings:
        """The same for `run_experiment`; `more` are files that stand after the name."""
        from strod.experiments import Settings

        given = vars(self) | {
            "corpora": (*self.corpus, *more),
            "methods": _names(self.methods),
            "vocabularies": _numbers(self.max_vocabulary),
            "text_field": tuple(self.text_field),
        }
        return Settings(**{one.name: given[one.name] for one in fields(Settings)})


@flat
def experiment(
    name: str = typer.Argument(..., metavar="NAME", help=f"{_NAMES}."),
    more: list[Path] | None = typer.Argument(None, metavar="[FILE]...", help="More of --corpus."),
    *,
    measured: Measured,
    quiet: Quiet = False,
) -> None:
    """Reproduce a figure or table of the paper; goes on where an earlier run was stopped.

    Writes NAME.csv, NAME.md, NAME.png and NAME.svg, and NAME.sqlite with what has been measured.

    \b
    Examples:
      strod experiment recovery --quick
      strod experiment scalability --corpus papers.jsonl --methods strod,splitlda
      strod experiment robustness --corpus titles.jsonl news.jsonl --runs 10
    """
    from strod.experiments import run_experiment
    from strod.experiments.table import table_text
    from strod.options import memory_size

    memory_size(measured.memory)  # refuses nonsense before anything is measured
    settings = measured.settings(more or [])
    try:
        with TerminalProgress(quiet=quiet) as progress:
            result = run_experiment(name, settings, progress)
    except KeyboardInterrupt:
        kept = f"{measured.out / name}.sqlite has what was measured, the same command goes on"
        say(f"strod: stopped; {kept}", error=True)
        raise SystemExit(INTERRUPTED) from None
    console = output()
    for line in table_text(result).splitlines():
        console.print(line)
    for note in result.notes:
        console.print(f"- {note}")
    if not quiet:
        console.print(f"{measured.out / name}.csv, .md, .png, .svg")


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _numbers(text: str) -> tuple[int, ...]:
    from strod.errors import UsageError

    try:
        return tuple(int(part) for part in _names(text))
    except ValueError:
        raise UsageError(f"--max-vocabulary must be numbers such as 200,1000, not {text}") from None
