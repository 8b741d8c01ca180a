"""The tokenizer as a byte scanner: UTF-8 in, spans of words and markers out.

This is the fast twin of `reference.py`, which holds the definition in words and
regular expressions; a property test keeps the two equal. The scanner looks at each
byte a bounded number of times, so no text can make it slow.

An entry of the output is a word (`lengths > 0`, its bytes begin at `starts`) or a
marker (`lengths` is SENTENCE, CLAUSE or HOLE): what stands between two words.

The code is written for a short first compilation too: few functions, tables instead
of comparisons.
"""

from __future__ import annotations

import numpy as np

from strod.compute.kernels import helper, kernel
from strod.text.characters import (
    ACCENT,
    ALNUM,
    ALPHA,
    APOSTROPHE,
    CLAUSE,
    CLOSER,
    DECIMAL,
    DIGIT,
    FLAGS,
    HOLE,
    HOST,
    HYPHEN,
    JOIN,
    LETTER,
    LOCAL,
    LOWER,
    MARK,
    MORE_WORD,
    NAME,
    PAGES,
    PRINTABLE,
    SENTENCE,
    SMALL,
    SPACE,
    STOP,
    TRAIL,
    UPPER,
    WHITE,
)

__all__ = ["hash_spans", "scan", "stretch"]

# Kernels take arrays and machine integers; numba infers the types.
# mypy: disable-error-code="no-untyped-def", no-check-untyped-defs
# ruff: noqa: ANN001, ANN201, ANN202, SIM109, SIM110

NOTHING = -4  # weaker than any marker
LONGEST_WORD = 40  # characters; longer runs are not words
LONGEST_MATH = 300  # characters between two dollar signs
JUNK_CHUNK = 30  # characters without a space from which a chunk may be encoded data
JUNK_PIECE = 3  # mean letters per piece below which it is

_NEWLINE, _BLANK, _SMALL_W = map(ord, "\n w")
_HASH, _DOLLAR, _AND, _MINUS, _DOT, _SLASH = map(ord, "#$&-./")
_COLON, _SEMICOLON, _LESS, _EQUAL, _MORE, _AT = map(ord, ":;<=>@")
_OPEN, _BACKSLASH, _CLOSE, _BRACE, _UNBRACE = map(np.uint8, b"[\\]{}")
_CASE, _NO_CASE = np.uint8(0), np.uint8(32)
_TAG = np.uint8(ord("<"))
_FNV, _PRIME, _HALF = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3), np.uint64(32)


@helper
def _character(text, p, kinds):
    """Class and width in bytes of the character at `p`."""
    byte = np.int64(text[p])
    if byte < 0x80:
        return np.int64(kinds[byte]), 1
    width = 2 + (byte >= 0xE0) + (byte >= 0xF0)
    code = byte & (0x7F >> width)
    for i in range(1, width):
        code = code << 6 | (text[p + i] & 0x3F)
    page = np.int64(kinds[kinds.size - PAGES + (code >> 8)])
    return np.int64(kinds[page + (code & 255)]), width


@helper
def _run_end(text, p, end, flags):
    """End of the run of characters with one of `flags` at `p`."""
    while p < end and FLAGS[text[p]] & flags:
        p += 1
    return p


@helper
def _accent_end(text, p, end):
    r"""End of a LaTeX accent such as \"o, \"{o} or {\"o} at `p`; `p` if there is none."""
    braced = text[p] == _BRACE
    q = p + 1 if braced else p
    if q + 2 >= end or text[q] != _BACKSLASH or not FLAGS[text[q + 1]] & ACCENT:
        return p
    q += 2
    if q + 2 < end and text[q] == _BRACE and text[q + 2] == _UNBRACE:
        good = FLAGS[text[q + 1]] & ALPHA
        q += 3
    else:
        good = FLAGS[text[q]] & ALPHA
        q += 1
    if braced:
        good = good and q < end and text[q] == _UNBRACE
        q += 1
    return q if good else p


