"""What has been measured, a row each: written as it is done, read by the next run."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from strod.errors import DamagedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Journal"]

_AGAIN = "move it away, and its cells are measured again"
# Rows are only added: of those with the same key the last one counts.
_TABLE = (
    "CREATE TABLE cell (number INTEGER PRIMARY KEY, key TEXT NOT NULL, measured TEXT NOT NULL, "
    "code TEXT NOT NULL)"
)


class Journal:
    """Measurements by their key, in a SQLite database.

    A row is written in a transaction of its own, so a killed run loses the cell under way only.
    Keys and values are JSON text.

    Parameters
    ----------
    path : Path
        The file; made with the first row.
    code : str
        Checksum of the code that measures now.
    fresh : bool
        Whether to measure again what is there. Its rows stay: what another corpus or other
        settings took hours for is not lost.
    """

    def __init__(self, path: Path, code: str, *, fresh: bool = False) -> None:
        self.path, self._code = path, code
        self._older: set[str] = set()
        old = path.with_suffix(".jsonl")
        if not path.exists() and old.exists():
            raise UsageError(f"{old}: is a journal of an older version; {_AGAIN}")
        found = self._rows() if path.exists() else {}  # what is no journal is refused in any case
        self._found = {} if fresh else found

    def __len__(self) -> int:
        return len(self._found)

    @property
    def older(self) -> int:
        """Cells that were asked for and had been measured with other code."""
        return len(self._older)

    def find(self, key: dict[str, Any]) -> dict[str, Any] | None:
        """The values that were measured for a key."""
        values, code = self._found.get(_text(key), (None, self._code))
        if code != self._code:
            self._older.add(_text(key))
        return values

    def add(self, key: dict[str, Any], values: dict[str, Any]) -> None:
        """Write a row, down to the disk."""
        row = _text(key), _text(values), self._code
        with self._open() as database:
            database.execute("INSERT INTO cell (key, measured, code) VALUES (?, ?, ?)", row)
        self._found[row[0]] = values, self._code

    def _rows(self) -> dict[str, tuple[dict[str, Any], str]]:
        """Values and code by the text of their key."""
        found = {}
        with self._open() as database:
            query = "SELECT number, key, measured, code FROM cell ORDER BY number"
            for number, key, measured, code in database.execute(query):
                values = _values(measured)
                if values is None:
                    raise self._damaged(f"row {number} is no measurement")
                found[key] = values, code
        return found

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The database, in which nothing is but our table: no view, trigger or function."""
        try:
            with closing(sqlite3.connect(self.path)) as database, database:
                database.execute("PRAGMA trusted_schema = OFF")  # the file may be anybody's
                database.execute("PRAGMA synchronous = EXTRA")  # what was added is on the disk
                there = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master")]
                if not there:
                    database.execute(_TABLE)
                elif there != [_TABLE]:
                    raise self._damaged("is no journal of experiments")
                yield database
        except sqlite3.OperationalError as error:
            raise UsageError(f"{self.path}: cannot be read and written: {error}") from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error

    def _damaged(self, what: str) -> DamagedError:
        return DamagedError(what, file=self.path, advice=_AGAIN)


def _values(text: object) -> dict[str, Any] | None:
    """What was measured, or None if the text says nothing of the kind."""
    try:
        values = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)
