"""Whether the metadata that was asked for is there: told while the text is read.

A field that no document has, or a type that hardly any value is of, ends the build before
words are counted and topics are learnt: at once after some thousand documents, where the
files do not even mention the field or enough values were seen, else when all are read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from strod.corpus import metadata
from strod.errors import UsageError
from strod.text.forms import META_TYPES, MetaField, asked_form, likely_forms, likely_marks
from strod.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strod.corpus.intake import Batch
    from strod.text.records import Fields
    from strod.text.sources import Source

__all__ = ["Survey", "shown"]

SAMPLE = 10_000  # documents before the first judgement
VALUES = 100  # that are enough for it
HARDLY = 0.1  # share of the values
_SHOWN = 12
_WRITTEN = {"date": "dates are written 2024-01-31", "number": "numbers are written 12.5"}


@dataclass
class _Field:
    """A field that was asked for; values are looked at until there are enough of them."""

    place: int
    name: str
    kind: str
    form: str
    seen: int = 0
    misfits: list[Any] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # each of them a list of one

    @property
    def enough(self) -> bool:
        return self.seen >= VALUES

    @property
    def fits(self) -> bool:
        return self.kind == "auto" or len(self.misfits) <= (1 - HARDLY) * self.seen

    def look(self, value: Any) -> None:
        what = metadata.kind(value)
        if what == metadata.NULL:
            return
        self.seen += 1
        if self.kind == "list" and not self.form and isinstance(value, str):
            self.texts.append(value)
        wanted = what != metadata.CATEGORY  # a category may be something else to people
        if not (wanted if self.kind == "auto" else metadata.fits(value, self.kind, self.form)):
            self.misfits.append(value)

    @property
    def forms(self) -> list[str]:
        """What to ask for to have the values that do not fit read."""
        kind = "" if self.kind == "auto" else f"{self.kind}:"
        found = [one for one in likely_forms(self.misfits) if one.startswith(kind)]
        found += [f"list:{mark}" for mark in likely_marks(self.texts)]
        return [f"{self.name}:{one}" for one in found]

    @property
    def doubtful(self) -> list[Any]:
        """Values that are kept, but may be meant in another way."""
        return {"auto": self.misfits, "list": self.texts}.get(self.kind, [])

    @property
    def example(self) -> Any:
        """One of them that shows how it may be meant."""
        [mark] = likely_marks(self.texts) or [""]
        return next(one for one in self.doubtful if not mark or mark in one)


class Survey:
    """Looks at metadata while it passes by.

    Parameters
    ----------
    types : list of MetaField
        What was asked for.
    fields : Fields
        Which fields there are.
    parts : list of Source
        What is read.
    """

    def __init__(self, types: list[MetaField], fields: Fields, parts: list[Source]) -> None:
        self._asked = [_Field(place, *one) for place, one in enumerate(types)]
        self._fields, self._parts = fields, parts

    def passing(self, source: Iterable[Batch]) -> Iterator[Batch]:
        """The batches as they come, or `UsageError` if metadata is not what was asked for."""
        documents, judged = 0, False
        for batch in source:
            _look(self._asked, batch)
            documents += len(batch.sizes)
            if documents >= SAMPLE and not judged:
                judged = True
                _judge(self._asked, self._fields, self._parts)
            yield batch
        if documents:
            _judge(self._asked, self._fields, [])

    @property
    def forms(self) -> dict[str, dict[str, Any]]:
        """Fields with values that look like dates, numbers or lists: one, what would read it."""
        return {
            one.name: {"value": shown(one.example), "meta": one.forms}
            for one in self._asked
            if len(one.doubtful) == one.seen and one.forms
        }


def shown(value: Any) -> str:
    """A value in a message."""
    return (repr(value) if isinstance(value, str) else ascii(value))[:60]


def _look(asked: list[_Field], batch: Batch) -> None:
    """Look at values of those fields of which too few were seen."""
    names = [f for f in asked if not f.enough and batch.kinds[f.place] != {metadata.NULL}]
    json, first = b"".join(batch.metas) if names else b"", 0
    for size in batch.meta_sizes:
        names = [one for one in names if not one.enough]
        if not names:
            return
        values = metadata.decode(json[first : first + size])
        first += size
        for one in names:
            one.look(values[one.place])


def _judge(asked: list[_Field], fields: Fields, unread: list[Source]) -> None:
    """Raise if a field is missing or misfits; not yet if some of it may be `unread`."""
    for one in asked:
        is_there = one.seen or one.name in fields.met  # it may be empty everywhere
        if not is_there and not any(part.mentions(one.name) for part in unread):
            raise UsageError(_missing(one, list(fields.met)))
        if not one.fits and (one.enough or not unread):
            raise UsageError(_misfitting(one))


def _missing(one: _Field, names: list[str]) -> str:
    some = [name if name.isprintable() else ascii(name) for name in names[:_SHOWN]]
    there = ", ".join(some) + (", …" if len(names) > _SHOWN else "")
    if problem := asked_form(one.name, names):
        return f"`meta` {one.name}: {problem}"
    base, colon, kind = one.name.rpartition(":")
    if colon and base in names:
        return (
            f"`meta` {one.name}: {kind} is no type; types are {', '.join(META_TYPES[1:])}; "
            f"and no document has a field of that name; there are {there}"
        )
    if not names:
        return f"`meta` {one.name}: the text has no fields; they come with JSON, CSV or Parquet"
    close = get_close_matches(one.name, names, n=1)
    meant = f"; do you mean {close[0]}?" if close else ""
    return f"`meta` {one.name}: no document has this field; there are {there}{meant}"


def _misfitting(one: _Field) -> str:
    fitting = one.seen - len(one.misfits)
    of = f"{fitting} of {counted(one.seen, 'value')} {'is' if fitting == 1 else 'are'} "
    asked = MetaField(one.name, one.kind, one.form).entry
    known = f"`meta` {one.forms[0]} would read it" if one.forms else ""
    how = known or (
        f"give another form than {one.form}" if one.form else _WRITTEN.get(one.kind, "")
    )
    return (
        f"`meta` {asked}: {of}of this type, {shown(one.misfits[0])} is not; {how}, "
        f"or leave out :{asked.removeprefix(one.name + ':')}"
    )
