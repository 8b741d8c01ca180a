"""Shares of documents in decompositions, as the model takes them, and in topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from strod.values.shares import Placed

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.model.model import Model
    from strod.values.shares import Kept, TopicShares

__all__ = ["DocumentShares", "Documents", "Ref", "Rows", "Streams"]

Opened_co = TypeVar("Opened_co", covariant=True)


class Rows(Protocol):
    """Consecutive documents as rows of counts."""

    @property
    def first(self) -> int:
        """Number of the first document."""

    @property
    def size(self) -> int:
        """How many there are."""

    @property
    def counts(self) -> csr_array:
        """Documents by words."""


class Documents(Rows, Protocol):
    """Consecutive documents: what growing needs to know of a shard."""

    @property
    def draws(self) -> NDArray[np.float64]:
        """A number in [0, 1) for every document, from its id alone."""


class Streams(Documents, Protocol):
    """Consecutive documents, word by word, too."""

    @property
    def tokens(self) -> NDArray[np.int32]:
        """Rows of the lexicon; negative numbers are breaks, or something unknown."""

    @property
    def token_offsets(self) -> NDArray[np.int64]:
        """Where each document begins."""

    @property
    def unknown(self) -> NDArray[np.int64]:
        """Unknown words of each document."""


class Ref(Protocol[Opened_co]):
    """Where consecutive documents are: small enough to be sent."""

    @property
    def first(self) -> int:
        """Number of the first document."""

    @property
    def size(self) -> int:
        """How many there are."""

    def open(self) -> Opened_co:
        """The documents."""


@dataclass(frozen=True)
class DocumentShares:
    """Shares of topics in documents whose shares in decompositions are kept.

    Attributes
    ----------
    model : Model
        The topics.
    kept : Kept
        Shares in decompositions.
    only : collection of str, optional
        Topics, if not all are needed.
    """

    model: Model
    kept: Kept
    only: Collection[str] | None = None

    def __call__(
        self, first: int, size: int, holding: Collection[str] | None = None
    ) -> tuple[NDArray[np.int64] | None, TopicShares]:
        """Of documents from a number on, or of those that may hold some topics.

        Which these are comes first; None if they are all.
        """
        placed = Placed(first, size, self.kept)
        topics = self.model.topics
        masses = [] if holding is None else [topics[name].components for name in holding]
        rows = self.model.holders(placed, masses) if masses else None
        return rows, self.model.shares(placed if rows is None else placed.of(rows), self.only)
