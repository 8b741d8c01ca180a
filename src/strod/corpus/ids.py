"""Which document has an id: a number for each id, sorted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["IdIndex"]

BLOCK = 1 << 16  # ids at once


def _weights(size: int) -> NDArray[np.uint64]:
    """Numbers that look random (splitmix64), one for each place in an id."""
    value = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


_WEIGHTS = _weights(1024)  # more than an id has bytes; a longer one begins again


def _digests(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Σ_i (byte_i + 1)·weight_i of every string, modulo 2⁶⁴."""
    inside = data[offsets[0] : offsets[-1]]
    ends = offsets - offsets[0]
    place = np.arange(inside.size) - np.repeat(ends[:-1], np.diff(ends))
    terms = (inside.astype(np.uint64) + np.uint64(1)) * _WEIGHTS[place % _WEIGHTS.size]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
    found: NDArray[np.uint64] = sums[ends[1:]] - sums[ends[:-1]]
    return found


def _of_chunk(chunk: pa.LargeStringArray) -> list[NDArray[np.uint64]]:
    _, offsets, data = chunk.buffers()
    where = np.frombuffer(offsets, dtype=np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
    text = np.frombuffer(data or b"", dtype=np.uint8)
    return [_digests(text, where[i : i + BLOCK + 1]) for i in range(0, len(chunk), BLOCK)]


class IdIndex:
    """Finds ids in a column without making strings of the others.

    Parameters
    ----------
    ids : ChunkedArray
        Large strings, none missing.
    """

    def __init__(self, ids: pa.ChunkedArray) -> None:
        self._ids = ids
        parts = [part for chunk in ids.chunks if len(chunk) for part in _of_chunk(chunk)]
        digests = np.concatenate(parts or [np.empty(0, dtype=np.uint64)])
        self._order = np.argsort(digests, kind="stable")
        self._sorted = digests[self._order]

    def rows(self, name: str) -> list[int]:
        """Where an id stands, the first row first."""
        data = np.frombuffer(name.encode(errors="surrogatepass"), dtype=np.uint8)
        wanted = _digests(data, np.array([0, data.size]))
        begin, end = (int(self._sorted.searchsorted(wanted, side)[0]) for side in ("left", "right"))
        same: list[int] = self._order[begin:end].tolist()
        return [row for row in same if self._ids[row].as_py() == name]
