"""A record of a source becomes a document, or is rejected with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LONGEST_DOCUMENT", "Document", "Fields", "Reject", "document", "from_record"]

LONGEST_DOCUMENT = 32 << 20  # bytes
LONGEST_ID = 1000  # bytes


class Document(NamedTuple):
    """A document on its way into the corpus."""

    text: bytes  # valid UTF-8 without NUL
    id: str | None
    meta: tuple[Any, ...]
    line: int


class Reject(NamedTuple):
    """A document that cannot be used, and why."""

    reason: str
    line: int
    detail: str = ""


@dataclass(frozen=True)
class Fields:
    """Which fields of a record are what.

    Attributes
    ----------
    text : tuple of str
        Joined as separate sentences, in this order.
    id : str
        Documents without it are numbered, unless `id_required`.
    id_required : bool
        Set when the user named the field.
    meta : tuple of str
        Kept with the document.
    """

    text: tuple[str, ...] = ("text",)
    id: str = "id"
    id_required: bool = False
    meta: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """Every field that is looked at."""
        return (*self.text, self.id, *self.meta)


def document(
    text: str | bytes, line: int, identifier: str | None = None, meta: tuple[Any, ...] = ()
) -> Document | Reject:
    """Check one text: UTF-8, not empty, no NUL, not too long."""
    try:
        if isinstance(text, str):
            text = text.encode()
        else:
            text.decode()
    except UnicodeDecodeError as error:
        return Reject("broken UTF-8", line, f"byte {error.start}")
    except UnicodeEncodeError as error:
        # Bytes that were not UTF-8 come as U+DC80 to U+DCFF, see formats.py.
        broken = "\udc80" <= error.object[error.start] <= "\udcff"
        return Reject("broken UTF-8" if broken else "lone surrogate", line)
    if b"\0" in text:
        return Reject("NUL byte in the text", line)
    if not text or text.isspace():
        return Reject("empty document", line)
    if len(text) > LONGEST_DOCUMENT:
        return Reject("document too long", line, f"{len(text):,} bytes")
    return Document(text, identifier, meta, line)


def _identifier(record: Mapping[str, Any], fields: Fields) -> str | None:
    """The record's id as a string; None if it has none. Raises ValueError if it is no id."""
    value = record.get(fields.id)
    if value is None and not fields.id_required:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError("no id" if value is None or value == "" else "id is not a string")
    value = str(value)
    if len(value.encode(errors="replace")) > LONGEST_ID:
        raise ValueError("id too long")
    if "\0" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise ValueError("broken id")
    return value


def from_record(record: Mapping[str, Any], line: int, fields: Fields) -> Document | Reject:
    """Take text, id and metadata out of a record."""
    parts = []
    for name in fields.text:
        value = record.get(name)
        if isinstance(value, str):
            parts.append(value)
        elif value is not None:
            return Reject("text is not a string", line, f"field {name!r}")
    if not parts:
        return Reject("no text field", line, f"{fields.text[0]!r} is not among {_names(record)}")
    try:
        identifier = _identifier(record, fields)
    except ValueError as error:
        return Reject(str(error), line, f"field {fields.id!r}")
    meta = tuple(record.get(name) for name in fields.meta)
    # The empty line makes each field a sentence of its own.
    return document(parts[0] if len(parts) == 1 else "\n\n".join(parts), line, identifier, meta)


def _names(record: Mapping[str, Any], most: int = 8) -> str:
    names = [str(name)[:40] for name in record]
    return ", ".join(names[:most]) + (", …" if len(names) > most else "") or "no fields"
