"""``strod build``: text in, workspace out."""

from __future__ import annotations

import ctypes
import gc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from strod.cli.console import TerminalProgress, number, output, say, size
from strod.cli.options import Silent, flat, option
from strod.cli.shape import Sources, TextOptions, TreeOptions
from strod.cli.show import LEAF
from strod.errors import UsageError
from strod.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from strod.workspace.workspace import Workspace

__all__ = ["Work", "build", "describe_build", "run"]

_ARENA_MAX = -8  # M_ARENA_MAX of glibc's mallopt
MANY = 0.1  # share of rejected documents that is worth a warning
UNSPACED = 0.1  # share of tokens from which a hint is worth its line


@dataclass(frozen=True)
class Work:
    """Who does the work, and with how much noise."""

    engine: str = option("local", help="Who does the work: local (threads) or processes.")
    workers: int | None = option(
        None, help="Threads; the result does not depend on it.  [default: all cores]"
    )
    memory: str = option("2GB", help="Memory to stay under.")
    index: bool = option(False, "--index", help="Make the index for questions, too.")
    overwrite: bool = option(False, "--overwrite", help="Replace an old workspace.")
    quiet: Silent = False


@flat
def build(
    sources: Sources,
    *,
    out: Path = typer.Option(..., "--out", "-o", help="Folder to make: NAME.strod."),
    text: TextOptions,
    tree: TreeOptions,
    work: Work,
) -> None:
    """Build a workspace from text.

    \b
    Examples:
      strod build papers.jsonl --out papers.strod
      strod build papers.csv.gz --text-field title --text-field abstract --meta year -o p.strod
      strod build sales.csv --meta day:date:%d.%m.%Y --meta price:number:, -o sales.strod
      strod build notes/ --out notes.strod            a folder, one document a file
      zcat news.txt.gz | strod build - -o news.strod  one document a line
    """
    run(sources, out, {**tree.given(), **text.given()}, work)


def run(sources: list[Any], out: Path, options: dict[str, Any], work: Work) -> None:
    """Build with a progress bar, then say what came out."""
    import pyarrow as pa

    from strod.options import memory_size
    from strod.workspace.build import build as build_workspace

    pa.enable_signal_handlers(False)  # Ctrl-C is ours, also while Arrow is at work
    gc.freeze()  # modules stay: nobody need look through them for garbage again and again
    _share_memory()
    if sources.count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    options |= {"engine": work.engine, "memory": memory_size(work.memory)}
    if work.workers is not None:
        options["workers"] = work.workers
    with TerminalProgress(quiet=work.quiet) as progress:
        workspace = build_workspace(
            *sources, out=out, overwrite=work.overwrite, progress=progress, **options
        )
        if work.index:
            workspace.make_index(progress)
    _warn(workspace)
    if not work.quiet:
        describe_build(workspace, output())


def _share_memory() -> None:
    """Let the threads share what they free: glibc keeps it for each of them otherwise."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_ARENA_MAX, 2)


def _warn(workspace: Workspace) -> None:
    """Say so, even to those who asked for quiet, if much of the input is not in the corpus.

    How much is behind the place where a file is cut short, nobody knows.
    """
    from strod.text.formats import DAMAGED

    documents = workspace.report["documents"]
    if cut := documents["reasons"].get(DAMAGED):
        more = f" and {counted(cut['count'] - 1, 'other')}" if cut["count"] > 1 else ""
        where = f"{cut['first'][0]}{more}"
        say(f"strod: warning: {where}: {DAMAGED}; what follows there is lost", error=True)
    if documents["rejected"] > MANY * documents["read"]:
        lost = f"{number(documents['rejected'])} of {number(documents['read'])} documents"
        reasons = documents["reasons"]
        reason = max(reasons, key=lambda name: reasons[name]["count"])
        say(f"strod: warning: {lost} were left out, mostly: {reason}", error=True)


def describe_build(workspace: Workspace, console: Console) -> None:
    """Say what was read, kept and left out."""
    from strod.workspace.warned import misfits

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
    for told in misfits(report, about.meta, "--meta "):
        console.print(told)
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
    leaves = [topic for topic in tree.values() if topic.reason not in LEAF]
    found = workspace.manifest.phrases.phrases
    topics = counted(len(tree) - 1, "topic")
    console.print(f"{topics}, {counted(found, 'phrase')}; strod show {workspace.path} prints them")
    reasons = sorted({topic.reason for topic in leaves})
    for reason in reasons:
        names = [topic.path for topic in leaves if topic.reason == reason]
        console.print(f"not split, {reason}: {', '.join(names[:8])}{' …' * (len(names) > 8)}")
