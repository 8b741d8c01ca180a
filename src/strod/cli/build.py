"""``strod build``: text in, workspace out."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from strod.cli import shape
from strod.cli.console import TerminalProgress, number, output, say, size
from strod.cli.show import NO_TREE
from strod.errors import UsageError
from strod.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from strod.workspace import Workspace

__all__ = ["build", "describe_build"]

_ARENA_MAX = -8  # M_ARENA_MAX of glibc's mallopt
MANY = 0.1  # share of rejected documents that is worth a warning
UNSPACED = 0.1  # share of tokens from which a hint is worth its line


def build(
    sources: list[str] = typer.Argument(
        ..., metavar="SOURCE", help="Files, folders, or - for standard input."
    ),
    out: Path = typer.Option(..., "--out", "-o", help="Folder to make: NAME.strod."),
    text_field: list[str] = typer.Option(
        ["text"],
        metavar="FIELD",
        help="Field with the text; give it twice to join title and abstract.",
    ),
    id_field: str = typer.Option(
        None,
        metavar="FIELD",
        help="Field with the document's id.  [default: id, else documents are numbered]",
    ),
    meta: list[str] = typer.Option(
        [],
        metavar="FIELD[:TYPE]",
        help="Field to keep; TYPE is date, number, category or list, found by itself if left out.",
    ),
    format: str = typer.Option(  # noqa: A002
        "auto", help="auto, jsonl, csv, tsv, parquet, lines (a document a line) or files (a file)."
    ),
    duplicates: str = typer.Option("keep", help="keep or drop documents whose text came before."),
    follow_links: bool = shape.FOLLOW_LINKS,
    strict: bool = typer.Option(False, "--strict", help="Stop at the first bad document."),
    language: str = typer.Option(
        "en", help="Language of the stop words: de en es fr it nl pt sv, or none."
    ),
    stopwords: Path = typer.Option(None, metavar="FILE", help="More stop words, one a line."),
    min_df: int = typer.Option(
        None, help="Least number of documents a word is in.  [default: 1 to 5, by size]"
    ),
    max_df: float = typer.Option(1.0, help="Largest share of documents a word is in."),
    max_vocabulary: int = typer.Option(100_000, help="Largest number of words."),
    numbers: bool = typer.Option(False, "--numbers", help="Numbers are words too."),
    stem: bool = typer.Option(False, "--stem", help="Count stems, show their commonest form."),
    tokenizer: str = typer.Option(
        "words", help="words, bigrams (scripts without spaces) or package.module:function."
    ),
    children: str = shape.CHILDREN,
    height: int = shape.HEIGHT,
    width: int = shape.WIDTH,
    alpha0: str = shape.ALPHA0,
    seed: int = shape.SEED,
    sample: str = shape.SAMPLE,
    method: str = shape.METHOD,
    iterations: int = shape.ITERATIONS,
    method_seconds: float = shape.METHOD_SECONDS,
    lookahead: str = shape.LOOKAHEAD,
    polish: int = shape.POLISH,
    topical: str = shape.TOPICAL,
    phrases: bool = shape.PHRASES,
    phrase_min_count: str = shape.PHRASE_MIN_COUNT,
    phrase_threshold: str = shape.PHRASE_THRESHOLD,
    phrase_length: int = shape.PHRASE_LENGTH,
    engine: str = shape.ENGINE,
    workers: int = typer.Option(
        None, help="Threads; the result does not depend on it.  [default: all cores]"
    ),
    memory: str = typer.Option("2GB", help="Memory to stay under."),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace an old workspace."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Say nothing but errors."),
) -> None:
    """Build a workspace from text.

    \b
    Examples:
      strod build papers.jsonl --out papers.strod
      strod build papers.csv.gz --text-field title --text-field abstract --meta year -o p.strod
      strod build notes/ --out notes.strod            a folder, one document a file
      zcat news.txt.gz | strod build - -o news.strod  one document a line
    """
    options: dict[str, Any] = {
        "text_field": text_field,
        "id_field": id_field,
        "meta": meta,
        "format": format,
        "duplicates": duplicates,
        "strict": strict,
        "follow_links": follow_links,
        "language": language,
        "min_df": min_df,
        "max_df": max_df,
        "numbers": numbers,
        "stem": stem,
        "max_vocabulary": max_vocabulary,
        "tokenizer": tokenizer,
        "height": height,
        "width": width,
        "children": shape.number_or("children", children, int, "auto"),
        "alpha0": shape.number_or("alpha0", alpha0, float, "auto"),
        "sample": shape.number_or("sample", sample, int, "auto", "all"),
        "method": method,
        "engine": engine,
        "iterations": iterations,
        "method_seconds": method_seconds,
        "seed": seed,
        "lookahead": shape.switch("lookahead", lookahead),
        "polish": polish,
        "topical": topical,
        "phrases": phrases,
        "phrase_length": phrase_length,
        "phrase_threshold": shape.number_or("phrase-threshold", phrase_threshold, float, "auto"),
        "phrase_min_count": shape.number_or("phrase-min-count", phrase_min_count, int, "auto"),
    }
    run(sources, out, options, workers, memory, stopwords, overwrite=overwrite, quiet=quiet)


def run(
    sources: list[Any],
    out: Path,
    options: dict[str, Any],
    workers: int | None = None,
    memory: str = "2GB",
    stopwords: Path | None = None,
    *,
    overwrite: bool = False,
    quiet: bool = False,
) -> None:
    """Build with a progress bar, then say what came out."""
    import pyarrow as pa

    from strod.options import memory_size
    from strod.pipeline import build as build_workspace
    from strod.text.stopwords import read_stopwords

    pa.enable_signal_handlers(False)  # Ctrl-C is ours, also while Arrow is at work
    _share_memory()
    if sources.count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    if workers is not None:
        options["workers"] = workers
    options["memory"] = memory_size(memory)
    if stopwords is not None:
        options["stopwords"] = read_stopwords(stopwords)
    with TerminalProgress(quiet=quiet) as progress:
        workspace = build_workspace(
            *sources, out=out, overwrite=overwrite, progress=progress, **options
        )
    _warn(workspace)
    if not quiet:
        describe_build(workspace, output())


def _share_memory() -> None:
    """Let the threads share what they free: glibc keeps it for each of them otherwise."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_ARENA_MAX, 2)


