"""Files of tests in memory: gone at the end, and those of a run that was killed with the next."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import memory
from tests.memory import PREFIX, folder_in_memory

HOLD = """
import sys
from pathlib import Path
from tests import memory
memory._has_room = lambda _: True
with memory.folder_in_memory(Path(sys.argv[1])) as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def roomy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is taken for one in memory."""
    monkeypatch.setattr(memory, "_has_room", lambda _: True)
    return tmp_path


def test_nothing_is_left(roomy: Path) -> None:
    with folder_in_memory(roomy) as folder:
        assert folder is not None
        (folder / "file").touch()
        assert list(roomy.iterdir()) == [folder]
    assert list(roomy.iterdir()) == []


@pytest.mark.parametrize("killed", [False, True])
def test_what_others_have(roomy: Path, *, killed: bool) -> None:
    """Another run keeps its folder; one that was killed does not."""
    (roomy / "other").mkdir()
    command = [sys.executable, "-c", HOLD, str(roomy)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None
        theirs = other.stdout.readline().strip()
        if killed:
            other.kill()
            other.wait()
        with folder_in_memory(roomy) as folder:
            found = sorted(map(str, roomy.glob(f"{PREFIX}*")))
            assert found == sorted([str(folder), *[theirs] * (not killed)])
        other.communicate()
    assert [path.name for path in roomy.iterdir()] == ["other"]


@pytest.mark.parametrize("place", ["/proc", "/nowhere"])
def test_elsewhere_there_is_none(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with folder_in_memory(Path(place)) as folder:
        assert folder is None
    monkeypatch.setattr(memory, "ROOM", 1 << 60)
    with folder_in_memory() as folder:
        assert folder is None
