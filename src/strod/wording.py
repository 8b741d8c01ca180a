"""Numbers and texts as they are shown."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "begins_with",
    "counted",
    "escaped",
    "harmless",
    "is_blank",
    "json_text",
    "line",
    "listed",
    "numbered",
    "percent",
    "plain",
    "referenced",
    "sizes",
]

# What XML 1.0 cannot hold, not even escaped, or should not; a browser does not show it either.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What tells a reader how to show text instead of being text: marks of direction, line separators.
_MARKS = r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb"
_MARK = re.compile(rf"[\r{_MARKS}]")
_BEYOND_ASCII = re.compile(rf"[\x7f-\x9f{_MARKS}]")
_CONTROL = re.compile(rf"[\x00-\x1f\x7f-\x9f{_MARKS}]")
_PICTURES, _DELETE = 0x2400, "\x7f"  # Unicode has pictures of the control characters of ASCII


def counted(count: int, noun: str) -> str:
    """1 document, 2,000 documents."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """The first of some names.

    Examples
    --------
    >>> listed("abcd"), listed("ab")
    ('a, b, c, …', 'a, b')
    """
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def begins_with(texts: Sequence[str], name: str) -> bool:
    """Whether a list shows a topic's name already: most automatic ones are its first phrases.

    Examples
    --------
    >>> begins_with(["a", "b", "c"], "a, b"), begins_with(["a", "b", "c"], "a, c")
    (True, False)
    """
    return not name or f"{', '.join(texts)}, ".startswith(f"{name}, ")


def sizes(documents: int, words: int, topics: int) -> str:
    """1 document, 20 words, 3 topics."""
    parts = ((documents, "document"), (words, "word"), (topics, "topic"))
    return ", ".join(counted(*part) for part in parts)


def percent(share: float) -> str:
    """12.3%, but what is there is not 0.0%."""
    return "<0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}%"


def is_blank(text: str) -> bool:
    """Whether nobody sees anything of a text: spaces, marks without width, control characters."""
    return all(unicodedata.category(one)[0] in "CZ" for one in text)


def plain(text: str) -> str:
    """The text without characters that markup cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def referenced(markup: str) -> str:
    """Markup that gives marks of direction, line separators and returns by their numbers."""
    return _MARK.sub(lambda found: f"&#x{ord(found[0]):x};", markup)


def line(text: str) -> str:
    """The text as one line that no terminal obeys: pictures in place of control characters.

    As long as it was, so that what is known of its characters by their places stays true.

    Examples
    --------
    >>> line("two" + chr(10) + "lines")
    'two␊lines'
    """
    return _CONTROL.sub(_picture, text)


def harmless(text: str) -> str:
    """As `line`, of text that has several lines."""
    return "\n".join(map(line, text.split("\n")))


def _picture(found: re.Match[str]) -> str:
    if found[0] < " ":
        return chr(_PICTURES + ord(found[0]))
    return chr(_PICTURES + 0x21) if found[0] == _DELETE else "\ufffd"


def json_text(content: Any) -> str:
    """JSON to read, that no terminal obeys."""
    return escaped(json.dumps(content, ensure_ascii=False, indent=1))


def escaped(text: str) -> str:
    """JSON with the numbers of control characters and marks that it could hold as they are."""
    return _BEYOND_ASCII.sub(_number, text)


def numbered(text: str) -> str:
    r"""The text with the number of each control character and mark: ``\u000a``."""
    return _CONTROL.sub(_number, text)


def _number(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
