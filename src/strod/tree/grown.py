"""A tree while it grows or is changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strod.values.shares import late_splits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strod.values.split import Decomposition
    from strod.values.topic import Component, Node

__all__ = ["Grown"]


@dataclass
class Grown:
    """A tree.

    Attributes
    ----------
    nodes : dict of Node
        By id, parents before children.
    splits : dict of Decomposition
        By the id of the topic that was decomposed.
    passes : int
        Passes over the documents.
    learning : dict of dict
        Of each decomposition that a baseline made: iterations, what they took, seconds in all.
    effective : dict of float
        Effective number of documents of each topic, as far as they were counted.
    """

    nodes: dict[str, Node]
    splits: dict[str, Decomposition] = field(default_factory=dict)
    passes: int = 0
    learning: dict[str, dict[str, float]] = field(default_factory=dict)
    effective: dict[str, float] = field(default_factory=dict)

    def rejoin(self, needed: Iterable[Component] = ()) -> None:
        """Let documents apart have a share of all topics again, where none is theirs any more.

        Decompositions of such documents, and those made of them, are dropped if no topic is made of
        them, nor what else is needed.
        """
        nodes = self.nodes.values()
        scores = (score for node in nodes for score in node.path_scores)
        own = (part for node in nodes for part in (*node.components, *node.rest))
        waiting = [*needed, *own, *(part for score in scores for part in score)]
        used: dict[str, Decomposition] = {}
        for part in waiting:  # grows while it is read
            if part.split not in used:
                used[part.split] = self.splits[part.split]
                waiting += self.splits[part.split].sources
        gone = late_splits(self.splits).difference(used)
        self.splits = {name: split for name, split in self.splits.items() if name not in gone}
