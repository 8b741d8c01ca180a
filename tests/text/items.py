"""What readers give, one document at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strod.text.blocks import Block
from strod.text.records import Reject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strod.text.formats import Item
    from strod.text.records import Document


def unpacked(items: Iterable[Item]) -> Iterator[Document | Reject]:
    """Take blocks apart into the documents they stand for."""
    for item in items:
        if isinstance(item, Block):
            yield from item.documents()
        else:
            yield item


def brief(items: Iterable[Item]) -> list[tuple[int, str]]:
    """Line and text, or line and reason."""
    return [
        (item.line, item.reason if isinstance(item, Reject) else item.text.decode())
        for item in unpacked(items)
    ]
