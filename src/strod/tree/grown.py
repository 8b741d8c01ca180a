"""A tree while it grows or is changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strod.values.split import Decomposition
    from strod.values.topic import Node

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
