"""Phrases: how long mining takes beside reading the text in, and beside gensim.

Run it on JSON lines with a ``text`` field, while nothing else runs::

    python benchmarks/phrases.py arxiv_abstracts_150k.jsonl

strod's time is that of the stage ``phrases`` without ranking: counting chains of words of
any length, the tests of quality, cutting all documents into phrases and words, and writing
the outcome. gensim's Phrases gets the tokens as Python lists, in memory, and counts pairs,
then triples (two passes), without cutting the documents; reading and tokenizing are not part
of its time. Times are medians over the rounds, the contestants take turns. ``pip install
gensim`` first, or give ``--rounds 0`` to leave it out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = """
import sys
import strod
strod.build(sys.argv[1], out=sys.argv[2], overwrite=True, height=0, workers=int(sys.argv[3]))
"""

MINE = """
import json, resource, sys, tempfile, time
from pathlib import Path
import strod
from strod.engine.threads import Threads
from strod.options import CorpusOptions
from strod.workspace.phrases import PhraseIndex
from strod.phrases.options import PhraseOptions
from strod.progress import Silent
from strod.workspace.warmup import compile_kernels

corpus = strod.open(sys.argv[1]).corpus
engine = Threads(int(sys.argv[2]))
compile_kernels(Silent())
with tempfile.TemporaryDirectory() as folder:
    started = time.perf_counter()
    book = PhraseIndex.collected(
        Path(folder), corpus, CorpusOptions(), PhraseOptions(), engine, Silent()
    )
    book.write(engine, Silent())
    seconds = time.perf_counter() - started
print(json.dumps({
    "seconds": seconds,
    "phrases": len(book.units.phrases),
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""

GENSIM = """
import json, sys, time
import numpy as np
import strod
from gensim.models.phrases import Phrases

corpus = strod.open(sys.argv[1]).corpus
words = corpus.lexicon["word"].to_pylist()
sentences = []
for shard in corpus.shards():
    tokens = shard.tokens
    for part in np.split(tokens, np.flatnonzero(tokens < 0)):
        if len(part) > 1:
            sentences.append([words[token] for token in part if token >= 0])
least = int(sys.argv[2])
started = time.perf_counter()
pairs = Phrases(sentences, min_count=least)
triples = Phrases(pairs[sentences], min_count=least)
print(json.dumps({"seconds": time.perf_counter() - started}))
"""


def _run(code: str, *arguments: object) -> dict[str, float]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout) if done.stdout.strip() else {}
    return result


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=3, help="of gensim; 0 leaves it out")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    reading, mining, theirs = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "w.strod"
        for number in range(max(arguments.rounds, 1)):
            _run(BUILD, arguments.file, out, arguments.workers)
            report = json.loads((out / "report.json").read_text(encoding="utf-8"))
            reading.append(report["stages"]["corpus"]["seconds"])
            mining.append(_run(MINE, out, arguments.workers))
            if arguments.rounds:
                theirs.append(_run(GENSIM, out, 16)["seconds"])
            print(f"round {number + 1} done", file=sys.stderr)
    read = statistics.median(reading)
    ours = statistics.median(one["seconds"] for one in mining)
    peak = max(one["peak"] for one in mining)
    print(f"{arguments.file.name}, {arguments.workers} workers")
    print(f"reading the text in (stage corpus)     {read:7.2f} s")
    print(f"mining and cutting                     {ours:7.2f} s   {ours / read:.2f} x reading")
    print(f"  {mining[0]['phrases']:,} phrases, peak memory {peak / 1e6:.0f} MB")
    if theirs:
        gensim = statistics.median(theirs)
        print(
            f"gensim Phrases, pairs and triples      {gensim:7.2f} s   {gensim / ours:.1f} x strod"
        )


if __name__ == "__main__":
    main()
