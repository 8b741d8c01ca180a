"""Search: how long the text index takes beside tantivy alone, its size, and how quick it answers.

Run it on JSON lines with a ``text`` field, while nothing else runs::

    python benchmarks/search.py arxiv_abstracts_150k.jsonl.gz --meta label --meta date

Tantivy alone gets the same texts, from the same file on disk, with its own tokenizer, no metadata
and the same number of threads. Contestants take turns; times are medians over the rounds, of
the clock and of all cores together (a busy machine spoils the first, not the second). Queries are
phrases of the corpus, with quotation marks and without, each asked once before it is measured;
all hits are taken, and ranked.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tantivy

import strod
from strod.query.snippets import snippet
from strod.query.text import TextIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.corpus.reader import Corpus

Times = tuple[float, float]  # by the clock, of all cores


def timed(work: Callable[[], object]) -> Times:
    started, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - used


def alone(corpus: Corpus, folder: Path, threads: int) -> None:
    """What tantivy takes with its own tokenizer."""
    schema = tantivy.SchemaBuilder().add_text_field("text").build()
    writer = tantivy.Index(schema, str(folder)).writer(256_000_000, threads)
    for shard in corpus.shards():
        for text in shard.texts(list(range(shard.size))):
            writer.add_document(tantivy.Document(text=text))
    writer.commit()
    writer.wait_merging_threads()


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def building(corpus: Corpus, root: Path, rounds: int, threads: int) -> Path:
    """Print what building takes; returns the folder of an index."""
    times: dict[str, list[Times]] = {"tantivy alone": [], "text index": []}
    for number in range(rounds + 1):
        folders = {name: root / f"{name}-{number}" for name in times}
        for folder in folders.values():
            folder.mkdir()
        ours, theirs = folders["text index"], folders["tantivy alone"]
        found = {
            "tantivy alone": timed(partial(alone, corpus, theirs, threads)),
            "text index": timed(partial(TextIndex.build, ours, corpus, workers=threads)),
        }
        if number:  # the first round warms up
            for name, one in found.items():
                times[name].append(one)
    medians = {name: np.median(np.array(all_of), axis=0) for name, all_of in times.items()}
    for name, (clock, cores) in medians.items():
        print(f"{name}: {clock:.2f} s, {cores:.2f} s of cores, {size(folders[name]):,} bytes")
    ratio = medians["text index"] / medians["tantivy alone"]
    print(f"ratio: {ratio[0]:.2f} by the clock, {ratio[1]:.2f} of cores")
    return ours


def phrases(workspace: strod.Workspace, number: int) -> list[str]:
    book = workspace.phrase_index
    every = [" ".join(book.lexicon.words[t] for t in book.units.form_tokens(phrase))
             for phrase in book.units.phrases]  # fmt: skip
    chosen = np.random.default_rng(0).choice(len(every), min(number, len(every)), replace=False)
    return [every[i] for i in sorted(chosen.tolist())]


def asking(index: TextIndex, corpus: Corpus, queries: list[str]) -> None:
    """Print what queries take."""
    for kind, form in (("quoted", '"{}"'), ("words", "{}"), ("either", "{} OR learning")):
        times, hits = [], []
        for query in (form.format(phrase) for phrase in queries):
            index.search(query)
            started = time.perf_counter()
            hits.append(len(index.search(query)))
            times.append(1000 * (time.perf_counter() - started))
        quantiles = np.percentile(times, [50, 95, 100])
        print(f"{kind}: ms at 50, 95 and 100 %: {np.round(quantiles, 2)}, "
              f"hits {statistics.median(hits):.0f}, at most {max(hits)}")  # fmt: skip
    found, terms = index.search(queries[0]), index.matched_terms(queries[0])
    texts = [corpus.text(document) for document in found.documents[:20].tolist()]
    clock, _ = timed(lambda: [snippet(text, terms) for text in texts])
    print(f"{len(texts)} snippets: {1000 * clock:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--meta", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--queries", type=int, default=200)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = Path(given.file)
        if source.suffix == ".strod":
            workspace = strod.open(source)
        else:
            options = {"children": 5, "height": 1, "meta": given.meta}
            workspace = strod.build(source, out=root / "w.strod", **options)
        corpus = workspace.corpus
        characters = sum(
            len(text) for shard in corpus.shards() for text in shard.texts(list(range(shard.size)))
        )
        print(f"{corpus.documents:,} documents, {characters:,} characters")
        made = building(corpus, root, given.rounds, given.threads)
        print(f"size: {100 * size(made) / characters:.1f} % of the text")
        clock, _ = timed(lambda: TextIndex(made, corpus))
        print(f"opening: {1000 * clock:.1f} ms")
        asking(TextIndex(made, corpus), corpus, phrases(workspace, given.queries))


if __name__ == "__main__":
    main()
