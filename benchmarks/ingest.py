"""Text in, once: how long it takes beside ``wc -w`` and scikit-learn, and how much memory.

Run it on JSON lines with a ``text`` field, while nothing else runs::

    python benchmarks/ingest.py arxiv_abstracts_150k.jsonl.gz

All contestants run in the same process tree on the same file, in turns; times are medians
over the rounds. ``wc`` counts words in UTF-8; CountVectorizer gets the texts as Python
strings, and its time includes reading them from the file, as strod's does.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VECTORIZER = """
import json, sys, time
from sklearn.feature_extraction.text import CountVectorizer
started = time.perf_counter()
with open(sys.argv[1], encoding="utf-8") as file:
    CountVectorizer(min_df=5).fit_transform(json.loads(line)["text"] for line in file)
print(time.perf_counter() - started)
"""


def _plain(path: Path, folder: Path) -> Path:
    """The file without its compression."""
    if path.suffix != ".gz":
        return path
    plain = folder / path.stem
    with gzip.open(path) as source, plain.open("wb") as target:
        shutil.copyfileobj(source, target)
    return plain


def _repeated(path: Path, times: int, folder: Path) -> Path:
    """The file several times over, each time with other ids."""
    target = folder / f"repeated-{times}.jsonl"
    with target.open("w", encoding="utf-8") as out:
        for i in range(times):
            with path.open(encoding="utf-8") as source:
                for line in source:
                    record = json.loads(line)
                    record["id"] = f"{i}/{record.get('id')}"
                    out.write(json.dumps(record, ensure_ascii=False) + "\n")
    return target


def _wc(path: Path) -> float:
    started = time.perf_counter()
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    subprocess.run(["wc", "-w", path], check=True, env=environment, capture_output=True)
    return time.perf_counter() - started


def _strod(path: Path, folder: Path, workers: int) -> tuple[float, int]:
    """Seconds of the corpus stage and peak memory of the process."""
    out = folder / "bench.strod"
    command = [sys.executable, "-m", "strod", "build", path, "--out", out, "--overwrite", "--quiet"]
    subprocess.run([*map(str, command), "--workers", str(workers), "--height", "0"], check=True)
    report = json.loads((out / "report.json").read_text())
    return report["stages"]["corpus"]["seconds"], report["peak_memory_bytes"]


def _vectorizer(path: Path) -> float:
    run = subprocess.run(
        [sys.executable, "-c", VECTORIZER, path], check=True, capture_output=True, text=True
    )
    return float(run.stdout)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=10, help="0: no memory test")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = _plain(arguments.file, folder)
        _strod(path, folder, arguments.workers)  # compiles the kernels and warms the file cache
        rounds = [
            (_wc(path), *_strod(path, folder, arguments.workers), _vectorizer(path))
            for _ in range(arguments.rounds)
        ]
        wc, seconds, memory, vectorizer = map(statistics.median, zip(*rounds, strict=True))
        size = path.stat().st_size / 1e6
        print(f"{arguments.file.name}: {size:.0f} MB, {arguments.workers} workers")
        print(f"wc -w                  {wc:6.2f} s")
        print(f"strod, corpus stage    {seconds:6.2f} s   {seconds / wc:.1f} x wc (limit 6)")
        ratio = vectorizer / seconds
        print(f"CountVectorizer        {vectorizer:6.2f} s   {ratio:.1f} x strod (at least 2.5)")
        print(f"peak memory            {memory / 1e6:6.0f} MB  (limit 600)")
        if arguments.repeat:
            many = _repeated(path, arguments.repeat, folder)
            seconds, more = _strod(many, folder, arguments.workers)
            growth = 100 * (more / memory - 1)
            print(
                f"{arguments.repeat} x the input         {seconds:6.2f} s   {more / 1e6:.0f} MB, "
                f"{growth:+.1f} % (limit +10 %)"
            )


if __name__ == "__main__":
    main()
