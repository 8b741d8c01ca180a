"""One BLAS thread, for whoever wants it, from any thread."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from strod.compute.blas import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Callable


def limits() -> set[int]:
    np.eye(2) @ np.eye(2)  # so that a library is loaded
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def elsewhere(act: Callable[[], None]) -> None:
    """Do something in another thread."""
    thread = Thread(target=act)
    thread.start()
    thread.join()


@pytest.fixture(autouse=True)
def three() -> object:
    """Three threads, on any machine, unless somebody says otherwise."""
    limited = threadpool_limits(3, "blas")
    assert limits() == {3}
    yield
    limited.restore_original_limits()


def test_in_this_thread_and_then_in_others() -> None:
    found = []

    def act() -> None:
        with one_blas_thread():
            found.append(limits())
        found.append(limits())

    act()
    elsewhere(act)
    act()
    elsewhere(act)
    assert found == [{1}, {3}] * 4


def test_who_ends_last_lifts_it() -> None:
    one, other = one_blas_thread(), one_blas_thread()
    one.__enter__()
    elsewhere(other.__enter__)
    one.__exit__(None, None, None)
    assert limits() == {1}
    elsewhere(lambda: other.__exit__(None, None, None))  # type: ignore[arg-type]
    assert limits() == {3}
