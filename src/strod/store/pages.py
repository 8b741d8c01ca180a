"""Headers of Parquet pages, read before Arrow reads the pages whole.

A page of some bytes may unpack to gigabytes. What it unpacks to stands in its header, in
Thrift's compact protocol, of which there is just enough here to read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BadPageError", "Page", "chunk_places", "pages"]

LONGEST_HEADER = 1 << 20
_WINDOWS = (1 << 12, LONGEST_HEADER)
_DEEPEST = 8
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_KIND, _UNPACKED, _PACKED = 1, 2, 3  # fields of a header
_DICTIONARY = 2  # a kind of page
# By the kind of page: where its own header is, and in it the field with the encoding.
_OWN = {0: (5, 2), 2: (7, 2), 3: (8, 4)}
_IN_DICTIONARY = (2, 8)  # encodings of values as numbers into the dictionary
_MAGIC = b"PAR1"
_GROUPS, _COLUMNS, _ABOUT = 4, 1, 3  # fields of the footer, of a row group and of a column
_LENGTH, _DATA_PLACE, _DICTIONARY_PLACE = 7, 9, 11  # of what a column says about itself
_FRONT_CODED = 7  # an encoding: a value may repeat all of the one before it in a byte or two
_PLAIN = (0, 3, *_IN_DICTIONARY)  # encodings that strod writes


class BadPageError(ValueError):
    """The header of a page makes no sense."""


class Page(NamedTuple):
    """Bytes of a page when it is unpacked, the values in it, and what they are."""

    size: int
    values: int
    is_dictionary: bool
    encoding: int

    @property
    def in_dictionary(self) -> bool:
        """Whether its values are numbers into the dictionary."""
        return self.encoding in _IN_DICTIONARY

    @property
    def is_plain(self) -> bool:
        """Whether values that are no numbers into a dictionary take as much as their bytes."""
        return self.encoding in _PLAIN

    @property
    def width(self) -> int:
        """About how long a value is; where one may repeat another, how long it can be."""
        return self.size if self.encoding == _FRONT_CODED else self.size // max(self.values, 1)


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
        """Numbers, structs and lists by the number of their field; the rest is passed over."""
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
            return self._list(depth)
        else:
            raise BadPageError(f"a field of kind {kind}")
        return None

    def _list(self, depth: int) -> list[Any]:
        head, found = self._byte(), []
        size = head >> 4 if head >> 4 < 15 else self._varint()
        for _ in range(min(size, LONGEST_HEADER)):
            if head & 15 in (_TRUE, _FALSE):
                self._skip(1)
            else:
                found.append(self._value(head & 15, depth + 1))
        return found


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
        coded = about.get(encoding)
        if type(coded) is not int:
            raise BadPageError("no encoding")
        yield Page(size, values, kind == _DICTIONARY, coded)
        place += length + packed


def chunk_places(file: BinaryIO) -> list[list[tuple[int, int]]]:
    """Where the column chunks of each row group begin and end.

    The footer is read here: Arrow aborts on some lies in it.
    """
    whole = file.seek(0, 2)
    file.seek(max(whole - 8, 0))
    tail = file.read(8)
    size = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or size > whole - 12:
        raise BadPageError("no footer")
    file.seek(whole - 8 - size)
    try:
        footer = _Compact(file.read(size)).struct()
    except IndexError:
        raise BadPageError("a footer without end") from None
    return [
        [_place(column, whole) for column in _structs(group.get(_COLUMNS))]
        for group in _structs(footer.get(_GROUPS))
    ]


def _place(column: dict[int, Any], whole: int) -> tuple[int, int]:
    """Where a column chunk begins and ends."""
    [about] = _structs([column.get(_ABOUT)])
    place, length = about.get(_DATA_PLACE), about.get(_LENGTH)
    if type(place) is not int or type(length) is not int:
        raise BadPageError("a column without a place")
    first = about.get(_DICTIONARY_PLACE)
    begin = first if type(first) is int and 0 < first < place else place
    if not 0 <= begin <= begin + length <= whole:
        raise BadPageError("a column outside of the file")
    return begin, begin + length


def _structs(found: Any) -> list[dict[int, Any]]:
    """A list of structs, and nothing else."""
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise BadPageError("no list of columns")
    return found
