"""What each character is to the tokenizer: a class per code point.

Both implementations of the tokenizer, the definition in `reference.py` and the
kernel in `scan.py`, take their classes from the table made here.
"""

from __future__ import annotations

import string
import sys
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import regex

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ACCENT",
    "ALNUM",
    "ALPHA",
    "APOSTROPHE",
    "CLAUSE",
    "CLOSER",
    "DECIMAL",
    "DIGIT",
    "FLAGS",
    "HOLE",
    "HOST",
    "HYPHEN",
    "JOIN",
    "LETTER",
    "LOCAL",
    "LOWER",
    "MARK",
    "MORE_WORD",
    "NAME",
    "PAGES",
    "PRINTABLE",
    "SENTENCE",
    "SMALL",
    "SPACE",
    "STOP",
    "SYMBOL",
    "TRAIL",
    "UPPER",
    "WHITE",
    "Tables",
    "name_hash",
    "tables",
]

# What stands between two words of a stream. The strongest of several is the largest.
SENTENCE, CLAUSE, HOLE = -1, -2, -3

# Character classes.
SYMBOL = 0  # ends a clause: commas, brackets, operators
SPACE = 1
LETTER = 2  # any letter that is not lower case
LOWER = 3
DIGIT = 4
MARK = 5  # inside a word only: combining marks, soft hyphen, zero-width joiners
STOP = 6  # ends a sentence wherever it stands
HYPHEN = 7  # joins two words when it stands directly between them
APOSTROPHE = 8  # belongs to a word when it stands between two letters
JOIN = 9  # separates words without ending a clause: _ & * ~ { } #

_PATTERNS = {
    LETTER: r"\p{L}",
    LOWER: r"\p{Ll}",
    DIGIT: r"\p{N}",
    MARK: r"[\p{M}\u00ad\u200c\u200d\u2060]",
    SPACE: r"[\p{White_Space}\u200b\ufeff]",
    STOP: "[!?\u2026\u203c\u2047-\u2049\u3002\uff01\uff0e\uff1f\u061f\u06d4\u0964\u0965]",
    HYPHEN: "[-\u2010\u2011\u2013]",
    APOSTROPHE: "['\u2019\uff07]",
    JOIN: "[_&*~{}#`\u2018]",
}

PAGES = (sys.maxunicode + 1) // 256

# What an ASCII character may be part of.
WHITE, UPPER, SMALL, DECIMAL, PRINTABLE, LOCAL, HOST, TRAIL, CLOSER, ACCENT, NAME = (
    np.uint16(1 << bit)
    for bit in range(11)  # typed, or each value would compile its own helper
)
MORE_WORD = np.uint16(1 << 11)
ALPHA = UPPER | SMALL
ALNUM = ALPHA | DECIMAL


def _flags() -> NDArray[np.uint16]:
    alphanumeric = string.ascii_letters + string.digits
    members = {
        WHITE: " \t\n\v\f\r",
        UPPER: string.ascii_uppercase,
        SMALL: string.ascii_lowercase,
        DECIMAL: string.digits,
        PRINTABLE: map(chr, range(33, 127)),
        LOCAL: alphanumeric + "._%+-",  # of a mail address, before the @
        HOST: alphanumeric + "._-",
        TRAIL: ".,;:!?)'",  # punctuation after an address, not part of it
        CLOSER: ")]}\"'",  # may stand between a full stop and the space after it
        ACCENT: "\"'`^~=.",
        NAME: alphanumeric + ":._-",  # of a tag
        MORE_WORD: "'\\{",  # may carry on a word: apostrophes and LaTeX accents
    }
    table = np.zeros(256, dtype=np.uint16)
    for flag, characters in members.items():
        table[[ord(c) for c in characters]] |= flag
    return table


FLAGS = _flags()

# Markup that may stand inside a sentence; any other tag ends it.
INLINE_TAGS = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "bold", "cite", "code", "del", "dfn", "em"}
    | {"font", "i", "ins", "italic", "kbd", "mark", "mi", "mn", "mo", "q", "s", "samp", "small"}
    | {"span", "strike", "strong", "sub", "sup", "tt", "u", "var"}
)

# LaTeX commands whose argument is a name, an address or a measure, not text.
REFERENCE_COMMANDS = frozenset(
    {"autocite", "autoref", "begin", "bibliography", "bibliographystyle", "cite", "citealp"}
    | {"citealt", "citeauthor", "citep", "citet", "citeyear", "color", "cref", "Cref", "end"}
    | {"documentclass", "eqref", "footnotemark", "href", "hspace", "include", "includegraphics"}
    | {"input", "label", "newcommand", "pageref", "parencite", "ref", "textcite", "textcolor"}
    | {"url", "usepackage", "vspace"}
)


class Tables(NamedTuple):
    r"""Look-up tables of the scanner.

    Attributes
    ----------
    kinds : uint16 array
        Pages of 256 classes, each different page once and page 0 first, so that the class of
        a Latin-1 character `c` is ``kinds[c]``; then, from `PAGES` entries before the end,
        where the page of ``c >> 8`` begins.
    names : uint64 array
        Hashes of ``<tag`` and ``\command`` for the names above.
    """

    kinds: NDArray[np.uint16]
    names: NDArray[np.uint64]

    def kind(self, character: str) -> int:
        """Class of a character."""
        code = ord(character)
        return int(
            self.kinds[int(self.kinds[self.kinds.size - PAGES + (code >> 8)]) + (code & 255)]
        )


def name_hash(name: bytes) -> int:
    """FNV-1a of a short name, as the scanner computes it."""
    value = 0xCBF29CE484222325
    for byte in name:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def _class_of_every_code_point() -> NDArray[np.uint8]:
    # Planes 4 to 13 and the private planes hold no letter, digit or mark.
    points = np.r_[0:0xD800, 0xE000:0x40000, 0xE0000:0xE0200].astype("<u4")
    every = points.tobytes().decode("utf-32-le")
    result = np.zeros(sys.maxunicode + 1, dtype=np.uint8)
    for kind, pattern in _PATTERNS.items():
        for match in regex.finditer(f"{pattern}+", every):
            result[points[match.start() : match.end()]] = kind
    return result


@cache
def tables() -> Tables:
    """Build the tables once per process (some hundredths of a second)."""
    classes = _class_of_every_code_point().reshape(PAGES, 256)
    begins: dict[bytes, int] = {}
    pages = [begins.setdefault(page.tobytes(), 256 * len(begins)) for page in classes]
    kinds = np.frombuffer(b"".join(begins), dtype=np.uint8)
    names = [f"<{name}" for name in INLINE_TAGS] + [f"\\{name}" for name in REFERENCE_COMMANDS]
    return Tables(
        np.concatenate([kinds, pages]).astype(np.uint16),
        np.array(sorted(name_hash(name.encode()) for name in names), dtype=np.uint64),
    )
