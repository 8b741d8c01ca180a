"""Strings to numbers: an open-addressing hash table over one byte arena."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from strod.compute.kernels import helper, kernel
from strod.text.scan import hash_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SEED", "StringTable", "fold_ascii"]

# Kernels take arrays and machine integers; numba infers the types.
# mypy: disable-error-code="no-untyped-def", no-check-untyped-defs
# ruff: noqa: ANN001, ANN201, ANN202, SIM110

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_FIELD = np.uint64((1 << 31) - 1)

# Of the hashes, new in each process: whoever writes the text cannot know which words collide.
# Numbers are given in order of appearance, so that nothing else depends on it.
SEED = np.uint64(secrets.randbits(64))
PROBES, SPARE = 4, 1024  # slots looked at for each string, about 1.5 in a table of random hashes


@helper
def _equal(text, start, length, arena, offset):
    for i in range(length):
        if text[start + i] != arena[offset + i]:
            return False
    return True


class _Spans(NamedTuple):
    """Strings in a text, with their hashes."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    hashes: NDArray[np.uint32]


class _Strings(NamedTuple):
    """The arrays of a table.

    A slot holds the hash of a string in its upper half, its number plus one in the lower.
    """

    slots: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    arena: NDArray[np.uint8]


@kernel
def _intern(spans, first, ids, strings, size, allowed):
    """Number the strings from `first` on; stop early when an array is full.

    Stops too when `allowed` slots were looked at; returns how many of them are left.
    """
    text, starts, lengths, hashes = spans
    slots, offsets, arena = strings
    mask = np.uint64(slots.size - 1)
    for i in range(first, lengths.size):
        length = np.int64(lengths[i])
        if length <= 0:
            ids[i] = length
            continue
        start = np.int64(starts[i])
        tag = np.uint64(hashes[i])
        place = (tag * _SPREAD >> _HALF) & mask
        while True:
            if allowed == 0:
                return i, size, allowed
            allowed -= 1
            slot = slots[place]
            if slot == 0:
                full = 2 * (size + 1) > slots.size or size + 2 > offsets.size
                if full or offsets[size] + length > arena.size:
                    return i, size, allowed
                for j in range(length):
                    arena[offsets[size] + j] = text[start + j]
                offsets[size + 1] = offsets[size] + length
                slots[place] = tag << _HALF | np.uint64(size + 1)
                ids[i] = size
                size += 1
                break
            if slot >> _HALF == tag:
                number = np.int64(slot & _LOW) - 1
                offset = offsets[number]
                if offsets[number + 1] - offset == length and _equal(
                    text, start, length, arena, offset
                ):
                    ids[i] = number
                    break
            place = (place + _ONE) & mask
    return np.int64(lengths.size), size, allowed


@kernel
def _keyed(text, starts, lengths, key, hashes):
    """Hash strings as polynomials at a secret point: few collide, whoever chose them."""
    for i in range(starts.size):
        value = _ONE
        for j in range(np.int64(starts[i]), np.int64(starts[i]) + max(lengths[i], 0)):
            value = (value * key + np.uint64(text[j]) + _ONE) % _FIELD
        hashes[i] = value


@kernel
def _move(old, slots):
    """Put the filled slots of a smaller table into a larger one."""
    mask = np.uint64(slots.size - 1)
    for slot in old:
        if slot != 0:
            place = ((slot >> _HALF) * _SPREAD >> _HALF) & mask
            while slots[place] != 0:
                place = (place + _ONE) & mask
            slots[place] = slot


@kernel
def fold_ascii(arena, offsets, first, genitive, elisions):
    """Fold the strings from `first` on as `fold.fold` does, where they are plain ASCII.

    Returns their bytes, at the places where they were, how many each has, and which ones are
    plain; the others have to go the general way.
    """
    count = offsets.size - 1 - first
    folded = np.empty(offsets[-1] - offsets[first], dtype=np.uint8)
    lengths, plain = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.bool_)
    for i in range(first, offsets.size - 1):
        begin, end = offsets[i], offsets[i + 1]
        plain[i - first] = True
        for j in range(begin, end):
            byte = arena[j]
            if byte >= 0x80 or byte == 92 or (elisions and byte == 39):  # \ and '
                plain[i - first] = False
            folded[j - offsets[first]] = byte + 32 if 65 <= byte <= 90 else byte
        length = end - begin
        if genitive and length > 2 and arena[end - 2] == 39:
            length -= 2 if arena[end - 1] | 32 == 115 else 0  # 's
        lengths[i - first] = length
    return folded, lengths, plain


