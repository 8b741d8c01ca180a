"""Machine code is made once for all processes of a run, while they read the tests."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["compile_meanwhile", "wait_for_machine_code"]

LOCK = "STROD_TESTS_COMPILING"  # names the file that is locked meanwhile
COMPILE = """
from strod.progress import Silent
from strod.workspace.warmup import compile_kernels
compile_kernels(Silent())
"""


def compile_meanwhile() -> Callable[[], None]:
    """Let a process compile what is not kept on disk; what to do at the end of the run."""
    descriptor, path = tempfile.mkstemp(prefix="compiling-")
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # until the process ends, however it does
    process = subprocess.Popen(
        [sys.executable, "-c", COMPILE],
        pass_fds=[descriptor],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(descriptor)
    os.environ[LOCK] = path

    def end() -> None:
        process.wait()
        Path(path).unlink(missing_ok=True)

    return end


def wait_for_machine_code() -> None:
    """Wait until nobody else compiles: each process would do the same work."""
    with Path(os.environ[LOCK]).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
