"""What an engine is: it applies a task to many items, and gives the results in their order.

A task is a function of a module, of an item and of values that all items share: a worker in
another process finds it by its name. Sums over results have a fixed order, so that they have the
same bytes whatever runs beside what.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from strod.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["ENGINES", "Engine", "Shared", "check_engine", "check_task", "values_of"]

ENGINES = ("local", "processes")

T = TypeVar("T")
R = TypeVar("R")


class Shared(Generic[T]):
    """A value that tasks are given; workers elsewhere get it once."""

    def __init__(self, value: T) -> None:
        self.value = value


class Engine:
    """Applies tasks to items.

    Attributes
    ----------
    workers : int
        Tasks that run side by side.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def share(self, value: T) -> Shared[T]:
        """A value for the tasks of several passes."""
        return Shared(value)

    def map(self, task: Callable[..., R], items: Iterable[Any], *values: Any) -> Iterator[R]:
        """Results of ``task(item, *values)`` in the order of `items`; few are under way at a time.

        A value may be one that `share` gave.
        """
        raise NotImplementedError

    def fold(
        self,
        task: Callable[..., R],
        items: Iterable[Any],
        *values: Any,
        start: T,
        add: Callable[[T, R], T],
    ) -> T:
        """``add(…add(add(start, first), second)…, last)``: from left to right."""
        for result in self.map(task, items, *values):
            start = add(start, result)
        return start

    def close(self) -> None:
        """Nothing more will be asked for."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_engine(name: str) -> None:
    """Refuse engines that do not exist."""
    if name not in ENGINES:
        raise UsageError(f"`engine` {name}: there are {' and '.join(ENGINES)}")


def values_of(values: Iterable[Any]) -> list[Any]:
    """Values, those that are shared without their wrapping."""
    return [one.value if isinstance(one, Shared) else one for one in values]


def check_task(task: Callable[..., Any]) -> None:
    """Refuse what another process would not find by name: closures, lambdas, bound methods."""
    name, module = getattr(task, "__qualname__", repr(task)), getattr(task, "__module__", None)
    found: Any = sys.modules.get(str(module))
    for step in name.split("."):
        found = getattr(found, step, None)
    if found is not task:
        raise TypeError(f"{module}.{name}: a task must be a function of a module")