@helper
def _word_end(text, p, end, kinds):
    """End of the run of word characters at `p`, its length, first and last class."""
    q, size, first, last = p, 0, -1, -1
    while q < end:
        kind, width = _character(text, q, kinds)
        if kind == APOSTROPHE:
            if not (last == LOWER or last == LETTER or last == MARK) or q + width >= end:
                break
            following = _character(text, q + width, kinds)[0]
            if not (following == LOWER or following == LETTER):
                break
        elif text[q] == _BACKSLASH or text[q] == _BRACE:
            width = _accent_end(text, q, end) - q
            if width == 0:
                break
            kind = LOWER
        elif not (LETTER <= kind <= DIGIT or (kind == MARK and size > 0)):
            break
        if size == 0:
            first = kind
        last = kind
        size += 1
        q += width
    return q, size, first, last


@helper
def _address_end(text, p, end):
    """End of the address that runs through `p`, without the punctuation after it."""
    q = _run_end(text, p, end, PRINTABLE)
    while q > p and FLAGS[text[q - 1]] & TRAIL:
        q -= 1
    return q


@helper
def _junk_end(text, p, end):
    """End of a chunk of encoded data (base64, uuencode, hashes) at `p`; `p` if it is none."""
    q = p
    letters, pieces, before, compound = 0, 0, 0, True
    while q < end and FLAGS[text[q]] & PRINTABLE:
        kind = FLAGS[text[q]] & ALPHA
        if kind:
            letters += 1
            if before == 0 or (kind == UPPER and before == SMALL):
                pieces += 1
        elif text[q] != _MINUS:
            compound = False
        before = kind
        q += 1
    if q - p < JUNK_CHUNK or (q < end and text[q] >= 0x80):
        return p
    if compound or letters >= JUNK_PIECE * pieces:
        return p
    return q


@helper
def _group_end(text, p, end, opening, closing):
    """End of a bracketed group at `p` without brackets or backslashes in it, else `p`."""
    q = p
    if q < end and text[q] == opening:
        q += 1
        while q < end:
            byte = text[q]
            if byte == closing:
                return q + 1
            if byte == _OPEN or byte == _BRACE or byte == _UNBRACE or byte == _BACKSLASH:
                break
            q += 1
    return p


@helper
def _known(text, p, end, names, sign, case):
    """Whether `sign` and the name at `p`, with the bits of `case` set, are one of `names`."""
    value = (_FNV ^ np.uint64(sign)) * _PRIME
    for i in range(p, end):
        value = (value ^ np.uint64(text[i] | case)) * _PRIME
    for name in names:
        if name == value:
            return True
    return False


@helper
def _markup(text, p, end, names):
    """Marker and end of the tag, comment or declaration at the `<` at `p`."""
    q = p + 1
    closing = q < end and text[q] == _SLASH
    special = q < end and (text[q] == 33 or text[q] == 63)  # ! or ?
    q += closing or special
    name = q
    q = _run_end(text, q, end, NAME)
    name_end = q
    spaced = q < end and FLAGS[text[q]] & WHITE
    values = False
    while q < end and text[q] != _LESS and text[q] != _MORE:
        values |= text[q] == _EQUAL
        q += 1
    if q >= end or text[q] != _MORE:
        return CLAUSE, p + 1
    if special:
        return SENTENCE, q + 1
    bare = _run_end(text, name_end, q, WHITE)
    bare += bare < q and text[bare] == _SLASH
    if name == name_end or not FLAGS[text[name]] & ALPHA:
        return CLAUSE, p + 1
    if bare < q and not (spaced and values):
        return CLAUSE, p + 1
    for i in range(name, name_end):
        if text[i] == _COLON:
            name = i + 1
    if _known(text, name, name_end, names, _TAG, _NO_CASE):
        return NOTHING, q + 1
    return SENTENCE, q + 1


@helper
def _command(text, p, end, names):
    r"""Marker and end of what the backslash at `p` begins: \alpha, \cite{key}, \, or itself."""
    q = _run_end(text, p + 1, end, ALPHA)
    if q == p + 1:
        return NOTHING, q + (q < end and (FLAGS[text[q]] & PRINTABLE) != 0)
    if _known(text, p + 1, q, names, _BACKSLASH, _CASE):
        q = _group_end(text, q, end, _OPEN, _CLOSE)
        q = _group_end(text, q, end, _BRACE, _UNBRACE)
    return HOLE, q


