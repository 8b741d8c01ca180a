"""The words of documents written out, folded, a space after each: what a search index takes."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.compute.kernels import helper, kernel
from strod.text.scan import JUNK_CHUNK, stretch

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Documents", "Entries", "Plain", "insert_words", "write_words"]

# Kernels take arrays and machine integers; numba infers the types.
# mypy: disable-error-code="no-untyped-def", no-check-untyped-defs
# ruff: noqa: ANN001, ANN201, ANN202

_BLANK, _BREAK = np.uint8(32), np.uint8(9)  # for white space, and for what else separates words
_DOT, _SLASH, _COLON, _SMALL_W = map(ord, "./:w")
_HARD = "'\\{<&$@.:"  # may do more than separate words


def _written() -> NDArray[np.uint8]:
    table = np.full(256, _BREAK, dtype=np.uint8)
    table[[ord(c) for c in " \t\n\v\f\r"]] = _BLANK
    for character in string.ascii_letters + string.digits:
        table[ord(character)] = ord(character.lower())
    table[[ord(c) for c in _HARD]] = 0
    table[0x80:] = 0
    return table


_WRITTEN = _written()  # what a byte is written as; 0 if that is not for a table to say


class Documents(NamedTuple):
    """Documents that lie one after another.

    Attributes
    ----------
    data : uint8 array
        Valid UTF-8.
    bounds : int64 array
        Where each document begins, and where the last one ends.
    odd : bool array
        The documents of which no word is plain.
    """

    data: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    odd: NDArray[np.bool_]


class Entries(NamedTuple):
    """Words and markers as of `strod.text.scan.scan`, and where they belong among plain words."""

    starts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    hashes: NDArray[np.uint32]
    places: NDArray[np.int32]


class Plain(NamedTuple):
    """The words of documents that are plain letters and digits, in lower case.

    Attributes
    ----------
    text : uint8 array
        The words, with white space between them.
    ends : int64 array
        The end of each document in `text`.
    stops : int64 array
        The number of entries up to the end of each document.
    """

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]
    stops: NDArray[np.int64]


@helper
def _separates(text, p, begin, end):
    """Whether the byte at `p`, which may do more, does nothing but separate words."""
    if text[p] == _DOT:
        return p == begin or text[p - 1] | 32 != _SMALL_W  # www.
    return text[p] == _COLON and (p + 1 == end or text[p + 1] != _SLASH)  # http://


@helper
def _copy_plain(text, begin, end, out, place):
    """Write what is plain from `begin` on, where a chunk begins.

    Returns where a chunk begins that is not plain, or the end, and how much is written so far.
    """
    p, white, shift = begin, begin - 1, place - begin
    while p < end:
        byte = _WRITTEN[text[p]]
        if byte == 0:
            if not _separates(text, p, begin, end):
                break
            byte = _BREAK
        out[p + shift] = byte
        # Without a branch, which would be foreseen wrongly at every word.
        mask = -np.int64(byte == _BLANK)
        white = (p & mask) | (white & ~mask)
        p += 1
        if p - white > JUNK_CHUNK:
            break
    else:
        return end, end + shift
    return white + 1, white + 1 + shift


@kernel
def write_words(texts, tables, seed, entries, out):
    """Write the plain words of documents, and find the others.

    A chunk, which is a run of characters without white space, is plain if it is short and each
    of its characters is an ASCII letter or digit, or does nothing but separate words. It is
    written by a table. Any other is read by `strod.text.scan.stretch`.

    Parameters
    ----------
    texts : Documents
        The documents.
    tables : Tables
        Of `strod.text.characters`.
    seed : uint64
        Of the hashes.
    entries : Entries
        Filled with the other words; arrays as long as the data are always enough.
    out : uint8 array
        Filled with the plain words; as long as the data.

    Returns
    -------
    Plain
        The words in `out`.
    """
    text, bounds, odd = texts
    kinds, names = tables
    starts, lengths, hashes, places = entries
    ends, stops = np.empty(odd.size, dtype=np.int64), np.empty(odd.size, dtype=np.int64)
    place = n = np.int64(0)
    for d in range(odd.size):
        p, end = bounds[d], bounds[d + 1]
        while p < end:
            if not odd[d]:
                p, place = _copy_plain(text, p, end, out, place)
            first = n
            p, n = stretch(
                text, p, end, odd[d], kinds, names, True, seed, starts, lengths, hashes, n
            )
            for i in range(first, n):
                places[i] = place
        ends[d], stops[d] = place, n
    return Plain(out[:place], ends, stops)


@kernel
def insert_words(plain, odd, places, words, arena, offsets):
    """Plain words with the other words inserted at their places, and the end of each document.

    Parameters
    ----------
    plain : Plain
        As of `write_words`.
    odd : int64 array
        The entries that are words.
    places : int32 array
        Where they belong.
    words : int32 array
        Their numbers, negative for those that are left out.
    arena, offsets : arrays
        Their bytes, and where each begins.
    """
    text, ends, stops = plain
    size = ends[-1]
    for n in range(words.size):
        if words[n] >= 0:
            size += offsets[words[n] + 1] - offsets[words[n]] + 1
    out, moved = np.empty(size, dtype=np.uint8), np.empty_like(ends)
    done, place, n = 0, 0, 0
    for d in range(ends.size):
        while n < odd.size and odd[n] < stops[d]:
            size = places[n] - done
            out[place : place + size] = text[done : places[n]]
            done, place = places[n], place + size
            if words[n] >= 0:
                begin, end = offsets[words[n]], offsets[words[n] + 1]
                out[place : place + end - begin] = arena[begin:end]
                place += end - begin
                out[place] = _BLANK
                place += 1
            n += 1
        size = ends[d] - done
        out[place : place + size] = text[done : ends[d]]
        done, place = ends[d], place + size
        moved[d] = place
    return out, moved
