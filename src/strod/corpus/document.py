"""One document, to read."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Document"]


class Document(NamedTuple):
    """A document of a corpus.

    Attributes
    ----------
    number : int
        In the corpus, from 0.
    id : str
        As it was given, or its number in the source.
    text : str
        As it was read.
    meta : dict
        The fields that were kept.
    """

    number: int
    id: str
    text: str
    meta: dict[str, Any]
