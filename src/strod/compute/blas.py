"""One BLAS thread a task: its sums depend on the number of threads."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING

import threadpoolctl
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Iterator

    from threadpoolctl import _ThreadpoolLimiter

__all__ = ["one_blas_thread"]


def _any_thread_may() -> None:
    """Let this thread set the limit of OpenBLAS.

    From threadpoolctl 3.8 on only the first thread that did could, and others were passed over
    without a word; here all who want the limit are counted, so it is safe from any of them.
    """
    controller = getattr(threadpoolctl, "OpenBLASController", None)
    clear = getattr(controller, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@lru_cache(maxsize=1)
def _libraries(_modules: int) -> ThreadpoolController:
    """Those of this process, which takes milliseconds to find out: a new one comes with modules."""
    return ThreadpoolController()


class _Limit:
    """The limit of this process, and how many want it at the moment.

    It holds for all threads: whoever lifted it at his own end would lift it for the others.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limits: _ThreadpoolLimiter | None = None

    def take(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                _any_thread_may()
                self._limits = _libraries(len(sys.modules)).limit(limits=1)

    def give_back(self) -> None:
        with self._lock:
            self._users -= 1
            if not self._users and self._limits is not None:
                _any_thread_may()
                self._limits.restore_original_limits()
                self._limits = None
                _any_thread_may()


_limit = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS runs with one thread as long as anybody is inside."""
    _limit.take()
    try:
        yield
    finally:
        _limit.give_back()
