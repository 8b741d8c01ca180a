"""Blocks of an Arrow file: what they unpack to, read before Arrow unpacks them.

A block of some bytes may unpack to gigabytes. Each of its buffers begins with the number of bytes
that it becomes. Where the buffers are stands in the file's footer and in the header of the
block, both FlatBuffers, of which there is just enough here to find them.
"""

from __future__ import annotations

from struct import error as struct_error
from struct import unpack_from
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["unpacked"]

_END = 10  # bytes: the length of the footer, and ARROW1
_BLOCKS, _BLOCK = 3, 24  # the footer's list of blocks, and the bytes of an entry
_HEADER, _MORE = 2, 4  # fields of a message: what it is about, and notes of any kind
_BUFFERS, _BUFFER, _COMPRESSION = 2, 16, 3  # fields of a block, and the bytes of an entry
_AS_IT_IS = -1  # instead of a size: packing did not make it smaller


def _number(data: Any, kind: str, place: int) -> int:
    if place < 0:
        raise ValueError("points outside")
    return int(unpack_from(f"<{kind}", data, place)[0])


def _target(data: Any, place: int) -> int:
    """What an offset at a place points to."""
    return place + _number(data, "I", place)


def _field(data: Any, table: int, number: int) -> int:
    """Where a field of a table is; 0 if it is not there."""
    fields = table - _number(data, "i", table)
    entry = 4 + 2 * number
    offset = _number(data, "H", fields + entry) if entry < _number(data, "H", fields) else 0
    return table + offset if offset else 0


def _entries(data: Any, table: int, number: int, size: int) -> range:
    """Where the entries of a list of a table are."""
    first = _target(data, _field(data, table, number))
    return range(first + 4, first + 4 + size * _number(data, "I", first), size)


def _buffers(data: Any, block: int) -> Iterator[tuple[int, int]]:
    """Bytes of each buffer of a block as it is stored, and as it will be."""
    start, header = _number(data, "q", block), _number(data, "i", block + 8)
    # A message begins with a mark and its own length, old ones with the length alone.
    message = _target(data, start + (8 if _number(data, "I", start) == 0xFFFFFFFF else 4))
    if _field(data, message, _MORE):  # an old way to say that it is packed
        raise ValueError("has a header that strod does not write")
    about = _target(data, _field(data, message, _HEADER))
    packed = _field(data, about, _COMPRESSION)
    for place in _entries(data, about, _BUFFERS, _BUFFER):
        begin, size = _number(data, "q", place), _number(data, "q", place + 8)
        becomes = _number(data, "q", start + header + begin) if packed and size else size
        if size < 0 or becomes < _AS_IT_IS:
            raise ValueError("has buffers without size")
        yield size, size if becomes == _AS_IT_IS else becomes


def unpacked(data: Any, number: int) -> tuple[int, int]:
    """Bytes of a block of an Arrow file as it is stored, and when it is unpacked.

    Parameters
    ----------
    data : bytes or mmap
        The file.
    number : int
        Of the block.
    """
    try:
        footer = len(data) - _END - _number(data, "I", len(data) - _END)
        block = _entries(data, _target(data, footer), _BLOCKS, _BLOCK)[number]
        sizes = list(_buffers(data, block))
    except struct_error as error:
        raise ValueError("points outside") from error
    return sum(size for size, _ in sizes), sum(becomes for _, becomes in sizes)
