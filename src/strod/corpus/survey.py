"""Whether the metadata that was asked for is there: told while the text is read.

A field that no document has, or a type that hardly any value is of, ends the build before
words are counted and topics are learnt: at once after some thousand documents, where the
files do not even mention the field or enough values were seen, else when all are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from strod.corpus import metadata
from strod.errors import UsageError
from strod.options import META_TYPES
from strod.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strod.corpus.intake import Batch
    from strod.text.records import Fields
    from strod.text.sources import Source

__all__ = ["surveyed"]

SAMPLE = 10_000  # documents before the first judgement
VALUES = 100  # that are enough for it
HARDLY = 0.1  # share of the values
_SHOWN = 12
_WRITTEN = {"date": "dates are written 2024-01-31", "number": "numbers are written 12.5"}


@dataclass
class _Field:
    """A field that was asked for; `seen` and `fitting` count values until there are enough."""

    place: int
    name: str
    kind: str
    seen: int = 0
    fitting: int = 0
    misfit: Any = None

    @property
    def enough(self) -> bool:
        return self.seen > 0 if self.kind == "auto" else self.seen >= VALUES

    @property
    def fits(self) -> bool:
        return self.kind == "auto" or self.fitting >= HARDLY * self.seen

    def look(self, value: Any) -> None:
        if metadata.kind(value) == metadata.NULL:
            return
        self.seen += 1
        if self.kind == "auto" or metadata.fits(value, self.kind):
            self.fitting += 1
        elif self.misfit is None:
            self.misfit = value


def surveyed(
    source: Iterable[Batch], types: list[tuple[str, str]], fields: Fields, parts: list[Source]
) -> Iterator[Batch]:
    """The batches as they come, or `UsageError` if their metadata is not what was asked for."""
    asked = [_Field(place, *one) for place, one in enumerate(types)]
    documents, judged = 0, False
    for batch in source:
        for field in asked:
            for meta in batch.metas:
                if field.enough:
                    break
                field.look(meta[field.place])
        documents += len(batch.sizes)
        if documents >= SAMPLE and not judged:
            judged = True
            _judge(asked, fields, parts)
        yield batch
    if documents:
        _judge(asked, fields, [])


def _judge(asked: list[_Field], fields: Fields, unread: list[Source]) -> None:
    """Raise if a field is missing or misfits; not yet if some of it may be `unread`."""
    for field in asked:
        is_there = field.seen or field.name in fields.met  # it may be empty everywhere
        if not is_there and not any(part.mentions(field.name) for part in unread):
            raise UsageError(_missing(field, list(fields.met)))
        if not field.fits and (field.enough or not unread):
            raise UsageError(_misfitting(field))


def _missing(field: _Field, names: list[str]) -> str:
    shown = [name if name.isprintable() else ascii(name) for name in names[:_SHOWN]]
    there = ", ".join(shown) + (", …" if len(names) > _SHOWN else "")
    base, colon, kind = field.name.rpartition(":")
    if colon and base in names:
        return (
            f"`meta` {field.name}: {kind} is no type; types are {', '.join(META_TYPES[1:])}; "
            f"and no document has a field of that name; there are {there}"
        )
    if not names:
        return f"`meta` {field.name}: the text has no fields; they come with JSON, CSV or Parquet"
    close = get_close_matches(field.name, names, n=1)
    meant = f"; do you mean {close[0]}?" if close else ""
    return f"`meta` {field.name}: no document has this field; there are {there}{meant}"


def _misfitting(field: _Field) -> str:
    example = ascii(field.misfit) if not isinstance(field.misfit, str) else repr(field.misfit)
    of = f"{field.fitting} of {counted(field.seen, 'value')}"
    how = _WRITTEN.get(field.kind, "")
    return (
        f"`meta` {field.name}:{field.kind}: {of} {'is' if field.fitting == 1 else 'are'} of this "
        f"type, {example[:60]} is not; {how}, or leave out :{field.kind}"
    )
