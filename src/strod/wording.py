"""Numbers and texts as they are shown."""

from __future__ import annotations

import re

__all__ = ["counted", "percent", "plain", "sizes"]

# What XML 1.0 cannot hold, not even escaped; a browser does not show it either.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def counted(count: int, noun: str) -> str:
    """1 document, 2,000 documents."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def sizes(documents: int, words: int, topics: int) -> str:
    """1 document, 20 words, 3 topics."""
    parts = ((documents, "document"), (words, "word"), (topics, "topic"))
    return ", ".join(counted(*part) for part in parts)


def percent(share: float) -> str:
    """12.3%, but what is there is not 0.0%."""
    return "<0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}%"  # noqa: PLR2004 - half of it


def plain(text: str) -> str:
    """The text without characters that markup cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)
