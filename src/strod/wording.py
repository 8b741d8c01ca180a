"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted", "percent", "sizes"]


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
