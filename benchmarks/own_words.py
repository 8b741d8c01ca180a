"""The words of leaves, by strod's order and by that of the method itself.

::

    python benchmarks/own_words.py dblp_titles.jsonl elife_abstracts.jsonl

`strod experiment interpretability` gives all methods strod's order of words. This shows what their
users would read: the ten best words of every leaf of a 5x5 tree, by probability or, for NMF, by its
components, with the same documents and vocabulary, without stop words. NPMI by documents and
the share of distinct words. strod's words are in its own order in both.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, vstack

import strod
from strod.engine.threads import Serial
from strod.evaluate.coherence import mean_npmi, mean_of
from strod.evaluate.lists import top_words
from strod.evaluate.relations import diversity
from strod.passes.cooccur import cooccurrences
from strod.tree.matrix import MatrixShard

if TYPE_CHECKING:
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

TOP = 10
HALF = 0.5  # a share above which a document is of a topic; those of NMF are 0 or 1


def _own(topic: Topic, method: str, counts: csr_array) -> list[int]:
    """Columns of the best words of a leaf as its method has them, of those that occur.

    NMF factorises tf-idf of the documents of the topic above; its words have been divided by idf.
    """
    weight = topic.distribution
    if method == "nmf" and topic.parent is not None:
        inside = counts[topic.parent.shares() > HALF]
        seen = np.bincount(inside.indices, minlength=counts.shape[1])
        weight = weight * (1 + np.log((1 + inside.shape[0]) / (1 + seen)))
    order = np.argsort(-weight, kind="stable")[:TOP]
    found: list[int] = order[weight[order] > 0].tolist()
    return found


def _scores(lists: list[list[int]], counts: csr_array) -> str:
    documents, width = counts.shape
    chosen = [np.asarray(words, dtype=np.int64) for words in lists if len(words) > 1]
    met = cooccurrences([MatrixShard(0, documents, counts)], chosen, width, Serial())
    npmi = mean_of([mean_npmi(pairs, documents) for pairs in met])
    return f"{npmi:.3f} | {diversity(lists):.3f}"


def _row(workspace: Workspace, method: str) -> str:
    """Scores of the leaves by strod's order and by that of the method."""
    tree = workspace.tree
    counts = csr_array(vstack([shard.counts for shard in workspace.corpus.shards()]))
    leaves = [topic for topic in tree.values() if not topic.children]
    listed = [top_words(tree, topic, TOP).tolist() for topic in leaves]
    others = [_own(topic, method, counts) for topic in leaves] if method != "strod" else listed
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
                print(f"| {path.stem} | {method} | {_row(workspace, method)} |", flush=True)


if __name__ == "__main__":
    main()
