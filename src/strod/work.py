"""How the model asks for work to be spread: map over items, results in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Engine", "Serial"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Applies a function to many items.

    Results come in the order of the items, so that a sum over them has the same bytes
    whatever runs beside what.
    """

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of `items`; a few items are under way at a time."""


class Serial:
    """One after the other, in the caller's thread."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply `function` to one item at a time."""
        return map(function, items)
