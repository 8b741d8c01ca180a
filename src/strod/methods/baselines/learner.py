"""The interface of the baselines: a learner divides one topic after the other.

A recursive method learns at every topic. A method that learns a whole hierarchy at once does so
when the root is divided, and then hands out what it has found.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from scipy.sparse import csr_array

from strod.model.decompose import NotSplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from strod.progress import Progress

    Array = NDArray[np.float64]
    Numbers = NDArray[np.int64]

__all__ = ["Clock", "Division", "Learner", "Piece", "as_whole"]

SMALLEST = 5  # documents and words for each child; a topic with fewer is not divided


class Piece(NamedTuple):
    """Text of a topic.

    Attributes
    ----------
    rows : ndarray of int64
        The documents that have some, in order.
    counts : csr_array of shape (len(rows), V)
        How often a word stands in a document, for this topic.
    """

    rows: Numbers
    counts: csr_array

    @classmethod
    def of(cls, rows: Numbers, counts: csr_array) -> Piece:
        """The documents that are not empty."""
        some = np.diff(counts.indptr) > 0
        return cls(rows, counts) if some.all() else cls(rows[some], csr_array(counts[some]))

    @property
    def tokens(self) -> int:
        """How many words there are."""
        return int(self.counts.data.sum())

    def check(self, children: int) -> None:
        """Raise NotSplit if there is too little to divide."""
        if len(self.rows) < SMALLEST * children:
            raise NotSplit("too few documents")
        if len(np.unique(self.counts.indices)) < SMALLEST * children:
            raise NotSplit("too few words")

    def lengths(self) -> Array:
        """Words of each document."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64).ravel()


@dataclass(frozen=True)
class Division:
    """A topic divided into k children.

    Attributes
    ----------
    words : ndarray of shape (k, V)
        Weights of the words, of any scale.
    rows : ndarray of int64
        The documents of the topic, in order.
    tokens : ndarray of shape (len(rows), k)
        How many of a document's words are in which child.
    states : list
        What the learner needs to divide each child.
    alpha0 : float
        Sum of the Dirichlet parameters of the documents' shares; 1 if the model has none.
    fewest : int
        Children below which it is no division.
    """

    words: Array
    rows: Numbers
    tokens: Array
    states: list[Any]
    alpha0: float = 1.0
    fewest: int = 2


@dataclass
class Clock:
    """Counts iterations, and stops them when the time is over.

    Attributes
    ----------
    iterations : int
        How many, at most, for each topic.
    seconds : float
        For the whole tree; 0 for no limit.
    progress : Progress
        Told of every iteration.
    done : int
        Iterations of the last topic.
    spent : float
        Seconds that they took.
    """

    iterations: int
    seconds: float
    progress: Progress
    done: int = 0
    spent: float = 0.0

    def steps(self, share: float) -> Iterator[int]:
        """The iterations of a topic that may take this share of the time; one at least."""
        self.done, started = 0, time.monotonic()
        until = started + share * self.seconds
        try:
            while self.done < self.iterations:
                if self.done and self.seconds and time.monotonic() >= until:
                    return
                self.done += 1
                self.progress.advance(1)  # first, because the caller may stop here
                yield self.done
        finally:
            self.spent = time.monotonic() - started
            self.progress.advance(self.iterations - self.done)

    def at_once(self, done: int, spent: float = 0.0) -> None:
        """A topic took `done` iterations and `spent` seconds, which nobody saw."""
        self.done, self.spent = done, spent
        self.progress.advance(self.iterations)


class Learner(Protocol):
    """A method that makes a hierarchy."""

    def root(self) -> Any:
        """What it needs to divide the root."""

    def divide(self, state: Any, seed: int, clock: Clock) -> Division:
        """Divide a topic; raises NotSplit if it has to stay a leaf."""


def as_whole(best: Numbers, lengths: Array, children: int) -> Array:
    """Tokens of documents of which each goes to one child as a whole, -1 for none."""
    return np.where(best[:, None] == np.arange(children), lengths[:, None], 0.0)
