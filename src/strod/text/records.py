"""A record of a source becomes a document, or is rejected with a reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["LONGEST_DOCUMENT", "Document", "Fields", "Reject", "document", "from_record"]

LONGEST_DOCUMENT = 16 << 20  # bytes
LONGEST_ID = 1000  # bytes
MOST_NAMES, LONGEST_NAME = 200, 200


class Document(NamedTuple):
    """A document on its way into the corpus."""

    text: bytes  # valid UTF-8 without NUL
    id: bytes | None
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
    seen : set of str
        Of several text fields, those that some document had.
    met : dict of None
        Names of fields that records have, up to `MOST_NAMES`; kept if there is `meta`.
    blank : bool
        Whether an empty text is a document, too: a line that keeps its place.
    """

    text: tuple[str, ...] = ("text",)
    id: str = "id"
    id_required: bool = False
    meta: tuple[str, ...] = ()
    seen: set[str] = field(default_factory=set, compare=False)
    met: dict[str, None] = field(default_factory=dict, compare=False)
    blank: bool = False

    @property
    def used(self) -> tuple[str, ...]:
        """Every field that is looked at."""
        return (*self.text, self.id, *self.meta)

    def meet(self, names: Iterable[str]) -> None:
        """A record has these fields."""
        if self.meta and len(self.met) < MOST_NAMES:
            self.met.update(dict.fromkeys(str(name)[:LONGEST_NAME] for name in names))


def document(
    text: str | bytes,
    line: int,
    identifier: bytes | None = None,
    meta: tuple[Any, ...] = (),
    *,
    blank: bool = False,
) -> Document | Reject:
    """Check one text: UTF-8, not empty unless it may be `blank`, no NUL, not too long."""
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
    if not blank and (not text or text.isspace()):
        return Reject("empty document", line)
    if len(text) > LONGEST_DOCUMENT:
        return Reject("document too long", line, f"{len(text):,} bytes")
    return Document(text, identifier, meta, line)


def _identifier(value: Any) -> bytes | str:
    """The id in UTF-8, or what is wrong with it."""
    if value is None or value == "":
        return "no id"
    if isinstance(value, bool) or not isinstance(value, str | bytes | Integral):
        return "id is not a string"
    try:
        identifier = value if isinstance(value, bytes) else str(value).encode()
        identifier.decode()
    except UnicodeError:
        return "broken id"
    if b"\0" in identifier:
        return "broken id"
    return identifier if len(identifier) <= LONGEST_ID else "id too long"


def _joined(record: Mapping[str, Any], line: int, fields: Fields) -> str | Reject:
    """The text fields of a record as one text."""
    parts = []
    for name in fields.text:
        value = record.get(name)
        if isinstance(value, bytes):
            try:
                value = value.decode()
            except UnicodeDecodeError as error:
                return Reject("broken UTF-8", line, f"byte {error.start}")
        if isinstance(value, str):
            parts.append(value)
        elif value is not None:
            return Reject("text is not a string", line, f"field {name!r}")
        if value is not None and len(fields.text) > 1:
            fields.seen.add(name)
    if not parts:
        name = fields.text[0]
        missing = "is null" if name in record else f"is not among {_names(record)}"
        return Reject("no text field", line, f"{name!r} {missing}")
    return "\n\n".join(parts)  # the empty line makes each field a sentence of its own


def from_record(record: Mapping[str, Any], line: int, fields: Fields) -> Document | Reject:
    """Take text, id and metadata out of a record."""
    fields.meet(record)
    text = _joined(record, line, fields)
    if isinstance(text, Reject):
        return text
    meta = tuple([record.get(name) for name in fields.meta]) if fields.meta else ()
    value = record.get(fields.id)
    if value is None and not fields.id_required:
        return document(text, line, None, meta, blank=fields.blank)
    identifier = _identifier(value)
    if isinstance(identifier, str):
        return Reject(identifier, line, f"field {fields.id!r}")
    return document(text, line, identifier, meta, blank=fields.blank)


def _names(record: Mapping[str, Any], most: int = 8) -> str:
    names = [str(name)[:40] for name in record]
    return ", ".join(names[:most]) + (", …" if len(names) > most else "") or "no fields"
