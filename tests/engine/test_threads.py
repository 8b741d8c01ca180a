"""Threads: order, bounds, errors, early ends."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from strod.compute.threads import ordered_map, spread

if TYPE_CHECKING:
    from collections.abc import Iterator


JOBS = "strod-jobs"  # of a server that other tests share


def strod_threads() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("strod") and name != JOBS]


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    gates = [threading.Event() for _ in range(20)]

    def late(item: int) -> int:
        # Each item but the last of its group waits for the one after it.
        if item % workers != workers - 1 and item < 19:
            gates[item + 1].wait(300)
        gates[item].set()
        return item * item

    assert list(ordered_map(late, range(20), workers)) == [i * i for i in range(20)]
    assert strod_threads() == []


def test_work_is_done_side_by_side() -> None:
    meeting = threading.Barrier(3, timeout=300)  # breaks unless three are there at once

    def meet(_: int) -> bool:
        meeting.wait()
        return True

    assert list(ordered_map(meet, range(6), 3)) == [True] * 6


def test_nothing() -> None:
    assert list(ordered_map(str, [], 2)) == []


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_number_under_way_is_bounded(workers: int) -> None:
    taken = 0
    most = 0
    given_back = 0

    def items() -> Iterator[int]:
        nonlocal taken, most
        for item in range(50):
            taken += 1
            most = max(most, taken - given_back)
            yield item

    for _ in ordered_map(str, items(), workers):
        given_back += 1
    assert given_back == 50
    assert most == workers + 1


def test_work_does_not_depend_on_the_consumer() -> None:
    """Items are taken only as results are asked for."""
    taken: list[int] = []
    results = ordered_map(str, (taken.append(i) or i for i in range(100)), 2)  # type: ignore[func-returns-value]
    assert taken == []
    assert next(results) == "0"
    assert taken == [0, 1, 2]
    results.close()  # type: ignore[attr-defined]


def test_error_of_the_function() -> None:
    done: list[int] = []

    def fail(item: int) -> int:
        if item == 3:
            raise ValueError("three")
        done.append(item)
        return item

    results = ordered_map(fail, range(1000), 2)
    seen: list[int] = []
    with pytest.raises(ValueError, match="three"):
        seen.extend(results)
    assert seen == [0, 1, 2]
    assert max(done) <= 5  # the thousand items were not worked off
    assert strod_threads() == []
    assert list(results) == []


def test_error_of_the_items() -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise OSError("source")

    seen: list[str] = []
    with pytest.raises(OSError, match="source"):
        seen.extend(ordered_map(str, items(), 2))
    assert seen == ["0", "1", "2"]
    assert strod_threads() == []


def test_closed_early(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    release = threading.Event()

    def slow(item: int) -> int:
        started.append(item)
        if item:
            release.wait(300)
        return item

    closed: list[str] = []

    def items() -> Iterator[int]:
        try:
            yield from range(1000)
        finally:
            closed.append("items")

    source = items()
    results = ordered_map(slow, source, 1)
    assert next(results) == 0
    shutdown = ThreadPoolExecutor.shutdown

    def shut(*arguments: Any, **more: Any) -> None:  # what is under way ends once it is cancelled
        release.set()
        shutdown(*arguments, **more)

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", shut)
    results.close()  # type: ignore[attr-defined]
    assert started in ([0], [0, 1])
    for thread in threading.enumerate():  # their work is done; to end, they may take a moment more
        if thread.name in strod_threads():
            thread.join(300)
    assert strod_threads() == []
    source.close()  # type: ignore[attr-defined]
    assert closed == ["items"]


def test_waiting_work_is_cancelled() -> None:
    started: list[int] = []

    def work(item: int) -> int:
        started.append(item)
        if item == 0:
            raise ValueError("first")
        return item

    with pytest.raises(ValueError, match="first"):
        list(ordered_map(work, range(100), 1))
    assert set(started) <= {0, 1}


@pytest.mark.parametrize("threads", [1, 3])
def test_one_thread_is_the_one_that_asks(threads: int) -> None:
    found = spread(lambda _: threading.current_thread().name, range(6), threads)
    own = threading.current_thread().name
    assert [name == own for name in found] == [threads == 1] * 6
