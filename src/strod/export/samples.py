"""Documents that show what a topic is about: those it has the largest share of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.store.tables import taken
from strod.values.topic import ROOT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from strod.corpus.reader import Corpus, Shard
    from strod.progress import Progress
    from strod.workspace.workspace import Workspace

__all__ = ["Sample", "meta_text", "samples"]

DIGITS = 6  # shares that differ by less are the same
LENGTH = 160  # characters of a text

# Share, different words, number of the document in the corpus.
_Place = tuple[float, int, int]


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
    corpus, tree = workspace.corpus, workspace.tree
    best: dict[str, list[_Place]] = {topic.id: [] for topic in tree.values() if topic.id != ROOT}
    if not number or not best:
        return {}
    progress.stage("documents", corpus.documents, "documents")
    for shard in corpus.shards():
        shares = tree.shares(shard.first, shard.size)
        words = shard.sizes
        for name in best:
            found = _best(shares[name].round(DIGITS), words, shard.first, number)
            best[name] = sorted(best[name] + found, key=_order)[:number]
        progress.advance(shard.size)
    texts = _texts(corpus, {place[2] for places in best.values() for place in places})
    return {
        name: [Sample(*texts[document], share) for share, _, document in places]
        for name, places in best.items()
    }


def _order(place: _Place) -> tuple[float, int, int]:
    share, words, document = place
    return -share, -words, document


def _best(
    shares: NDArray[np.float64], words: NDArray[np.int64], first: int, number: int
) -> list[_Place]:
    """The best documents of a shard."""
    place = max(shares.size - number, 0)
    least = np.partition(shares, place)[place]
    rows = np.flatnonzero((shares >= least) & (shares > 0))
    rows = rows[np.lexsort((rows, -words[rows], -shares[rows]))][:number]
    return [(float(shares[row]), int(words[row]), first + int(row)) for row in rows]


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
