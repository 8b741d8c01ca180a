"""An engine of real processes: nothing is shared, everything is sent.

A worker is a new interpreter with a pipe, which knows neither the script of the one that asks nor
the current folder: only what can be imported there can be imported here, the standard library
first. It gets the name of a task, an item, and each shared
value once; it opens files itself, and sends back what the task returns. If the process that asks
dies, the pipes end and the workers with them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from itertools import count
from multiprocessing.connection import Connection, Pipe
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

from strod.compute.blas import one_blas_thread
from strod.compute.threads import ordered_map
from strod.engine.protocol import Engine, Shared, check_task
from strod.errors import StrodError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Processes", "serve"]

T = TypeVar("T")
R = TypeVar("R")


_START = """\
import json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that asks decides
sys.path = json.loads(sys.argv[2])
from strod.engine.processes import serve
serve(int(sys.argv[1]))
"""


class _Sent(Shared[T]):
    """A shared value with a number, and its bytes once somebody needs them."""

    def __init__(self, value: T, number: int) -> None:
        super().__init__(value)
        self.number, self._lock, self._bytes = number, Lock(), b""

    def bytes(self) -> bytes:
        with self._lock:
            self._bytes = self._bytes or bytes(ForkingPickler.dumps(self.value))
            return self._bytes


def serve(descriptor: int) -> None:
    """What a worker does until nobody asks any more at the other end of the pipe."""
    connection = Connection(descriptor)
    known: dict[int, Any] = {}
    while True:
        try:
            message = connection.recv_bytes()
        except EOFError:
            return
        connection.send_bytes(_answer(message, known))


def _answer(message: bytes, known: dict[int, Any]) -> bytes:
    """The result of a task, or what it raised, as bytes."""
    try:
        task, item, numbers, new, gone = ForkingPickler.loads(message)
        for number in gone:
            known.pop(number, None)
        known |= {number: ForkingPickler.loads(value) for number, value in new.items()}
        with one_blas_thread():  # only now are the libraries loaded that it is a limit for
            result = task(item, *(known[number] for number in numbers))
        return bytes(ForkingPickler.dumps((result, None)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the one that asks is told
        return _raised(error)


def _raised(error: Exception) -> bytes:
    text = "".join(traceback.format_exception(error))
    try:
        error.add_note(text)
        answer = bytes(ForkingPickler.dumps((None, error)))
        ForkingPickler.loads(answer)
    except Exception:  # noqa: BLE001 - an error that cannot be sent is sent as text
        return bytes(ForkingPickler.dumps((None, StrodError(text))))
    return answer


class _Worker:
    """A process, the pipe to it, and the numbers of the values that it has."""

    def __init__(self) -> None:
        self._pipe, other = Pipe()
        path = sorted(sys.path, key=lambda one: not one)  # what is in the current folder comes last
        command = [sys.executable, "-P", "-c", _START, str(other.fileno()), json.dumps(path)]
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, with a program of ours
            command, stdin=subprocess.DEVNULL, pass_fds=[other.fileno()]
        )
        other.close()
        self.known: set[int] = set()

    def ask(self, message: bytes) -> tuple[Any, Exception | None]:
        """Result and error of a task."""
        self._pipe.send_bytes(message)
        answer: tuple[Any, Exception | None] = ForkingPickler.loads(self._pipe.recv_bytes())
        return answer

    def end(self) -> int:
        """Let it go; returns its exit code."""
        self._pipe.close()
        return self._process.wait()


class Processes(Engine):
    """Processes of this machine, started when they are first needed."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._numbers = count()
        self._alive: WeakValueDictionary[int, _Sent[Any]] = WeakValueDictionary()
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._started = 0

    def share(self, value: T) -> _Sent[T]:
        """A value that each worker is sent once."""
        sent = _Sent(value, next(self._numbers))
        self._alive[sent.number] = sent
        return sent

    def map(self, task: Callable[..., R], items: Iterable[Any], *values: Any) -> Iterator[R]:
        """Results in the order of `items`."""
        check_task(task)
        return self._results(task, items, values)

    def _results(
        self, task: Callable[..., R], items: Iterable[Any], values: tuple[Any, ...]
    ) -> Iterator[R]:
        while self._started < self.workers:
            self._idle.put(_Worker())
            self._started += 1
        shared = [one if isinstance(one, _Sent) else self.share(one) for one in values]
        yield from ordered_map(lambda item: self._call(task, item, shared), items, self.workers)

    def _call(self, task: Callable[..., R], item: Any, shared: list[_Sent[Any]]) -> R:
        """One item by a worker that has nothing to do."""
        worker = self._idle.get()
        try:
            result, error = worker.ask(self._message(worker, task, item, shared))
        except (EOFError, OSError) as gone:
            worker, lost = _Worker(), worker  # others wait for one
            raise StrodError(f"a worker process ended with code {lost.end()}") from gone
        finally:
            self._idle.put(worker)
        if error is not None:
            worker.known.difference_update(one.number for one in shared)  # it may lack some
            raise error
        found: R = result
        return found

    def _message(
        self, worker: _Worker, task: Callable[..., Any], item: Any, shared: list[_Sent[Any]]
    ) -> bytes:
        gone = {number for number in worker.known if number not in self._alive}
        numbers = [one.number for one in shared]
        new = {one.number: one.bytes() for one in shared if one.number not in worker.known}
        message = bytes(ForkingPickler.dumps((task, item, numbers, new, gone)))
        worker.known = (worker.known - gone) | set(new)
        return message

    def close(self) -> None:
        """End all workers."""
        while self._started:
            self._idle.get().end()
            self._started -= 1
