"""What has been measured, a line each: written as it is done, read by the next run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from strod.errors import DamagedError, UsageError
from strod.store.publish import sync

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Journal"]


class Journal:
    """Measurements by their key, in a file of JSON lines.

    Parameters
    ----------
    path : Path
        The file; made with the first line.
    code : str
        Checksum of the code that measures now.
    fresh : bool
        Whether to measure again what is there. Its lines stay until then: what another corpus or
        other settings took hours for is not lost.

    """

    def __init__(self, path: Path, code: str, *, fresh: bool = False) -> None:
        self.path, self._code = path, code
        self._older: set[str] = set()
        self._damaged = False
        self._found: dict[str, dict[str, Any]] = {}
        for line in self._lines(damaged=fresh):
            self._found[_text(line["key"])] = line
        self._again = set(self._found) if fresh else set()

    def __len__(self) -> int:
        return len(self._found)

    @property
    def older(self) -> int:
        """Lines that were asked for and had been measured with other code."""
        return len(self._older)

    def _lines(self, *, damaged: bool) -> list[dict[str, Any]]:
        """All whole lines; a last one without an end was being written when its run died.

        Lines that are no measurement are refused or, with `damaged`, left out.
        """
        try:
            parts = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        lines = []
        for number, part in enumerate(parts[:-1], start=1):
            line = _measurement(part) if part else None
            if line is not None:
                lines.append(line)
            elif part and not damaged:
                raise DamagedError(
                    f"{self.path}:{number}: is no measurement; delete the line or give --fresh"
                )
            self._damaged = self._damaged or bool(part and line is None)
        return lines

    def find(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """The values that were measured for a key."""
        line = self._found.get(_text(key))
        if line is None or _text(key) in self._again:
            return None
        if line.get("code") != self._code:
            self._older.add(_text(key))
        values: dict[str, Any] = line["values"]
        return values

    def add(self, key: dict[str, Any], values: dict[str, Any]) -> None:
        """Write a line, in one call and down to the disk."""
        line = {"key": key, "values": values, "code": self._code}
        self._found[_text(key)] = line
        self._again.discard(_text(key))
        try:
            self._mend()
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(descriptor, _text(line).encode() + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {error.strerror}") from error

    def _mend(self) -> None:
        """Drop a last line without an end, and lines that are damaged."""
        if not self.path.exists():
            return
        whole = self.path.read_bytes()
        if self._damaged:
            sound = [part for part in whole.split(b"\n")[:-1] if _measurement(part) is not None]
            aside = self.path.with_name(f".{self.path.name}")
            aside.write_bytes(b"".join(part + b"\n" for part in sound))
            sync(aside)
            aside.replace(self.path)
            self._damaged = False
        elif not whole.endswith(b"\n"):
            os.truncate(self.path, whole.rfind(b"\n") + 1)


def _measurement(part: bytes) -> dict[str, Any] | None:
    """What a line says, or None if it is damaged."""
    try:
        line = json.loads(part)
    except ValueError:
        return None
    sound = isinstance(line, dict) and all(isinstance(line.get(n), dict) for n in ("key", "values"))
    return line if sound else None


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False)
