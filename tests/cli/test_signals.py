"""A signal ends a command, but not in the middle of an import or of a callback of LLVM."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# The module swallows whatever its import raises, as Arrow does when it looks for pandas.
SLOW = """
import time
print("importing", flush=True)
try:
    for _ in range(30):
        time.sleep(0.01)
except BaseException as error:
    print("swallowed", type(error).__name__, flush=True)
print("imported", flush=True)
"""
COMMAND = """
import time
from strod.cli.signals import catch_signals
catch_signals()
try:
    import slow
    time.sleep(30)
except BaseException as error:
    print(type(error).__name__, flush=True)
"""


@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "SystemExit")]
)
def test_an_import_is_finished_first(tmp_path: Path, number: signal.Signals, raised: str) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "command.py").write_text(COMMAND)
    command = [sys.executable, str(tmp_path / "command.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "importing\n"
        process.send_signal(number)
        assert process.communicate(timeout=20)[0].split() == ["imported", raised]


CALLED_BACK = """
import signal, sys
from strod.cli.signals import catch_signals
catch_signals()
scope = {}
source = "def called_back(): signal.raise_signal(number); return 7"
exec(compile(source, "/somewhere/llvmlite/binding/executionengine.py", "exec"),
     {"signal": signal, "number": signal.Signals[sys.argv[1]]}, scope)
try:
    print(scope["called_back"](), flush=True)
    signal.pause()
except BaseException as error:
    print(type(error).__name__, flush=True)
"""


@pytest.mark.parametrize(
    ("name", "raised"), [("SIGINT", "KeyboardInterrupt"), ("SIGTERM", "SystemExit")]
)
def test_what_llvm_calls_back_gives_its_answer(tmp_path: Path, name: str, raised: str) -> None:
    (tmp_path / "command.py").write_text(CALLED_BACK)
    command = [sys.executable, str(tmp_path / "command.py"), name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.split() == ["7", raised]


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    (tmp_path / "command.py").write_text(
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from strod.cli.signals import catch_signals\ncatch_signals()\n"
        "signal.raise_signal(signal.SIGINT)\nprint('alive')\n"
    )
    command = [sys.executable, str(tmp_path / "command.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "alive\n"
