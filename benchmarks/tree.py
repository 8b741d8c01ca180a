"""From counts to a tree: how long it takes beside its peers, how it grows, how much memory.

Run it on JSON lines with a ``text`` field, while nothing else runs::

    python benchmarks/tree.py arxiv_abstracts_150k.jsonl.gz

All trees are 5×5, on the same counts, in one run. strod's time is that of the tree stage of
``strod build --memory 1GB``: sampling, learning, placing every document, on disk. The peers
are built by the same command with ``--method nmf`` and ``--method splitlda``; what counts is
the time they learn, in one thread. tomotopy is timed at a few iterations and scaled to 1,000;
only what the iterations took is scaled.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

ITERATIONS = 1000
SIZES = (25_000, 50_000, 100_000)


def _part(path: Path, documents: int | None, folder: Path) -> Path:
    """The first documents of a file, not compressed."""
    target = folder / f"{documents or 'all'}.jsonl"
    opener: Any = gzip.open if path.suffix == ".gz" else Path.open
    with opener(path, "rb") as source, target.open("wb") as out:
        out.writelines(islice(source, documents))
    return target


def _strod(path: Path, folder: Path, **options: object) -> dict[str, Any]:
    """The report of a build, with the settings that the comparison asks for."""
    out = folder / "bench.strod"
    given = {"children": 5, "height": 2, "memory": "1GB"} | options
    flags = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "strod", "build", path, "--out", out, "--overwrite", "--quiet"]
    subprocess.run([*map(str, command), *flags], check=True)
    report: dict[str, Any] = json.loads((out / "report.json").read_text())
    return report


def _tree_seconds(path: Path, folder: Path, rounds: int, **options: object) -> float:
    reports = [_strod(path, folder, **options) for _ in range(rounds)]
    seconds: list[float] = [report["stages"]["tree"]["seconds"] for report in reports]
    return statistics.median(seconds)


def _learning(path: Path, folder: Path, method: str, **options: object) -> tuple[float, float]:
    """Seconds that a baseline learns, and those of them that it iterates."""
    report = _strod(path, folder, method=method, memory="16GB", **options)
    stage = report["stages"]["tree"]
    return stage["learning_seconds"], stage["iterating_seconds"]


def _growth(path: Path, folder: Path, rounds: int) -> None:
    for size in SIZES:
        seconds = _tree_seconds(_part(path, size, folder), folder, rounds)
        print(f"  {size:>9,} documents    {seconds:7.2f} s   {1e6 * seconds / size:.0f} µs each")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=20, help="of tomotopy, then scaled")
    parser.add_argument("--peers", default="nmf,tomotopy", help="which to run, or none")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = _part(arguments.file, None, folder)
        root = _tree_seconds(path, folder, arguments.rounds, height=1)
        ours = _tree_seconds(path, folder, arguments.rounds)
        report = _strod(path, folder)
        kept = report["documents"]["kept"]
        peak, passes = report["peak_memory_bytes"], report["stages"]["tree"]["passes"]
        print(f"{arguments.file.name}: {kept:,} documents, 5x5, medians of {arguments.rounds}")
        print(f"strod, tree stage       {ours:7.2f} s   {1e6 * ours / kept:.0f} µs a document")
        print(
            f"  root (height 1)       {root:7.2f} s   second level {(ours - root) / root:.2f} x it"
        )
        print(f"  passes {passes}, peak memory {peak / 1e6:.0f} MB (limit 1074, --memory 1GB)")
        _growth(path, folder, arguments.rounds)
        if "nmf" in arguments.peers:
            seconds, _ = _learning(path, folder, "nmf")
            print(f"recursive NMF           {seconds:7.2f} s   {seconds / ours:.1f} x strod")
        if "tomotopy" in arguments.peers:
            few, iterating = _learning(path, folder, "splitlda", iterations=arguments.iterations)
            sweep = iterating / arguments.iterations
            whole = few + (ITERATIONS - arguments.iterations) * sweep
            print(f"tomotopy, {arguments.iterations} iterations {few:9.2f} s   {sweep:.2f} s each")
            print(f"  scaled to {ITERATIONS:,}       {whole:7.0f} s   {whole / ours:.0f} x strod")


if __name__ == "__main__":
    main()
