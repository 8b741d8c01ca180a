"""How long jobs tell whoever is waiting."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Progress", "Silent"]


class Progress(Protocol):
    """Told what is going on; shows it or not."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """A stage begins; `total` is 0 if nobody knows how much there is."""

    def advance(self, amount: int) -> None:
        """`amount` more of the stage is done."""


class Silent:
    """Shows nothing."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Nothing."""

    def advance(self, amount: int) -> None:
        """Nothing."""
