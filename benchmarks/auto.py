"""Trees whose numbers of children strod chooses, beside those of a given shape.

::

    python benchmarks/auto.py 20newsgroups.jsonl.gz news.jsonl --documents 10000

The files are JSON lines with the fields ``id``, ``text`` and ``label``; of each as many documents
as asked for, those with the least hashes of their ids. ``auto`` is three levels deep; its first two
are the tree of ``strod build FILE`` without any option. AMI is the adjusted mutual information
of paths and labels: level 1 with the most general step of the label, leaves (of two levels) with
the whole label. Weights: the largest topic of level 1 beside the largest label, the largest share
of a parent, and the least as a multiple of an equal share.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack
from sklearn.metrics import adjusted_mutual_info_score

import strod
from strod.engine.threads import Serial
from strod.evaluate.labels import label_paths, read_labels
from strod.model.model import Model
from strod.model.options import TreeOptions
from strod.passes.weigh import follow
from strod.tree.matrix import grow_matrix, matrix_shards
from strod.values.shares import structure
from strod.values.topic import ROOT
from strod.values.words import thinning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.tree.grown import Grown
    from strod.values.shares import MemoryShareStore

    Numbers = NDArray[np.int64]

DEPTH = 2  # levels of a tree by default
HEADER = "file | shape | AMI 1 | AMI leaves | level 1 | level 2 | level 3 | largest (label) | "
HEADER += "most of a parent | least | seconds"


class Labelled(NamedTuple):
    """Counts of documents, and the numbers of their labels: first steps, and whole paths."""

    counts: csr_array
    there: NDArray[np.bool_]
    first: Numbers
    whole: Numbers


def part(path: Path, documents: int, folder: Path) -> Path:
    """A file with so many documents of another, drawn by hashes of their ids."""
    opener: Any = gzip.open if path.suffix == ".gz" else Path.open
    with opener(path, "rb") as source:
        lines = source.readlines()
    names = (str(json.loads(line)["id"]).encode() for line in lines)
    hashes = [hashlib.blake2b(name, digest_size=8).digest() for name in names]
    chosen = sorted(sorted(range(len(lines)), key=hashes.__getitem__)[:documents])
    target = folder / f"{path.name.partition('.')[0]}.jsonl"
    target.write_bytes(b"".join(lines[number] for number in chosen))
    return target


def read(path: Path, folder: Path) -> Labelled:
    """Count the words of a file."""
    out = folder / "corpus.strod"
    made = strod.build(path, out=out, height=0, phrases=False, meta="label", overwrite=True)
    counts = csr_array(vstack([shard.counts for shard in made.corpus.shards()]))
    labels = label_paths(read_labels(made.corpus, "label"))
    there = np.array([label is not None for label in labels])
    steps = [label[:1] if label else () for label in labels], [label or () for label in labels]
    first, whole = (np.unique(list(map(repr, some)), return_inverse=True)[1] for some in steps)
    return Labelled(counts, there, first, whole)


def placed(
    counts: csr_array, tree: Grown, book: MemoryShareStore, options: TreeOptions
) -> NDArray[np.int32]:
    """The topic of every document on each level."""
    occurrences = np.asarray(counts.sum(axis=0), dtype=np.int64).ravel()
    kept = thinning(occurrences, options.thin)
    model = Model(kept, options.clip, False, dict(tree.splits), structure(tree.nodes))
    found = [follow(ref, model, book.kept(), options.height) for ref in matrix_shards(counts)]
    return np.concatenate([levels for levels, _ in found], axis=1)


def chosen_numbers(tree: Grown, level: int) -> str:
    """How many children topics of the level above have: their number, or the least and most."""
    tops = [node for node in tree.nodes.values() if node.level == level - 1]
    numbers = [len(node.children) for node in tops if node.children]
    leaves = f" ({len(tops) - len(numbers)} whole)" if len(tops) > len(numbers) else ""
    ends = f"{min(numbers)} to {max(numbers)}" if len(set(numbers)) > 1 else str((*numbers, 0)[0])
    return f"{ends}{leaves}"


def extremes(tree: Grown) -> tuple[float, float]:
    """The largest share of a parent, and the least one as a multiple of an equal share."""
    most, least = 0.0, np.inf
    for node in tree.nodes.values():
        shares = [tree.nodes[child].weight / node.weight for child in node.children]
        most = max([most, *shares])
        least = min([least, *(share * len(shares) for share in shares)])
    return most, least


def row(name: str, data: Labelled, shape: str, options: TreeOptions) -> str:
    """Grow a tree and measure it."""
    begun = time.process_time()
    tree, book = grow_matrix(data.counts, options, Serial())
    spent = time.process_time() - begun
    levels = placed(data.counts, tree, book, options)
    there = data.there & (np.diff(data.counts.indptr) > 0)
    scores = [
        adjusted_mutual_info_score(truth[there], found[there])
        for truth, found in ((data.first, levels[0]), (data.whole, levels[DEPTH - 1]))
    ]
    largest = max(tree.nodes[child].weight for child in tree.nodes[ROOT].children)
    label = np.bincount(data.first[data.there]).max() / data.there.sum()
    most, least = extremes(tree)
    numbers = [
        chosen_numbers(tree, level) if level <= options.height else "" for level in (1, 2, 3)
    ]
    cells = [name, shape, *(f"{score:.3f}" for score in scores), *numbers]
    cells += [f"{largest:.2f} ({label:.2f})", f"{most:.2f}", f"{least:.2f}", f"{spent:.1f}"]
    return " | ".join(cells)


def main() -> None:
    """Print a row for each file and shape."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=10_000, help="of each file, at most")
    parser.add_argument("--shapes", nargs="+", default=["auto", "5", "8"])
    given = parser.parse_args()
    print(f"| {HEADER} |\n|{'---|' * (1 + HEADER.count('|'))}")
    for path in given.files:
        with tempfile.TemporaryDirectory() as scratch:
            data = read(part(path, given.documents, Path(scratch)), Path(scratch))
        for shape in given.shapes:
            children = shape if shape == "auto" else int(shape)
            options = TreeOptions(children=children, height=3 if shape == "auto" else DEPTH)
            print(f"| {row(path.name.partition('.')[0], data, shape, options)} |", flush=True)


if __name__ == "__main__":
    main()
