"""Signals end a command, but never in the middle of an import."""

from __future__ import annotations

import inspect
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["STOPPED", "catch_signals"]

STOPPED = "stopped; nothing is half done"
AGAIN = 0.02  # seconds after which a signal is tried again


def catch_signals() -> None:
    """Raise KeyboardInterrupt on SIGINT and SystemExit on SIGTERM, so that all is tidied up.

    An exception in the middle of an import may be swallowed by the library that imports, as
    Arrow does when it looks for pandas, and may leave the lock of all imports behind, for
    which threads then wait for ever. A signal that comes then is held back until the import
    is done. One that is ignored, as by nohup, stays so.
    """
    outside = _imports(inspect.currentframe())
    for number, usual in (
        (signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL),
    ):  # fmt: skip
        if signal.getsignal(number) == usual:
            _catch(number, outside)


def _catch(number: signal.Signals, outside: int) -> None:
    def stop(_: int, frame: FrameType | None) -> None:
        if _imports(frame) > outside:
            signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    signal.signal(number, stop)


def _imports(frame: FrameType | None) -> int:
    """Frames of the import machinery that are under way."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename.startswith("<frozen importlib")
        frame = frame.f_back
    return count
