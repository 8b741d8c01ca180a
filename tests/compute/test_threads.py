"""Maps over threads that nobody follows to their end."""

from __future__ import annotations

import threading
from threading import Event, Thread
from typing import TYPE_CHECKING

from strod.compute.threads import ordered_map

if TYPE_CHECKING:
    import pytest


def refuse(*_: object) -> None:
    raise AssertionError("a thread is joined")


def test_what_is_abandoned_joins_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector of garbage closes it, perhaps while a thread starts: that waited for ever."""
    results = ordered_map(abs, range(9), 2)
    assert next(results) == 0
    monkeypatch.setattr(threading.Thread, "join", refuse)
    results.close()  # type: ignore[attr-defined]


def test_who_abandons_it_waits_for_what_runs() -> None:
    begun, may_end, ended = Event(), Event(), list[int]()

    def work(item: int) -> None:
        if item:
            begun.set()
            may_end.wait()
            ended.append(item)

    results = ordered_map(work, range(9), 1)
    next(results)
    begun.wait()
    Thread(target=may_end.set).start()
    results.close()  # type: ignore[attr-defined]
    assert ended == [1]
