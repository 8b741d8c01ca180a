"""``strod show``: what is in a workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from strod.cli.console import number, output

if TYPE_CHECKING:
    from strod.corpus.reader import Corpus

__all__ = ["describe_corpus", "show"]


def show(
    workspace: Path = typer.Argument(..., metavar="W.strod", help="The workspace."),
    words: int = typer.Option(30, min=0, help="How many words to show."),
    as_json: bool = typer.Option(False, "--json", help="For programs."),
) -> None:
    """Show the corpus of a workspace.

    \b
    Examples:
      strod show papers.strod
      strod show papers.strod --json | jq .corpus
    """  # noqa: D301
    from strod.workspace import Workspace  # noqa: PLC0415

    corpus = Workspace(workspace).corpus
    if as_json:
        print(json.dumps(as_dictionary(corpus), ensure_ascii=False, indent=1))
    else:
        describe_corpus(corpus, words)


def as_dictionary(corpus: Corpus) -> dict[str, Any]:
    """The corpus for programs."""
    return {
        "corpus": {
            "documents": corpus.documents,
            "tokens": corpus.tokens,
            "vocabulary": len(corpus.vocabulary),
            "meta": corpus.meta,
            "sha256": corpus.sha256,
        },
        "topics": [],
    }


def describe_corpus(corpus: Corpus, words: int = 30) -> None:
    """The corpus for people."""
    console = output()
    console.print(
        f"{number(corpus.documents)} documents, {number(corpus.tokens)} words, "
        f"vocabulary {number(len(corpus.vocabulary))}"
    )
    if corpus.meta:
        fields = (f"{name} ({kind})" for name, kind in corpus.meta.items())
        console.print("metadata: " + ", ".join(fields))
    print_words(corpus, words)


def print_words(corpus: Corpus, words: int = 30) -> None:
    """The most frequent words of the model."""
    console = output()
    frequent = corpus.vocabulary.sort_by([("documents", "descending"), ("word", "ascending")])
    shown = frequent["surface"].slice(0, words).to_pylist()
    if shown:
        console.print("most frequent: " + ", ".join(shown))
