"""Engines of one process: the caller's own thread, or several threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from strod.compute.blas import one_blas_thread
from strod.compute.threads import spread
from strod.engine.protocol import Engine, check_task, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Serial", "Threads"]

R = TypeVar("R")


class Threads(Engine):
    """Threads of this process; a single one is the caller's own."""

    def map(self, task: Callable[..., R], items: Iterable[Any], *values: Any) -> Iterator[R]:
        """Results in the order of `items`."""
        check_task(task)
        return self._results(task, items, values_of(values))

    def _results(
        self, task: Callable[..., R], items: Iterable[Any], values: list[Any]
    ) -> Iterator[R]:
        with one_blas_thread():
            yield from spread(lambda item: task(item, *values), items, self.workers)


class Serial(Threads):
    """One item after the other, in the caller's thread."""

    def __init__(self) -> None:
        super().__init__(1)
