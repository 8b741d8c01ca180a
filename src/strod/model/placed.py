"""Shares of documents in decompositions, as the model takes them, and in topics."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.model.model import Model
    from strod.tree.inference import Shares
    from strod.tree.shares import Kept, TopicShares

__all__ = ["DocumentShares", "Documents", "Placed", "Ref", "Rows"]

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
class Placed:
    """Shares of consecutive documents, by decomposition: found just now, or kept.

    Attributes
    ----------
    first, size : int
        The documents.
    kept : Kept or None
        Where shares of all documents are.
    found : mapping of Shares
        Those that are not there yet.
    """

    first: int
    size: int
    kept: Kept | None = None
    found: Mapping[str, Shares] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Shares:
        found = self.found.get(name)
        if found is not None:
            return found
        if self.kept is None:
            raise KeyError(name)
        return self.kept.read(name, self.first, self.size)

    def extended(self, found: Mapping[str, Shares]) -> Placed:
        """With shares in further decompositions."""
        return replace(self, found={**self.found, **found})


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

    def __call__(self, first: int, size: int) -> TopicShares:
        """Of documents from a number on."""
        return self.model.shares(Placed(first, size, self.kept), self.only)
