"""Which documents may have a share of something: told by the shares alone, before any are counted.

Most topics are held by few documents. What is asked of one topic is asked of these, and found
without a look at the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from strod.values.shares import Placed
    from strod.values.split import Decomposition
    from strod.values.topic import Component

    Mask = NDArray[np.bool_]

__all__ = ["Holders"]


class Holders:
    """Documents that may have a share of masses; all others have none, to the last bit.

    Parameters
    ----------
    splits : mapping of Decomposition
        The decompositions.
    placed : Placed
        Shares of the documents in a decomposition.
    fresh : collection of str
        Decompositions in which the documents have no shares yet: whoever has something of what
        was decomposed may have some of any topic.
    """

    def __init__(
        self,
        splits: Mapping[str, Decomposition],
        placed: Placed,
        fresh: Collection[str] = (),
    ) -> None:
        self._splits, self._placed, self._fresh = splits, placed, fresh
        self._whole: dict[str, Mask] = {}

    def of(self, masses: Sequence[Sequence[Component]]) -> Mask:
        """Documents with something of any of these masses; one without parts is all there is."""
        if not all(masses):
            return np.ones(self._placed.size, dtype=bool)
        held = np.zeros(self._placed.size, dtype=bool)
        for part in (part for mass in masses for part in mass):
            held |= self._part(part)
        return held

    def _part(self, part: Component) -> Mask:
        whole = self._of_split(part.split)
        if part.split in self._fresh:
            return whole
        shares = self._placed[part.split]
        held = whole & shares.holding(part.fine)
        return held & shares.there if self._splits[part.split].apart else held

    def _of_split(self, name: str) -> Mask:
        """Documents with something of what was decomposed."""
        if name not in self._whole:
            split = self._splits[name]
            # Who belongs to documents apart is told by their shares there, and by nothing else.
            self._whole[name] = self.of([[] if split.apart else split.components])
        return self._whole[name]