def _warn(workspace: Workspace) -> None:
    """Say so, even to those who asked for quiet, if much of the input is not in the corpus."""
    documents = workspace.report["documents"]
    if documents["rejected"] > MANY * documents["read"]:
        lost = f"{number(documents['rejected'])} of {number(documents['read'])} documents"
        reasons = documents["reasons"]
        reason = max(reasons, key=lambda name: reasons[name]["count"])
        say(f"strod: warning: {lost} were left out, mostly: {reason}", error=True)


def describe_build(workspace: Workspace, console: Console) -> None:
    """Say what was read, kept and left out."""
    report = workspace.report
    documents = report["documents"]
    about = workspace.manifest.corpus
    console.print(
        f"{workspace.path}: {counted(about.documents, 'document')}, "
        f"{counted(about.tokens, 'word')}, vocabulary {number(about.vocabulary)}"
    )
    if documents["rejected"]:
        console.print(f"left out {number(documents['rejected'])} of {number(documents['read'])}:")
        reasons = sorted(documents["reasons"].items(), key=lambda item: -item[1]["count"])
        for reason, entry in reasons:
            where = ", ".join(entry["first"][:3]) + (", …" if entry["count"] > 3 else "")
            console.print(f"  {number(entry['count'])} with {reason}: {where}")
    if documents["duplicate_texts"]:
        console.print(f"{number(documents['duplicate_texts'])} repeat the text of another")
    for name in report["metadata_missing"]:
        console.print(f"no document has a value in the field {name}")
    for name, wrong in report["metadata_misfits"].items():
        if wrong:
            console.print(f"{number(wrong)} values of {name} are not of type {about.meta[name]}")
    if report["unspaced_share"] > UNSPACED:
        console.print("much of the text has no spaces between words: try --tokenizer bigrams")
    if report["background_words"]:
        console.print(
            "background words, perhaps for --stopwords: "
            + ", ".join(report["background_words"][:12])
        )
    _describe_tree(workspace, console)
    compiling, peak = report["compile_seconds"], size(report["peak_memory_bytes"])
    seconds = sum(stage["seconds"] for stage in report["stages"].values())
    console.print(
        f"built in {seconds:.1f} s with at most {peak} of memory"
        + (f"; compiling took {compiling:.1f} s" if compiling else "")
    )


def _describe_tree(workspace: Workspace, console: Console) -> None:
    """How many topics and phrases, and why some have no children."""
    tree = workspace.tree
    leaves = [topic for topic in tree.values() if topic.reason not in ("", "height")]
    found = workspace.manifest.phrases.phrases
    topics = counted(len(tree) - 1, "topic")
    console.print(f"{topics}, {counted(found, 'phrase')}; strod show {workspace.path} prints them")
    if tree.settings.height == 0:
        console.print(f"no topics: {NO_TREE}")
    reasons = sorted({topic.reason for topic in leaves})
    for reason in reasons:
        names = [topic.path for topic in leaves if topic.reason == reason]
        console.print(f"not split, {reason}: {', '.join(names[:8])}{' …' * (len(names) > 8)}")
