"""Options of several commands: those that shape a tree, and of sources."""

from __future__ import annotations

from typing import Any

import typer

from strod.errors import UsageError

__all__ = ["number_or", "switch"]

FOLLOW_LINKS = typer.Option(
    False, "--follow-links", help="Read what links lead to that leave a folder of sources."
)
CHILDREN = typer.Option("auto", metavar="N|auto", help="Children of every topic.")
HEIGHT = typer.Option(2, help="Levels below the root.")
WIDTH = typer.Option(10, help="Most children that auto gives a topic.")
ALPHA0 = typer.Option(
    "1.0", metavar="X|auto", help="Sum of a node's Dirichlet parameters; auto finds it."
)
SEED = typer.Option(0, help="Seed of the start vectors.")
SAMPLE = typer.Option(
    "auto",
    metavar="N|all|auto",
    help="Documents that topics are learnt from; all are placed in the tree.",
)
METHOD = typer.Option(
    "strod",
    help="strod; the paper's tod, rtod, rtod2, rtod3, strod-paper; or a baseline: splitlda, hpam, "
    "ncrp, cathy, nmf, lda.",
)
ITERATIONS = typer.Option(None, help="Of a baseline.  [default: 1000, or what it converges in]")
METHOD_SECONDS = typer.Option(
    0.0, metavar="X", help="After which a baseline stops iterating; 0 is never."
)
LOOKAHEAD = typer.Option(
    "on", metavar="on|off", help="Split the root into fine topics, then group them."
)
POLISH = typer.Option(5, help="Sweeps of inference after the tensor step.")
TOPICAL = typer.Option(
    "document", help="Topic of a token by its document, or by its word alone (paper)."
)
PHRASES = typer.Option(True, help="Mine phrases, or rank single words only.")
PHRASE_MIN_COUNT = typer.Option(
    "auto", metavar="N|auto", help="How often a phrase has to stand in the corpus."
)
PHRASE_THRESHOLD = typer.Option(
    "auto", metavar="X|auto", help="Least significance of a phrase; auto is 3."
)
PHRASE_LENGTH = typer.Option(10, help="Most words of a phrase.")
ENGINE = typer.Option("local", help="Who does the work: local (threads) or processes.")


def number_or(name: str, text: str, kind: type[int | float], *names: str) -> Any:
    """A number, or one of a few names."""
    if text in names:
        return text
    try:
        return kind(text)
    except ValueError:
        what = "whole number" if kind is int else "number"
        raise UsageError(f"--{name} must be a {what} or {' or '.join(names)}, not {text}") from None


def switch(name: str, text: str) -> bool:
    """On or off."""
    if text not in ("on", "off"):
        raise UsageError(f"--{name} must be on or off, not {text}")
    return text == "on"
