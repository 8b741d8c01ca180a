"""Work that takes its time: one thing after the other in a thread of its own."""

from __future__ import annotations

import logging
import secrets
from collections import OrderedDict
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from strod.errors import StrodError
from strod.explorer.errors import MissingError, TooManyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from strod.progress import Progress

__all__ = ["CancelledError", "Job", "Jobs"]

WAITING = 16  # jobs that may wait
REMEMBERED = 64  # jobs that are done
_log = logging.getLogger("strod.explorer")


class CancelledError(Exception):
    """The work was called off."""


class Job:
    """A piece of work, and how far it is; the progress that the work is told of.

    Parameters
    ----------
    work : callable
        Takes a `Progress`, gives what is answered.

    Attributes
    ----------
    id : str
        What it is asked for by.
    state : str
        ``running``, ``done``, ``failed`` or ``cancelled``.
    result : dict
        What came out.
    error : StrodError
        Why it failed.
    """

    def __init__(self, work: Callable[[Progress], dict[str, Any]]) -> None:
        self._work, self._cancelled, self._ended = work, Event(), Event()
        self.id, self.state = secrets.token_hex(8), "running"
        self._stage, self._done, self._total = "", 0, 0
        self.result: dict[str, Any] = {}
        self.error: StrodError | None = None

    # -- as a Progress -------------------------------------------------------------------

    def stage(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002 - of the protocol
        """A stage begins."""
        self._stage, self._done, self._total = name, 0, total
        self._stop_if_cancelled()

    def advance(self, amount: int) -> None:
        """So much more is done."""
        self._done += amount
        self._stop_if_cancelled()

    def _stop_if_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise CancelledError

    # -- as a job ------------------------------------------------------------------------

    def run(self) -> None:
        """Do it, and say how it ended."""
        try:
            self._stop_if_cancelled()
            self.result = self._work(self)
            self.state = "done"
        except CancelledError:
            self.state = "cancelled"
        except StrodError as error:
            self.error, self.state = error, "failed"
        except Exception:  # noqa: BLE001 - whoever runs the server sees it, others a line
            _log.exception("a job failed")
            self.error, self.state = StrodError("something went wrong; see the terminal"), "failed"
        finally:
            self._ended.set()

    def cancel(self) -> None:
        """Stop it where it next tells how far it is."""
        self._cancelled.set()

    def wait(self, seconds: float) -> bool:
        """Wait until it has ended, or not that long."""
        return self._ended.wait(seconds)

    def as_dictionary(self) -> dict[str, Any]:
        """How far it is."""
        told: dict[str, Any] = {
            "id": self.id,
            "state": self.state,
            "stage": self._stage,
            "done": self._done,
            "total": self._total,
        }
        if self.state == "done":
            told["result"] = self.result
        elif self.error is not None:
            told["error"] = str(self.error)
        return told


class Jobs:
    """All jobs; the worker is a thread that ends with the process."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._known: OrderedDict[str, Job] = OrderedDict()
        self._lock = Lock()
        self._thread = Thread(target=self._run, name="strod-jobs", daemon=True)
        self._thread.start()

    def start(self, work: Callable[[Progress], dict[str, Any]]) -> Job:
        """Put work at the end of the queue."""
        job = Job(work)
        with self._lock:
            if sum(one.state == "running" for one in self._known.values()) >= WAITING:
                raise TooManyError("others are waiting already; try again in a moment")
            self._known[job.id] = job
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        self._queue.put(job)
        return job

    def find(self, name: str) -> Job:
        """The job of an id."""
        found = self._known.get(name)
        if found is None:
            raise MissingError(f"{name}: no such job")
        return found

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            job.run()

    def close(self, seconds: float = 5.0) -> None:
        """Call off what is under way."""
        for job in list(self._known.values()):
            job.cancel()
        self._queue.put(None)
        self._thread.join(seconds)
