"""Signals end a command, but never in the middle of an import or of loading machine code."""

from __future__ import annotations

import ctypes
import inspect
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["STOPPED", "catch_lost_pages", "catch_signals"]

STOPPED = "stopped; nothing is half done"
LLVM = "llvmlite"  # the package
LOST = (
    b"strod: a file was cut short while it was read, or the disk cannot be read; "
    b"run strod check, and the command again\n"
)
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


def catch_lost_pages() -> None:
    """End with a line, not by a signal, if a file that is mapped into memory is cut short.

    Large files are mapped. If another program cuts one, or the disk fails, whoever touches the
    lost part gets SIGBUS there and then, maybe in compiled code, and cannot go on. Python's own
    handlers would run after that instruction, which is never; so this one is the system's. It
    comes where a page is read, never in the middle of Python's own work, so Python can run. One
    that somebody else has put there stays.
    """
    put = ctypes.CDLL(None).signal
    put.restype, put.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    before = put(signal.SIGBUS, ctypes.cast(_end, ctypes.c_void_p))
    if before not in (None, int(signal.SIG_DFL), ctypes.cast(_end, ctypes.c_void_p).value):
        put(signal.SIGBUS, before)


def _lost(_: int) -> None:
    os.write(2, LOST)
    os._exit(1)  # locks are freed by the system, and what is half written is left where it is


_end = ctypes.CFUNCTYPE(None, ctypes.c_int)(_lost)  # as long as the process lives
