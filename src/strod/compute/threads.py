"""Threads of one process: map over items, hand back results in the order of the items."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import get_ident
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["ordered_map", "spread"]

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
    owner, abandoned = get_ident(), False
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except GeneratorExit:
        abandoned = True
        raise
    finally:
        # What is abandoned may be closed by the collector of garbage, in any thread, in the midst
        # of its start or end: to join threads there could wait for ever.
        pool.shutdown(wait=not abandoned, cancel_futures=True)
        if abandoned and get_ident() == owner:
            wait([one for one in waiting if not one.cancelled()])


def spread(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """The same; a single thread is the caller's own."""
    return map(function, items) if threads == 1 else ordered_map(function, items, threads)
