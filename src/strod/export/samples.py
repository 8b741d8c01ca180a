"""Documents that show what a topic is about: those it has the largest share of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.store.tables import taken
from strod.values.topic import ROOT
from strod.workspace.placements import best_documents

if TYPE_CHECKING:
    from strod.corpus.reader import Corpus, Shard
    from strod.progress import Progress
    from strod.workspace.workspace import Workspace

__all__ = ["Sample", "meta_text", "samples"]

LENGTH = 160  # characters of a text


@dataclass(frozen=True)
class Sample:
    """A document of a topic: id, beginning of its text, share of the topic, metadata if kept."""

    id: str
    text: str
    meta: dict[str, Any]
    share: float

    @property
    def fields(self) -> str:
        """The metadata that it has, to read."""
        known = {name: value for name, value in self.meta.items() if value not in (None, [])}
        return "; ".join(f"{name}: {meta_text(value)}" for name, value in known.items())

    def as_dictionary(self) -> dict[str, Any]:
        """For programs."""
        found: dict[str, Any] = {"id": self.id, "text": self.text, "share": self.share}
        return found | ({"meta": self.meta} if self.meta else {})


def meta_text(value: Any) -> str:
    """A value of a metadata field, to read."""
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def samples(workspace: Workspace, number: int, progress: Progress) -> dict[str, list[Sample]]:
    """The `number` best documents of each topic but the root, by the topic's id.

    Among equal shares the document with more different words says more; after that the
    earlier one comes first.
    """
    corpus, tree = workspace.snapshot.corpus, workspace.snapshot.tree
    names = [topic.id for topic in tree.values() if topic.id != ROOT]
    if not number or not names:
        return {}
    progress.stage("documents", corpus.documents, "documents")
    best = best_documents(corpus, tree, names, number, progress)
    texts = _texts(corpus, {place[2] for places in best.values() for place in places})
    return {
        name: [Sample(*texts[document], share) for share, _, document in places]
        for name, places in best.items()
    }


def _texts(corpus: Corpus, documents: set[int]) -> dict[int, tuple[str, str, dict[str, Any]]]:
    """Id, beginning of the text and metadata of documents, by their number in the corpus."""
    found: dict[int, tuple[str, str, dict[str, Any]]] = {}
    for shard in corpus.shards():
        inside = sorted(number - shard.first for number in documents if _holds(shard, number))
        if inside:
            ids = taken(shard.documents(), np.array(inside))["id"].to_pylist()
            texts = map(_beginning, shard.texts(inside))
            numbers = [shard.first + row for row in inside]
            meta = shard.metadata(inside)
            found |= dict(zip(numbers, zip(ids, texts, meta, strict=True), strict=True))
    return found


def _holds(shard: Shard, number: int) -> bool:
    return shard.first <= number < shard.first + shard.size


def _beginning(text: str) -> str:
    """The first words of a text, in one line."""
    line = " ".join(text[: 4 * LENGTH].split())
    if len(line) <= LENGTH:
        return line
    cut = line[:LENGTH]
    # Text without spaces is cut anywhere.
    return (cut.rpartition(" ")[0] or cut) + "…"
