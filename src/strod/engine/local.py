"""Threads of this machine: map over items, hand back results in the order of the items."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["LocalEngine", "ordered_map"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[Result]:
    """Apply `function` in `workers` threads; results come in the order of `items`.

    At most `workers + 1` items are under way, so memory stays bounded however many
    there are, and what is done with the results does not depend on `workers`.
    """
    pool = ThreadPoolExecutor(workers, thread_name_prefix="strod")
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class LocalEngine:
    """The engine of one machine.

    Attributes
    ----------
    workers : int
        Threads.
    """

    workers: int

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in the order of `items`; a single worker is the caller's own thread."""
        if self.workers == 1:
            return map(function, items)
        return ordered_map(function, items, self.workers)
