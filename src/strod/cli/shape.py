"""Options of ``strod build`` and of other commands that read text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from strod.cli.options import FollowLinks, option
from strod.errors import UsageError

__all__ = ["NewText", "Sources", "Strict", "TextOptions", "TreeOptions", "number_or"]

Sources = Annotated[
    list[str], typer.Argument(metavar="SOURCE", help="Files, folders, or - for standard input.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first bad document.")]


@dataclass(frozen=True)
class NewText:
    """Where the text of new documents is found, for a workspace that has some already."""

    text_field: list[str] | None = option(
        None, metavar="FIELD", help="Field with the text.  [default: as in the corpus]"
    )
    id_field: str | None = option(
        None, metavar="FIELD", help="Field with the id.  [default: as in the corpus]"
    )
    format: str = option("auto", help="As for strod build.")
    tokenizer: str | None = option(
        None, metavar="MODULE:FUNCTION", help="That of the corpus, if it is one of your own."
    )
    follow_links: FollowLinks = False

    def given(self) -> dict[str, Any]:
        """What was said; all else is as in the corpus."""
        return {name: value for name, value in vars(self).items() if value}


@dataclass(frozen=True)
class TextOptions:
    """How text becomes a corpus."""

    text_field: list[str] = option(
        ["text"],
        metavar="FIELD",
        help="Field with the text; give it twice to join title and abstract.",
    )
    id_field: str | None = option(
        None,
        metavar="FIELD",
        help="Field with the document's id.  [default: id, else documents are numbered]",
    )
    meta: list[str] = option(
        [],
        metavar="FIELD[:TYPE[:FORM]]",
        help="Field to keep; TYPE is date, number, category or list, found by itself if left "
        "out; FORM is how it is written: day:date:%d.%m.%Y, price:number:, (12,50), "
        "tags:list:| (a|b).",
    )
    format: str = option(
        "auto", help="auto, jsonl, csv, tsv, parquet, lines (a document a line) or files (a file)."
    )
    duplicates: str = option("keep", help="keep or drop documents whose text came before.")
    follow_links: FollowLinks = False
    strict: Strict = False
    language: str = option(
        "en", help="Language of the stop words: de en es fr it nl pt sv, or none."
    )
    stopwords: Path | None = option(None, metavar="FILE", help="More stop words, one a line.")
    min_df: int | None = option(
        None, help="Least number of documents a word is in.  [default: 1 to 5, by size]"
    )
    max_df: float = option(1.0, help="Largest share of documents a word is in.")
    max_vocabulary: int = option(100_000, help="Largest number of words.")
    numbers: bool = option(False, "--numbers", help="Numbers are words too.")
    stem: bool = option(False, "--stem", help="Count stems, show their commonest form.")
    tokenizer: str = option(
        "words", help="words, bigrams (scripts without spaces) or package.module:function."
    )

    def given(self) -> dict[str, Any]:
        """The same for `strod.build`."""
        if self.stopwords is None:
            return {**vars(self), "stopwords": ()}
        from strod.text.stopwords import read_stopwords

        return {**vars(self), "stopwords": read_stopwords(self.stopwords)}


@dataclass(frozen=True)
class TreeOptions:
    """How the tree grows, and which phrases are looked for."""

    children: str = option(
        "auto", metavar="N|N,N,…|auto", help="Children of every topic, or level by level: 8,5,3."
    )
    height: int | None = option(
        None, help="Levels below the root.  [default: 2; those of --children; any with --topics]"
    )
    topics: int = option(
        0, metavar="N", help="Most topics in all: the next split is where it explains most."
    )
    least_documents: int = option(0, metavar="N", help="Documents that every leaf must have.")
    width: int = option(10, help="Most children that auto gives a topic.")
    alpha0: str = option(
        "1.0", metavar="X|auto", help="Sum of a node's Dirichlet parameters; auto finds it."
    )
    seed: int = option(0, help="Seed of the start vectors.")
    sample: str = option(
        "auto",
        metavar="N|all|auto",
        help="Documents that topics are learnt from; all are placed in the tree.",
    )
    method: str = option(
        "strod",
        help="strod; the paper's tod, rtod, rtod2, rtod3, strod-paper; or a baseline: "
        "splitlda, hpam, ncrp, cathy, nmf, lda, kmeans.",
    )
    iterations: int | None = option(
        None, help="Of a baseline.  [default: 1000, or what it converges in]"
    )
    method_seconds: float = option(
        0.0, metavar="X", help="After which a baseline stops iterating; 0 is never."
    )
    lookahead: str = option(
        "on", metavar="on|off", help="Split the root into fine topics, then group them."
    )
    polish: int = option(5, help="Sweeps of inference after the tensor step.")
    topical: str = option(
        "document", help="Topic of a token by its document, or by its word alone (paper)."
    )
    phrases: bool = option(True, help="Mine phrases, or rank single words only.")
    phrase_min_count: str = option(
        "auto", metavar="N|auto", help="How often a phrase has to stand in the corpus."
    )
    phrase_threshold: str = option(
        "auto", metavar="X|auto", help="Least significance of a phrase; auto is 3."
    )
    phrase_length: int = option(10, help="Most words of a phrase.")

    def given(self) -> dict[str, Any]:
        """The same for `strod.build`: numbers where numbers are meant."""
        if self.height is not None and self.height < 1:
            raise UsageError(f"--height must be at least 1, not {self.height}: a tree has topics")
        if self.lookahead not in ("on", "off"):
            raise UsageError(f"--lookahead must be on or off, not {self.lookahead}")
        several = "," in self.children
        return {
            **vars(self),
            "children": self.children if several else number_or("children", self.children, int),
            "alpha0": number_or("alpha0", self.alpha0, float),
            "sample": number_or("sample", self.sample, int, "auto", "all"),
            "lookahead": self.lookahead == "on",
            "phrase_threshold": number_or("phrase-threshold", self.phrase_threshold, float),
            "phrase_min_count": number_or("phrase-min-count", self.phrase_min_count, int),
        }


def number_or(name: str, text: str, kind: type[int | float], *names: str) -> Any:
    """A number, or one of a few names: ``auto`` if none are given."""
    names = names or ("auto",)
    if text in names:
        return text
    try:
        return kind(text)
    except ValueError:
        what = "whole number" if kind is int else "number"
        raise UsageError(f"--{name} must be a {what} or {' or '.join(names)}, not {text}") from None
