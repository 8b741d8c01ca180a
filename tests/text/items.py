"""What readers give, one document at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strod.text.blocks import Block
from strod.text.records import Document, Reject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strod.text.formats import Item


def unpacked(items: Iterable[Item]) -> Iterator[Document | Reject]:
    """Take blocks apart into the documents they stand for."""
    for item in items:
        if not isinstance(item, Block):
            yield item
            continue
        for i in range(len(item)):
            text = bytes(item.text[item.offsets[i] : item.offsets[i + 1]])
            yield Document(text, item.ids[i] if item.ids else None, (), item.line + i)


def brief(items: Iterable[Item]) -> list[tuple[int, str]]:
    """Line and text, or line and reason."""
    return [
        (item.line, item.reason if isinstance(item, Reject) else item.text.decode())
        for item in unpacked(items)
    ]