@helper
def _math(text, p, end):
    """Marker and end of the formula at the dollar sign at `p`, or of the sign alone."""
    double = 1 if p + 1 < end and text[p + 1] == _DOLLAR else 0
    q = p + 1 + double
    size = 0
    while q < end and text[q] != _DOLLAR and size <= LONGEST_MATH:
        if text[q] == _NEWLINE and text[q - 1] == _NEWLINE:
            break
        size += (text[q] & 0xC0) != 0x80
        q += 1
    if q >= end or text[q] != _DOLLAR or size == 0 or size > LONGEST_MATH:
        return CLAUSE, p + 1
    if double:
        if q + 1 < end and text[q + 1] == _DOLLAR:
            return HOLE, q + 2
    elif not (
        FLAGS[text[p + 1]] & WHITE
        or FLAGS[text[q - 1]] & WHITE
        or (q + 1 < end and FLAGS[text[q + 1]] & DECIMAL)
    ):
        return HOLE, q + 1
    return CLAUSE, p + 1


@helper
def _dot(text, p, end, kinds):
    """Marker of the full stop at `p`."""
    q = _run_end(text, p + 1, end, CLOSER)
    spaced = q >= end
    while q < end:
        kind, width = _character(text, q, kinds)
        if kind != SPACE:
            return SENTENCE if spaced and kind != LOWER else CLAUSE
        spaced = True
        q += width
    return SENTENCE


@helper
def _separator(text, p, end, kinds, names, word_end, size):
    """Marker and end of whatever stands at `p` that is neither word nor space."""
    byte = text[p]
    kind, width = _character(text, p, kinds)
    marker, q = CLAUSE, p + width
    if byte == _DOT:
        if word_end == p and size == 1:  # an initial or an abbreviation: E. coli, e.g.
            return NOTHING, q
        return _dot(text, p, end, kinds), q
    if byte == _LESS:
        return _markup(text, p, end, names)
    if byte == _BACKSLASH:
        return _command(text, p, end, names)
    if byte == _DOLLAR:
        return _math(text, p, end)
    if byte == _AND:
        r = _run_end(text, q + (q < end and text[q] == _HASH), end, ALNUM)
        if 2 <= r - q <= 9 and r < end and text[r] == _SEMICOLON:
            q = r + 1
    if kind == STOP:
        marker = SENTENCE
    elif kind == APOSTROPHE or kind == JOIN or kind == MARK:
        marker = NOTHING
    elif kind == HYPHEN and word_end == p and q < end:
        following = _character(text, q, kinds)[0]
        if LETTER <= following <= DIGIT:
            marker = NOTHING
    return marker, q


@helper
def _address(text, p, begin, end, word_start):
    """First and last byte of the address whose : or @ is at `p`; (-1, p) if it is none."""
    if text[p] == _COLON:
        if p + 2 < end and text[p + 1] == _SLASH and text[p + 2] == _SLASH:
            return word_start, _address_end(text, p + 3, end)
    elif p + 1 < end and FLAGS[text[p + 1]] & ALNUM:
        q = p
        while q > begin and FLAGS[text[q - 1]] & LOCAL:
            q -= 1
        if q <= word_start:
            return q, _run_end(text, p + 1, end, HOST)
    return -1, p


@helper
def _hash(text, begin, end, seed):
    """FNV-1a of some bytes; `strod.corpus.intern` looks words up by it."""
    value = seed
    for i in range(begin, end):
        value = (value ^ np.uint64(text[i])) * _PRIME
    return value


@helper
def _chunk_end(text, p, end):
    """As `_junk_end`, after a quick look whether a space comes soon."""
    q = p
    limit = min(end, p + JUNK_CHUNK)
    while q < limit and text[q] > _BLANK:
        q += 1
    return _junk_end(text, p, end) if q == p + JUNK_CHUNK else p


@helper
def _white_end(text, p, end, kinds):
    """End of the white space at `p`, and SENTENCE if there is an empty line in it."""
    newlines = 0
    while p < end:
        kind, width = _character(text, p, kinds)
        if kind != SPACE:
            break
        newlines += text[p] == _NEWLINE
        p += width
    return p, (SENTENCE if newlines > 1 else NOTHING)


@helper
def _is_www(text, p, q, end):
    """Whether the word from `p` to `q` is the www of an address."""
    if q - p != 3 or q + 1 >= end or text[q] != _DOT or not FLAGS[text[q + 1]] & ALNUM:
        return False
    return text[p] | 32 == text[p + 1] | 32 == text[p + 2] | 32 == _SMALL_W


