"""Headers of Parquet pages, read before Arrow reads the pages whole.

A page of some bytes may unpack to gigabytes. What it unpacks to stands in its header, in
Thrift's compact protocol, of which there is just enough here to read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BadPageError", "Page", "pages"]

LONGEST_HEADER = 1 << 20
_WINDOWS = (1 << 12, LONGEST_HEADER)
_DEEPEST = 8
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_KIND, _UNPACKED, _PACKED = 1, 2, 3  # fields of a header
_DICTIONARY = 2  # a kind of page
# By the kind of page: where its own header is, and in it the field with the encoding.
_OWN = {0: (5, 2), 2: (7, 2), 3: (8, 4)}
_IN_DICTIONARY = (2, 8)  # encodings of values as numbers into the dictionary


class BadPageError(Exception):
    """The header of a page makes no sense."""


class Page(NamedTuple):
    """Bytes of a page when it is unpacked, the values in it, and what they are."""

    size: int
    values: int
    is_dictionary: bool
    in_dictionary: bool


class _Compact:
    """Reads the compact protocol; `IndexError` if there is too little of it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise BadPageError("a number without end")

    def _number(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _skip(self, count: int) -> None:
        self.at += count
        if self.at > len(self._data):
            raise IndexError

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Numbers and structs by the number of their field; the rest is passed over."""
        if depth > _DEEPEST:
            raise BadPageError("nested too deeply")
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._number()
            found[field] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if _BYTE < kind < _DOUBLE:
            return self._number()
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_BYTE, _DOUBLE):
            self._skip(1 if kind == _BYTE else 8)
        elif kind == _BINARY:
            self._skip(self._varint())
        elif kind in (_LIST, _SET):
            self._list(depth)
        else:
            raise BadPageError(f"a field of kind {kind}")
        return None

    def _list(self, depth: int) -> None:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()
        for _ in range(min(size, LONGEST_HEADER)):
            if head & 15 in (_TRUE, _FALSE):
                self._skip(1)
            else:
                self._value(head & 15, depth + 1)


def _header(file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    """The header at a place of the file, and how long it is."""
    for window in _WINDOWS:
        file.seek(place)
        compact = _Compact(file.read(window))
        try:
            return compact.struct(), compact.at
        except IndexError:
            continue
    raise BadPageError("no end")


def pages(file: BinaryIO, place: int, end: int) -> Iterator[Page]:
    """The pages of a column chunk, which lie between two places of a file."""
    while place < end:
        header, length = _header(file, place)
        size, packed = header.get(_UNPACKED), header.get(_PACKED)
        if type(size) is not int or type(packed) is not int or size < 0 or packed < 0:
            raise BadPageError("no size")
        kind = header.get(_KIND)
        own, encoding = _OWN.get(kind, (0, 0)) if type(kind) is int else (0, 0)
        found = header.get(own)
        about: dict[int, Any] = found if isinstance(found, dict) else {}
        values = about.get(1)
        if type(values) is not int or values < 0:
            raise BadPageError("no number of values")
        yield Page(size, values, kind == _DICTIONARY, about.get(encoding) in _IN_DICTIONARY)
        place += length + packed
