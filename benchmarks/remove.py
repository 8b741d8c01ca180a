"""Removing topics: whether documents go where they would be if the topic had never been there.

Run it on JSON lines with a ``text`` field::

    python benchmarks/remove.py 20newsgroups.jsonl.gz elife_abstracts.jsonl.gz

Builds a 5x5 tree and removes each leaf in turn, taking it back each time. The reference is computed
from the remaining topics alone: what a document has of the parent is placed in the siblings. A
document is a case if its path led to the leaf. A document that stays with the parent agrees with
nobody. `share` is the largest part of the leaf that one sibling gets, `nearest` the part of the
documents that the reference gives that sibling.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import strod
from strod.model.inference import document_shares
from strod.values.shares import Placed
from strod.values.split import FineTopics

if TYPE_CHECKING:
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

MOST = 0.6  # of a topic that one sibling may get, unless it is the nearest for as many documents


class Outcome(NamedTuple):
    """What became of a leaf."""

    path: str
    cases: int
    agreed: int
    stayed: int
    share: float
    nearest: float
    rest: float

    @property
    def poured(self) -> bool:
        """Whether one sibling got more than is its due."""
        return self.share > MOST > self.nearest


def _reference(workspace: Workspace, siblings: list[Topic]) -> list[str]:
    """The sibling that each document would lead to, by id."""
    tree, parent = workspace.tree, siblings[0].parent
    assert parent is not None
    rows = []
    for topic in siblings:
        [part] = tree.nodes[topic.id].components
        rows.append(tree.splits[part.split].topics.counts[part.fine].sum(axis=0))
    topics, found = FineTopics(np.stack(rows)), list[str]()
    for shard in workspace.corpus.shards():
        placed = Placed(shard.first, shard.size, tree.saved)
        counts = tree.model.root_counts(shard.counts)
        [own] = tree.model.topical_counts(counts, [tree.nodes[parent.id].components], placed)
        best = document_shares(topics, own).dense(topics.size).argmax(axis=1)
        found += [siblings[place].id for place in best]
    return found


def _removed(workspace: Workspace, topic: Topic) -> Outcome:
    tree = workspace.tree
    siblings = [one for one in topic.parent.children if one.id != topic.id] if topic.parent else []
    leaves = np.array(tree.leaves(tree.shares()))
    cases = np.flatnonzero(leaves == topic.path)
    expected = np.array(_reference(workspace, siblings))[cases]
    change = workspace.remove(topic.id)
    now = np.array(workspace.tree.leaves(workspace.tree.shares()))[cases]
    paths = {one.id: one.path for one in siblings}
    gained = {name: after - before for name, (before, after) in change.weights.items()}
    heir = max(paths, key=lambda name: gained.get(name, 0.0))
    agreed = sum(paths[name] == path for name, path in zip(expected, now, strict=True))
    workspace.undo()
    return Outcome(
        topic.path,
        len(cases),
        agreed,
        int((now == (topic.parent.path if topic.parent else "")).sum()),
        gained[heir] / topic.weight,
        float((expected == heir).mean()),
        sum(after - before for before, after in change.rests.values()) / topic.weight,
    )


def _told(name: str, found: list[Outcome]) -> None:
    print(f"{name}: leaf, documents, agree, stay with the parent, share, nearest, rest")
    for one in found:
        print(
            f"  {one.path:<8}{one.cases:7,}{one.agreed / max(one.cases, 1):8.3f}"
            f"{one.stayed / max(one.cases, 1):8.3f}{one.share:8.3f}{one.nearest:8.3f}"
            f"{one.rest:8.3f}{'  poured' if one.poured else ''}"
        )
    cases, agreed, stayed = (
        sum(getattr(one, field) for one in found) for field in ("cases", "agreed", "stayed")
    )
    print(
        f"  all     {cases:7,}{agreed / cases:8.3f}{stayed / cases:8.3f}; "
        f"poured into one sibling: {sum(one.poured for one in found)} of {len(found)}"
    )
    sys.stdout.flush()


def main() -> None:
    """Measure and print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    for file in parser.parse_args().files:
        with tempfile.TemporaryDirectory() as name:
            target = Path(name) / "w.strod"
            workspace = strod.build(file, out=target, children=5, height=2)
            leaves = [topic for topic in workspace.tree.values() if not topic.children]
            _told(file.name, [_removed(workspace, topic) for topic in leaves])


if __name__ == "__main__":
    main()
