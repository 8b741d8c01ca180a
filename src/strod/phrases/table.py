"""Numbers for keys: an open hash table, and a sketch that bounds how often keys occur."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.compute.kernels import helper, kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Sketch", "Table", "lookup"]

PROBES, SPARE = 4, 1024  # taken slots passed for each key, about 0.5 if they are random


def new_seed() -> int:
    """A number for a table, new each time."""
    return secrets.randbits(62)


@helper
def _mixed(key: int) -> int:
    """Spread the bits of a key (the finaliser of splitmix64, shortened)."""
    value = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((value ^ (value >> np.uint64(29))) >> np.uint64(1))  # type: ignore[return-value]


@helper
def lookup(slots: Any, places: Any, key: int) -> int:
    """Number of a key, -1 if there is none; the last slot holds the seed."""
    mask = slots.size - 2
    at = _mixed(key ^ slots[mask + 1]) & mask
    while slots[at] != -1:
        if slots[at] == key:
            return int(places[at])
        at = (at + 1) & mask
    return -1


@kernel
def _fill(keys: Any, slots: Any, places: Any, allowed: int) -> int:
    """Put keys into empty slots; returns how many of the `allowed` probes are left."""
    mask = slots.size - 2
    for n in range(keys.size):
        at = _mixed(keys[n] ^ slots[mask + 1]) & mask
        while slots[at] != -1 and allowed > 0:
            at = (at + 1) & mask
            allowed -= 1
        if allowed == 0:
            break
        slots[at] = keys[n]
        places[at] = n
    return allowed


@kernel
def _find(slots: Any, places: Any, keys: Any, out: Any) -> None:
    for n in range(keys.size):
        out[n] = lookup(slots, places, keys[n]) if keys[n] >= 0 else -1


@kernel
def _sketch(keys: Any, counters: Any, least: int, likely: Any) -> None:
    """Count keys if `least` is 0, else mark those whose counter reached it."""
    mask = counters.size - 1
    for n in range(keys.size):
        if keys[n] >= 0:
            at = _mixed(keys[n]) & mask
            if least:
                likely[n] = counters[at] >= least
            else:
                counters[at] += 1


class Table:
    """Numbers of distinct keys ≥ 0: the n-th key has the number n.

    Which keys collide depends on a seed that whoever writes the text cannot know; a table
    in which too many do is made again with another one.
    """

    def __init__(self, keys: NDArray[np.int64]) -> None:
        size = 1 << max(4, int(2 * len(keys)).bit_length())
        self.keys = keys
        self.places = np.empty(size, dtype=np.int32)
        while True:
            self.slots = np.append(np.full(size, -1, dtype=np.int64), new_seed())
            if _fill(keys, self.slots, self.places, PROBES * len(keys) + SPARE):
                break

    def find(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """Numbers of keys; -1 for those that are not there."""
        out = np.empty(len(keys), dtype=np.int32)
        _find(self.slots, self.places, keys, out)
        return out


class Sketch:
    """Upper bounds of the counts of keys in fixed memory.

    It has no seed: nothing is looked for here, and which keys share a counter should not
    differ from run to run.

    Keys share counters, so a count may be too large, never too small: what a sketch says is
    rare need not be counted.
    """

    def __init__(self, keys: int) -> None:
        """Room for about so many keys."""
        bits = min(max(int(2 * keys).bit_length(), 10), 24)
        self._counters = np.zeros(1 << bits, dtype=np.int32)

    def add(self, keys: NDArray[np.int64]) -> None:
        """Count keys; negative ones are none."""
        _sketch(keys, self._counters, 0, np.empty(0, dtype=np.bool_))

    def likely(self, keys: NDArray[np.int64], least: int) -> NDArray[np.int64]:
        """Those keys that may occur `least` times or more."""
        mark = np.zeros(len(keys), dtype=np.bool_)
        _sketch(keys, self._counters, least, mark)
        return keys[mark]