@helper
def stretch(text, begin, end, whole, kinds, names, numbers, seed, starts, lengths, hashes, n):
    """Find the words from `begin` on, where a chunk begins; parameters as of `scan`.

    Unless the `whole` is wanted, they end where another chunk begins: what comes before it says
    nothing of its words. Returns where they end, and the number of entries.
    """
    first, p = n, begin
    pending = np.int64(NOTHING)
    word_start = word_end = np.int64(-1)
    size = np.int64(0)  # of the last run of word characters, 0 for a number
    chunk = p  # where the chunk begins that is not yet looked at
    while p < end:
        byte = text[p]
        if byte == _BLANK:
            p += 1
            chunk = p
            if whole:
                continue
            break
        kind = np.int64(kinds[byte])
        if byte >= 0x80:
            kind = _character(text, p, kinds)[0]
        if kind == SPACE:
            p, marker = _white_end(text, p, end, kinds)
            pending = max(pending, marker)
            chunk = p
            if whole:
                continue
            break
        q = p
        if chunk == p:
            q = _chunk_end(text, p, end)
        if q > p:
            pending = max(pending, HOLE)
        elif LETTER <= kind <= DIGIT or (
            (byte == _BACKSLASH or byte == _BRACE) and _accent_end(text, p, end) > p
        ):
            value = seed
            while q < end and text[q] < 0x80 and LETTER <= kinds[text[q]] <= DIGIT:
                value = (value ^ np.uint64(text[q])) * _PRIME
                q += 1
            size, last = q - p, 0
            if q > p:
                last = np.int64(kinds[text[q - 1]])
            if q == p or (q < end and (text[q] >= 0x80 or FLAGS[text[q]] & MORE_WORD)):
                q, size, kind, last = _word_end(text, p, end, kinds)
                value = _hash(text, p, q, seed)
            number = kind == DIGIT and not (size == 2 and (last == LOWER or last == LETTER))
            dropped = size > LONGEST_WORD or (number and not numbers)
            size = 0 if number else size
            word_start, word_end = p, q
            if _is_www(text, p, q, end):
                pending, q = max(pending, HOLE), _address_end(text, q, end)
            elif dropped:
                pending = max(pending, HOLE)
            else:
                if pending > NOTHING and n > first:
                    starts[n], lengths[n] = p, pending
                    n += 1
                pending = np.int64(NOTHING)
                starts[n], lengths[n] = p, q - p
                hashes[n] = value ^ (value >> _HALF)
                n += 1
        else:
            start = np.int64(-1)
            if (byte == _COLON or byte == _AT) and word_end == p:
                start, q = _address(text, p, begin, end, word_start)
            if start >= 0:  # take back the words that turn out to be part of the address
                pending = max(pending, HOLE)
                while n > first and starts[n - 1] >= start:
                    n -= 1
                    pending = max(pending, lengths[n]) if lengths[n] < 0 else pending
            else:
                marker, q = _separator(text, p, end, kinds, names, word_end, size)
                pending = max(pending, marker)
        p = q
    return p, n


@kernel
def scan(text, bounds, kinds, names, numbers, seed, starts, lengths, hashes, stops):
    """Find the words of documents that lie one after another in `text`.

    Parameters
    ----------
    text : uint8 array
        Valid UTF-8.
    bounds : int64 array
        Document `d` is `text[bounds[d]:bounds[d + 1]]`.
    kinds, names : arrays
        Of `strod.text.characters.Tables`.
    numbers : bool
        Whether numbers count as words.
    seed : uint64
        Of the hashes.
    starts, lengths : int32 arrays
        Filled with the entries; as long as `text` is always enough.
    hashes : uint32 array
        Filled with a hash of each word.
    stops : int64 array
        Filled with the number of entries up to the end of each document.

    Returns
    -------
    int
        The number of entries.
    """
    n = np.int64(0)
    for d in range(stops.size):
        begin, end = bounds[d], bounds[d + 1]
        found = stretch(
            text, begin, end, True, kinds, names, numbers, seed, starts, lengths, hashes, n
        )
        n = stops[d] = found[1]
    return n


@kernel
def hash_spans(text, starts, lengths, seed, hashes):
    """Hash the spans of `text` as `scan` does."""
    for i in range(starts.size):
        value = _hash(text, np.int64(starts[i]), np.int64(starts[i]) + max(lengths[i], 0), seed)
        hashes[i] = value ^ (value >> _HALF)
