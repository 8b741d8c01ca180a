"""The words of leaves, by strod's order and by plain probability, as most methods list theirs.

::

    python benchmarks/own_words.py dblp_titles.jsonl elife_abstracts.jsonl

`strod experiment interpretability` gives all methods strod's order of words. This shows what their
users would read: the ten most probable words of every leaf of a 5x5 tree, with the same documents
and vocabulary, without stop words. NPMI by documents and the share of distinct words. strod's
words are in its own order in both.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, vstack

import strod
from strod.evaluate.coherence import npmi_of_counts
from strod.evaluate.lists import top_words
from strod.evaluate.relations import diversity

if TYPE_CHECKING:
    from strod.hierarchy import Topic
    from strod.workspace import Workspace

TOP = 10


def _probable(topic: Topic) -> list[int]:
    """Columns of the most probable words, of those that occur."""
    order = np.argsort(-topic.distribution, kind="stable")[:TOP]
    found: list[int] = order[topic.distribution[order] > 0].tolist()
    return found


def _scores(lists: list[list[int]], counts: csr_array) -> str:
    return f"{npmi_of_counts(lists, counts):.3f} | {diversity(lists):.3f}"


def _row(workspace: Workspace, *, own: bool) -> str:
    """Scores of the leaves by strod's order and, if it is an `own` one, by probability."""
    tree = workspace.tree
    counts = csr_array(vstack([shard.counts for shard in workspace.corpus.shards()]))
    leaves = [topic for topic in tree.values() if not topic.children]
    listed = [top_words(tree, topic, TOP).tolist() for topic in leaves]
    others = [_probable(topic) for topic in leaves] if own else listed
    return f"{_scores(listed, counts)} | {_scores(others, counts)}"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--methods", default="strod,nmf,lda,splitlda")
    arguments = parser.parse_args()
    print("| corpus | method | NPMI | diversity | NPMI, own order | diversity, own order |")
    print("|---|---|---|---|---|---|")
    for path in arguments.files:
        for method in arguments.methods.split(","):
            with tempfile.TemporaryDirectory() as folder:
                workspace = strod.build(
                    path, out=Path(folder) / "words.strod", method=method, children=5, height=2,
                    phrases=False, workers=1, memory="8GB",
                )  # fmt: skip
                row = _row(workspace, own=method != "strod")
                print(f"| {path.stem} | {method} | {row} |", flush=True)


if __name__ == "__main__":
    main()
