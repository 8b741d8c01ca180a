"""What every engine does, in the caller's thread, in threads and in processes of its own."""

from __future__ import annotations

import gc
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from strod.engine.make import make_engine
from strod.engine.processes import Processes
from strod.engine.protocol import ENGINES
from strod.engine.threads import Serial, Threads
from strod.errors import StrodError, UsageError
from tests.engine import tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strod.engine.protocol import Engine

KINDS = ["serial", "threads", "processes"]


@pytest.fixture(scope="module", params=KINDS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made: dict[str, Any] = {
        "serial": Serial,
        "threads": partial(Threads, 2),
        "processes": partial(Processes, 2),
    }
    with made[request.param]() as found:
        yield found


def test_results_come_in_the_order_of_the_items(engine: Engine) -> None:
    assert list(engine.map(tasks.uneven, range(20))) == list(range(20))


def test_many_items_and_none(engine: Engine) -> None:
    assert list(engine.map(tasks.square, range(300))) == [item * item for item in range(300)]
    assert list(engine.map(tasks.square, [])) == []


def test_values_are_shared_or_given(engine: Engine) -> None:
    offset = engine.share({"by": 0.5})
    for factor in (2.0, 3.0):
        found = list(engine.map(tasks.scaled, range(5), factor, offset))
        assert found == [item * factor + 0.5 for item in range(5)]


def test_a_shared_value_is_sent_once(engine: Engine) -> None:
    value = engine.share(list(range(1000)))
    found = {*engine.map(tasks.identity, range(9), value)}
    found |= {*engine.map(tasks.identity, range(9), value)}
    assert len(found) <= (2 if isinstance(engine, Processes) else 1)


def test_sums_have_one_order(engine: Engine) -> None:
    """Another order of such numbers gives another sum."""
    expected = 0.0
    for item in range(200):
        expected += tasks.tenth(item)
    found = engine.fold(tasks.tenth, range(200), start=0.0, add=float.__add__)
    assert found == expected
    assert found != sum(tasks.tenth(item) for item in reversed(range(200)))


def test_an_error_of_a_task_is_raised_where_it_was_asked_for(engine: Engine) -> None:
    taken: list[int] = []
    items = (taken.append(item) or item for item in range(1000))  # type: ignore[func-returns-value]
    results = engine.map(tasks.fail_at, items, 3)
    seen: list[int] = []
    with pytest.raises(UsageError) as error:
        seen.extend(results)
    assert str(error.value) == "item 3 cannot be"
    assert seen == [0, 1, 2]
    assert len(taken) <= 3 + 1 + engine.workers  # the thousand were not worked off
    assert list(results) == []
    assert list(engine.map(tasks.square, [4])) == [16]


def test_an_error_of_the_items(engine: Engine) -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("source")

    with pytest.raises(OSError, match="source"):
        list(engine.map(tasks.square, items()))


def test_whoever_stops_asking_takes_no_more_items(engine: Engine) -> None:
    taken: list[int] = []
    items = (taken.append(item) or item for item in range(1000))  # type: ignore[func-returns-value]
    results = engine.map(tasks.square, items)
    assert taken == []
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert len(taken) <= 1 + engine.workers
    assert list(engine.map(tasks.square, range(3))) == [0, 1, 4]


@pytest.mark.parametrize("kind", ["lambda", "closure", "method", "partial", "object"])
def test_what_has_no_name_is_no_task(engine: Engine, kind: str) -> None:
    number = 2

    def closure(item: int) -> int:
        return item + number

    given: dict[str, Any] = {
        "lambda": lambda item: item,
        "closure": closure,
        "method": tasks.Holder().method,
        "partial": partial(tasks.scaled, factor=1),
        "object": tasks.Holder(),
    }
    with pytest.raises(TypeError, match="a task must be a function of a module") as error:
        engine.map(given[kind], [1])
    named = {"lambda": "<lambda>", "closure": "closure", "method": "Holder.method"}
    assert named.get(kind, "") in str(error.value)


def test_a_task_has_one_blas_thread(engine: Engine) -> None:
    for found in engine.map(tasks.blas, range(4)):
        assert set(found) == {1}


def test_processes_are_others() -> None:
    with make_engine("processes", 2) as engine:
        found = set(engine.map(tasks.process, range(20)))
        assert os.getpid() not in found
        assert 1 <= len(found) <= 2
        with pytest.raises(StrodError, match="1 and 1"):  # the error itself cannot be sent
            list(engine.map(tasks.stubborn, [1]))
        with pytest.raises(Exception, match=r"pickle|local object"):
            list(engine.map(tasks.unsendable, [1]))
        with pytest.raises(Exception, match=r"pickle|local object"):
            list(engine.map(tasks.square, [lambda: 1]))
        assert list(engine.map(tasks.square, range(9))) == [item * item for item in range(9)]


def test_a_worker_that_dies_is_named_and_replaced() -> None:
    with make_engine("processes", 2) as engine:
        with pytest.raises(StrodError, match="a worker process ended with code 3"):
            list(engine.map(tasks.end, range(10), 4))
        value = engine.share(7)
        assert list(engine.map(tasks.identity, range(4), value))
        assert list(engine.map(tasks.square, range(9))) == [item * item for item in range(9)]


def test_values_that_nobody_holds_are_forgotten() -> None:
    with Processes(1) as engine:
        list(engine.map(tasks.identity, [0], list(range(100))))
        gc.collect()
        worker = engine._idle.get()
        engine._idle.put(worker)
        assert len(worker.known) == 1
        assert list(engine.map(tasks.square, [2])) == [4]
        assert worker.known == set()


def test_engines_have_names() -> None:
    for name in ENGINES:
        make_engine(name, 2).close()
    with pytest.raises(UsageError, match="engine cluster: there are local and processes"):
        make_engine("cluster", 2)


def test_nothing_is_left_of_an_engine_that_is_closed() -> None:
    engine = Processes(2)
    (pid, *_) = engine.map(tasks.process, range(4))
    engine.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
