"""A signal ends a command, but not in the middle of an import or of a callback of LLVM."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# The module swallows whatever its import raises, as Arrow does when it looks for pandas.
DELICATE = """
import signal, sys
try:
    signal.raise_signal(signal.Signals[sys.argv[1]])
    print("importing", flush=True)
except BaseException as error:
    print("swallowed", type(error).__name__, flush=True)
print("imported", flush=True)
"""
COMMAND = """
import signal
from strod.cli.signals import catch_signals
catch_signals()
try:
    import delicate
    signal.pause()
except BaseException as error:
    print(type(error).__name__, flush=True)
"""


@pytest.mark.parametrize(
    ("name", "raised"),
    [("SIGINT", "KeyboardInterrupt"), ("SIGTERM", "SystemExit"), ("SIGHUP", "SystemExit")],
)
def test_an_import_is_finished_first(tmp_path: Path, name: str, raised: str) -> None:
    (tmp_path / "delicate.py").write_text(DELICATE)
    (tmp_path / "command.py").write_text(COMMAND)
    command = [sys.executable, str(tmp_path / "command.py"), name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split() == ["importing", "imported", raised]


CALLED_BACK = """
import signal, sys
from strod.cli.signals import catch_signals
catch_signals()
scope = {}
source = "def called_back(): signal.raise_signal(number); print('answer', flush=True)"
exec(compile(source, "/somewhere/llvmlite/binding/executionengine.py", "exec"),
     {"signal": signal, "number": signal.Signals[sys.argv[1]]}, scope)
try:
    scope["called_back"]()
    signal.pause()
except BaseException as error:
    print(type(error).__name__, flush=True)
"""


@pytest.mark.parametrize(
    ("name", "raised"),
    [("SIGINT", "KeyboardInterrupt"), ("SIGTERM", "SystemExit"), ("SIGHUP", "SystemExit")],
)
def test_what_llvm_calls_back_gives_its_answer(tmp_path: Path, name: str, raised: str) -> None:
    (tmp_path / "command.py").write_text(CALLED_BACK)
    command = [sys.executable, str(tmp_path / "command.py"), name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split() == ["answer", raised]


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    (tmp_path / "command.py").write_text(
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from strod.cli.signals import catch_signals\ncatch_signals()\n"
        "signal.raise_signal(signal.SIGINT)\nprint('alive')\n"
    )
    command = [sys.executable, str(tmp_path / "command.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "alive\n"
