"""Asking a tree: how long the index takes to make, and how long questions take.

Run it on JSON lines with ``text``, ``label`` and ``date``, or on a workspace that was built from
them, while nothing else runs::

    python benchmarks/ask.py arxiv_abstracts_150k.jsonl.gz

The text index is compared with tantivy alone, which gets the same texts from memory, takes them
with its own tokenizer and as many threads, and keeps nothing but what a search needs; they take
turns, and the best turn of each counts. Budgets stand beside the figures; what is over one is
marked and makes the exit code 1. All times are given twice: by the clock, for which the budgets
are, and of all cores together (a busy machine spoils the first, hardly the second).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tantivy
from numpy.typing import NDArray

import strod
from strod.progress import Silent
from strod.query.derived import Derived
from strod.query.fields import Metadata
from strod.query.placements import Placements
from strod.query.texts import open_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.workspace.workspace import Workspace

QUERIES, ROUNDS = 200, 7
BUDGETS = {
    "placements and metadata": 1.5,  # seconds
    "of tantivy alone": 1.2,  # times
    "size": 60,  # % of the text
    "search": 5,  # ms, as all below that are asked in this process: 19 of 20 are quicker
    "20 best documents of a topic": 30,
    "the same, filtered": 60,
    "slice --by year --level 2": 150,
    "strod search": 0.8,  # seconds, with start-up
    "strod slice": 0.8,
    "strod trends": 0.8,
    "strod entity": 0.8,
}
Row = tuple[str, str, float]  # title, text, and what its budget is for
Times = NDArray[np.float64]  # by the clock, of all cores; or a row of these each time


def _clocks() -> Times:
    """By the wall, and what this process and those that it started have used."""
    return np.array([time.perf_counter(), sum(os.times()[:4])])


def _seconds(act: Callable[[], Any]) -> Times:
    started = _clocks()
    act()
    return _clocks() - started


def _of_one(act: Callable[[], Any]) -> Times:
    """The same for what is too short for the clock of children."""
    clock, used = time.perf_counter(), time.process_time()
    act()
    return np.array([time.perf_counter() - clock, time.process_time() - used])


def _said(times: Times) -> str:
    return f"{times[0]:.2f} s ({times[1]:.2f} s of cores)"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _tantivy_alone(texts: list[str], folder: Path) -> None:
    fields = tantivy.SchemaBuilder()
    fields.add_text_field("text")
    writer = tantivy.Index(fields.build(), path=str(folder)).writer(num_threads=2)
    for text in texts:
        writer.add_document(tantivy.Document(text=text))
    writer.commit()
    writer.wait_merging_threads()


def _queries(workspace: Workspace) -> list[str]:
    """Phrases of the topics, every second one in quotes."""
    phrases = [text for topic in workspace.tree.values() for text, _ in topic.phrases]
    chosen = np.random.default_rng(0).permutation(sorted(set(phrases)))[:QUERIES].tolist()
    return [f'"{text}"' if number % 2 else text for number, text in enumerate(chosen)]


def _making(workspace: Workspace, folder: Path) -> list[Row]:
    """What the index takes to make."""
    path, snapshot = workspace.path, workspace.snapshot
    snapshot.tree.splits  # noqa: B018 - read once, as by any question
    placing = _seconds(lambda: Placements(snapshot, Derived(path, snapshot.corpus.files.size)))
    reading = _seconds(lambda: Metadata(snapshot.corpus).table)
    texts = snapshot.corpus.texts(range(snapshot.corpus.documents))
    both = np.array([_contest(workspace, texts, folder / str(n)) for n in range(ROUNDS + 1)])
    own, alone = np.min(both[1:], axis=0)  # the first round warms up
    said = sum(len(text.encode()) for text in texts)
    index = _size(path / "index")
    ratio = own / alone
    return [
        ("placements and metadata", _said(placing + reading), float((placing + reading)[0])),
        ("text index", f"{_said(own)}, tantivy alone {_said(alone)}", float(own[0])),
        (
            "of tantivy alone",
            f"{ratio[0]:.2f} by the clock, {ratio[1]:.2f} of cores",
            float(ratio[0]),
        ),
        (
            "size",
            f"{index / 1e6:.0f} MB, {100 * index / said:.0f} % of the text",
            100 * index / said,
        ),
    ]


def _contest(workspace: Workspace, texts: list[str], folder: Path) -> list[Times]:
    """What our index of some texts takes, and that of tantivy alone."""
    folder.mkdir()
    shutil.rmtree(workspace.path / "index" / "text", ignore_errors=True)
    own = _seconds(lambda: open_text(workspace.snapshot.corpus, Silent()))
    alone = _seconds(lambda: _tantivy_alone(texts, folder))
    shutil.rmtree(folder)
    return [own, alone]


def _asking(workspace: Workspace) -> list[Row]:
    """What questions take in a running process."""
    queries, topics = _queries(workspace), list(workspace.tree)[1:]
    where = "date >= 2015 AND label = 'cs'"
    kinds: dict[str, list[Callable[[], Any]]] = {
        "search": [partial(workspace.search, query) for query in queries],
        "20 best documents of a topic": [partial(workspace.documents, path) for path in topics],
        "the same, filtered": [partial(workspace.documents, one, where=where) for one in topics],
        "slice --by year --level 2": [lambda: workspace.slice("year", level=2)] * 20,
    }
    rows = []
    for name, acts in kinds.items():
        median, late = 1e3 * np.quantile([_of_one(act) for act in acts], [0.5, 0.95], axis=0)
        text = f"median {median[0]:.1f}, p95 {late[0]:.1f} ms"
        said = f"{text} (of cores {median[1]:.1f}, {late[1]:.1f})"
        rows.append((name, said, float(late[0])))
    return rows


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _commands(path: Path) -> list[Row]:
    """What commands take, with start-up."""
    rows = []
    for arguments in (
        ["search", str(path), "federated learning"],
        ["slice", str(path), "--by", "year", "--level", "2"],
        ["trends", str(path), "--level", "2"],
        ["entity", str(path), "label", "cs.LG"],
    ):
        command = [sys.executable, "-m", "strod", *arguments, "--quiet", "--json"]
        times = np.median([_seconds(partial(_run, command)) for _ in range(5)], axis=0)
        rows.append((f"strod {arguments[0]}", _said(times), float(times[0])))
    return rows


def _exporting(workspace: Workspace, folder: Path) -> list[Row]:
    """What the tables of `export --to csv` take to write."""
    size = workspace.corpus.documents
    times = _seconds(lambda: workspace.export("csv", folder / "tables"))
    return [("export --to csv", f"{_said(times)}, {size:,} documents", float(times[0]))]


def told(rows: list[Row]) -> bool:
    """Print a table; whether anything is over its budget."""
    over = False
    for title, text, value in rows:
        budget = BUDGETS.get(title)
        late = budget is not None and value > budget
        beside = "" if budget is None else f"{budget:g}{' OVER' if late else ''}"
        print(f"| {title} | {text} | {beside} |")
        over |= late
    return over


def _workspace(source: Path, path: Path) -> Workspace:
    """One without an index, to be spoiled."""
    if source.is_dir():
        shutil.copytree(source, path, ignore=shutil.ignore_patterns("index"))
    else:
        shape: Any = {"children": 5, "height": 2, "meta": ["label", "date"]}
        strod.build(source, out=path, **shape)
    return strod.open(path)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        workspace = _workspace(arguments.file, folder / "w.strod")
        (folder / "alone").mkdir()
        rows = _making(workspace, folder / "alone")
        workspace.search("the first one opens what there is")
        rows += _asking(workspace) + _commands(workspace.path) + _exporting(workspace, folder)
        sys.exit(told(rows))


if __name__ == "__main__":
    main()