class StringTable:
    """Numbers strings in the order in which they first appear.

    The hashes of `strod.text.scan` are quick and hard to foresee. If they collide all the
    same, the table goes over to slower ones for which few collisions are proved.

    Attributes
    ----------
    size : int
        How many strings there are.
    probes : int
        How many slots were looked at.
    """

    def __init__(self, capacity: int = 1 << 14) -> None:
        self.size = 0
        self.probes = 0
        self._key: np.uint64 | None = None
        self._slots = np.zeros(4 * capacity, dtype=np.uint64)
        self._offsets = np.zeros(capacity + 1, dtype=np.int64)
        self._arena = np.empty(12 * capacity, dtype=np.uint8)

    def intern(
        self,
        text: NDArray[np.uint8],
        starts: NDArray[np.int32],
        lengths: NDArray[np.int32],
        ids: NDArray[np.int32],
        hashes: NDArray[np.uint32] | None = None,
    ) -> None:
        """Write the number of each string into `ids`; entries of length ≤ 0 are copied.

        `hashes` are those of `strod.text.scan`; without them they are computed.
        """
        text = text.view()
        text.flags.writeable = False  # one type of array, one compilation
        if hashes is None or self._key is not None:
            hashes = self._hashes(text, starts, lengths)
        done, allowed = 0, self._allowed(lengths.size)
        while done < lengths.size:
            before = allowed
            spans = _Spans(text, starts, lengths, hashes)
            strings = _Strings(self._slots, self._offsets, self._arena)
            done, self.size, allowed = _intern(spans, done, ids, strings, self.size, allowed)
            self.probes += before - allowed
            if allowed == 0 and done < lengths.size:
                self._rehash()
                hashes = self._hashes(text, starts, lengths)
                allowed = self._allowed(lengths.size)
            elif done < lengths.size:
                self._grow(int(lengths[done]))

    def _allowed(self, strings: int) -> int:
        return PROBES * strings + SPARE if self._key is None else 1 << 62

    def _hashes(
        self, text: NDArray[np.uint8], starts: NDArray[Any], lengths: NDArray[np.int32]
    ) -> NDArray[np.uint32]:
        hashes = np.empty(lengths.size, dtype=np.uint32)
        if self._key is None:
            hash_spans(text, starts, lengths, SEED, hashes)
        else:
            _keyed(text, starts, lengths, self._key, hashes)
        return hashes

    def _rehash(self) -> None:
        """Go over to the hashes that are proved."""
        self._key = np.uint64(2 + secrets.randbelow(int(_FIELD) - 2))
        lengths = np.diff(self.offsets).astype(np.int32)
        arena = self.arena.view()
        arena.flags.writeable = False
        tags = self._hashes(arena, self.offsets[:-1].astype(np.int32), lengths).astype(np.uint64)
        filled = tags << _HALF | np.arange(1, self.size + 1, dtype=np.uint64)
        self._slots = np.zeros_like(self._slots)
        _move(filled, self._slots)

    def _grow(self, needed: int) -> None:
        if 2 * (self.size + 1) > self._slots.size:
            old, self._slots = self._slots, np.zeros(2 * self._slots.size, dtype=np.uint64)
            _move(old, self._slots)
        if self.size + 2 > self._offsets.size:
            self._offsets = np.resize(self._offsets, 2 * self._offsets.size)
        if self._offsets[self.size] + needed > self._arena.size:
            self._arena = np.resize(self._arena, 2 * self._arena.size + needed)

    def clear(self) -> None:
        """Forget all strings, keep the memory."""
        self.size = 0
        self._slots[:] = 0

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each string begins in `arena`, and where the last one ends."""
        return self._offsets[: self.size + 1]

    @property
    def arena(self) -> NDArray[np.uint8]:
        """The bytes of all strings, one after another."""
        return self._arena[: self._offsets[self.size]]

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self._slots.nbytes + self._offsets.nbytes + self._arena.nbytes

    def string(self, number: int) -> bytes:
        """The string with this number."""
        begin, end = self._offsets[number : number + 2]
        return self._arena[begin:end].tobytes()
