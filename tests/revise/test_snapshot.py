"""A view of one revision says the same for ever, whoever publishes meanwhile."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from strod.errors import DamagedError
from strod.workspace.placements import assign_corpus
from strod.workspace.snapshot import Snapshot
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from strod.workspace import Workspace

# Twenty revisions by another process, each told in a line.
PUBLISHER = """
import sys
from strod.workspace import Workspace

workspace = Workspace(sys.argv[1])
texts = [{"id": str(n), "text": sys.argv[2]} for n in (3, 5, 700, 701)]
steps = 4 * [
    lambda: workspace.rename("o/1", f"name {len(workspace.history())}"),
    lambda: workspace.collapse("o/2"),
    lambda: workspace.undo(),
    lambda: workspace.pin("o/3"),
]
steps += [
    lambda: workspace.merge("o/1/1", "o/1/2"),
    lambda: workspace.add(texts, replace=True),
    lambda: workspace.remove("o/3/1"),
    lambda: workspace.expand("o/3", 2),
]
for step in steps:
    step()
    print(workspace.manifest.tree.history[-1], flush=True)
"""


def answers(view: Snapshot) -> dict[str, Any]:
    """What a reader may ask."""
    tree, corpus = view.tree, view.corpus
    return {
        "revision": view.revision,
        "topics": {
            path: (topic.id, topic.label, topic.pinned, topic.documents, topic.top(5))
            for path, topic in tree.items()
        },
        "shares": {name: share.tobytes() for name, share in tree.shares().items()},
        "documents": [view.document(name) for name in ("1", "3", "5", "200", "700")],
        "texts": [corpus.text(number) for number in range(corpus.documents)],
        "best": {path: view.best(path, 3) for path in tree},
    }


def test_old_views_answer_while_another_process_publishes(workspace: Workspace) -> None:
    """Views that nobody has asked anything yet are asked after one revision, two, and so on."""
    before = answers(workspace.snapshot)
    assert before["documents"][-1] is None
    views = [Snapshot(workspace.path) for _ in range(20)]
    publisher = [sys.executable, "-c", PUBLISHER, str(workspace.path), planted_texts(1, 9)[0]]
    with subprocess.Popen(publisher, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for view, _ in zip(views, process.stdout, strict=True):
            assert answers(view) == before
    assert process.returncode == 0
    now = workspace.refresh()
    assert now.revision > before["revision"]
    assert answers(now)["texts"] != before["texts"]
    assert answers(views[0]) == before
    assert workspace.check() == []


def test_readers_see_one_revision_while_it_is_refreshed(workspace: Workspace) -> None:
    done = Event()

    def read() -> int:
        some = 0
        while not done.is_set() or not some:
            view = workspace.snapshot
            assert len(view.tree) == view.manifest.tree.topics
            assert len(view.tree.shares(0, 5)) == len(view.tree)
            assert [row["id"] for row in assign_corpus(workspace)][:2] == ["1", "2"]
            some += 1
        return some

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for _ in range(3):
                workspace.collapse("o/1")
                workspace.undo()
        finally:
            done.set()
        assert all(reader.result() for reader in readers)


def test_what_was_taken_before_a_change_stays(workspace: Workspace) -> None:
    tree, corpus, view = workspace.tree, workspace.corpus, workspace.snapshot
    workspace.merge("o/1", "o/2")
    assert workspace.tree is not tree
    assert workspace.snapshot is not view
    assert "o/2" in tree
    assert np.isclose(sum(topic.shares().sum() for topic in tree.root.children), corpus.documents)
    assert view.tree is tree


def test_compact_takes_the_files_of_an_old_view(workspace: Workspace) -> None:
    workspace.expand("o/1", 2, fresh=True)
    old = workspace.snapshot
    workspace.collapse("o/1")
    workspace.compact(keep=1)
    with pytest.raises(DamagedError, match="is missing"):
        answers(old)
    assert answers(workspace.snapshot)["revision"] == workspace.manifest.tree.history[-1]


def test_a_document_by_its_id_is_the_one_that_a_scan_finds(workspace: Workspace) -> None:
    """In several segments, after some documents were replaced."""
    more = [{"id": f"n{n}", "text": text} for n, text in enumerate(planted_texts(20, 4))]
    workspace.add(more)
    again = [{"id": name, "text": text} for name, text in zip(
        ("2", "n3", "n7", "150", "new"), planted_texts(5, 6), strict=True)]  # fmt: skip
    workspace.add(again, replace=True)
    corpus = workspace.corpus
    assert len(corpus.segments) > 1
    texts = [text for shard in corpus.shards() for text in shard.texts(list(range(shard.size)))]
    for number, row in enumerate(assign_corpus(workspace)):
        found = workspace.document(row["id"])
        assert found == row | {"number": number, "text": texts[number]}
        assert corpus.text(number) == texts[number]
    for record in again:
        assert workspace.document(record["id"])["text"] == record["text"]  # type: ignore[index]
    assert workspace.document("none") is None
    for number in (-1, corpus.documents):
        with pytest.raises(IndexError, match="no document"):
            corpus.text(number)


def test_of_documents_with_one_id_the_first(workspace: Workspace) -> None:
    corpus = workspace.corpus
    [one] = corpus._segments.values()
    corpus.__dict__["_segments"] = {"0000": one, "0001": one}
    found = corpus.document("7")
    assert found is not None
    assert (found.number, found.text) == (6, corpus.text(6))
    assert corpus.text(corpus.documents + 6) == found.text


def test_the_best_documents_of_a_topic(workspace: Workspace) -> None:
    tree = workspace.tree
    for path, topic in tree.items():
        shares = topic.shares().round(6)
        found = workspace.snapshot.best(path, 7)
        assert [share for _, share in found] == sorted(shares, reverse=True)[:7]
        assert all(shares[number] == share for number, share in found)
    assert workspace.snapshot.best("o/1", 0) == []
