"""Signals end a command, but never in the middle of an import or of loading machine code."""

from __future__ import annotations

import inspect
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["STOPPED", "catch_signals"]

STOPPED = "stopped; nothing is half done"
LLVM = "llvmlite"  # the package
AGAIN = 0.02  # seconds after which a signal is tried again


def catch_signals() -> None:
    """Raise KeyboardInterrupt on SIGINT, SystemExit on SIGTERM and SIGHUP: all is tidied up.

    An exception in the middle of an import may be swallowed by the library that imports, as
    Arrow does when it looks for pandas, and may leave the lock of all imports behind, for
    which threads then wait for ever. In a function that LLVM calls back it is swallowed, and
    LLVM crashes for want of an answer. A signal that comes then is held back until that is
    done. One that is ignored, as by nohup, stays so.
    """
    outside = _delicate(inspect.currentframe())
    usually = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    for number, usual in usually.items():
        if signal.getsignal(number) == usual:
            _catch(number, outside)


def _catch(number: signal.Signals, outside: int) -> None:
    def stop(_: int, frame: FrameType | None) -> None:
        if _delicate(frame) > outside:
            signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    signal.signal(number, stop)


def _delicate(frame: FrameType | None) -> int:
    """Frames under way of the import machinery and of LLVM's bindings."""
    count = 0
    while frame is not None:
        name = frame.f_code.co_filename
        count += name.startswith("<frozen importlib") or LLVM in Path(name).parts
        frame = frame.f_back
    return count
