"""A tree while it grows or is changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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

    def forget_unused(self, needed: Iterable[Component] = ()) -> None:
        """Drop decompositions that no topic is made of, nor what else is needed.

        Documents apart that have no topic any more have a share of all others again.
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
        self.splits = {name: split for name, split in self.splits.items() if name in used}
