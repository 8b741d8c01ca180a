"""References to documents by units: words and phrases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strod.corpus.phrases import UnitShard, read_counts

if TYPE_CHECKING:
    from strod.corpus.reader import ShardRef

__all__ = ["UnitRef"]


@dataclass(frozen=True, slots=True)
class UnitRef:
    """Where consecutive documents are, cut into units.

    Attributes
    ----------
    shard : ShardRef
        The documents.
    width : int
        Number of units.
    """

    shard: ShardRef
    width: int

    @property
    def first(self) -> int:
        """Number of the first document in the corpus."""
        return self.shard.first

    @property
    def size(self) -> int:
        """How many documents there are."""
        return self.shard.size

    def open(self) -> UnitShard:
        """The documents; the files of their segment are opened and looked at once."""
        segment = self.shard.opened()
        arrays = segment.units.get(self.width)
        if arrays is None:
            documents = segment.about.documents
            arrays = read_counts(segment.files, segment.name, documents, self.width)
            segment.units[self.width] = arrays
        return UnitShard(self.first, self.size, arrays, self.shard.begin, self.width)
