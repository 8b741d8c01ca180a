"""What the user may choose, with defaults and limits."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from strod.engine.protocol import check_engine
from strod.errors import UsageError
from strod.store.schema import CorpusSettings
from strod.text.fold import fold
from strod.text.forms import META_TYPES, MetaField
from strod.text.records import Fields
from strod.text.sources import FORMATS
from strod.text.stopwords import stopwords
from strod.wording import is_blank

__all__ = [
    "CorpusOptions",
    "Tokenizer",
    "check_names",
    "check_text",
    "memory_size",
    "option_value",
    "tokenizer_name",
]

# Sentences of a text, each a sequence of words.
Tokenizer = Callable[[str], Iterable[Sequence[str]]]

LEAST_MEMORY = 512 << 20
BASE_MEMORY = 400 << 20  # the interpreter, the libraries, the compiled code
WORKER_MEMORY = 64 << 20  # a batch of documents under way

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def memory_size(text: str | int) -> int:
    """Bytes in a size such as 512MB, 2GB or 1.5g.

    Examples
    --------
    >>> memory_size("2GB")
    2147483648
    """
    match = _SIZE.fullmatch(str(text))
    if match is None:
        raise UsageError(f"`memory` {text!r} is not a size: write 512MB or 2GB")
    try:
        size = int(float(match[1]) * _UNITS[match[2].lower()])
    except OverflowError:
        raise UsageError(f"`memory` {text!r} is more than there is anywhere") from None
    if size < LEAST_MEMORY:
        raise UsageError(
            f"`memory` {text!r} is too little: at least {LEAST_MEMORY >> 20}MB is needed"
        )
    return size


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class CorpusOptions:
    """How text becomes a corpus.

    Attributes
    ----------
    text_field : tuple of str
        Fields of a record that hold its text.
    id_field : str or None
        Field that holds a document's id; None means ``id`` if there is one.
    meta : tuple of str
        Fields to keep, each ``NAME``, ``NAME:TYPE`` with a type of `META_TYPES`, or
        ``NAME:TYPE:FORM``: dates by ``%d.%m.%Y``, numbers with the decimal mark ``,``, members of
        a list with ``|`` between them.
    format : str
        One of `strod.text.sources.FORMATS`.
    language : str
        Whose stop words are left out of the model.
    stopwords : tuple of str
        More of them.
    min_df : int or None
        Documents a word must be in; None: 1 to 5, growing with the corpus.
    max_df : float
        Largest share of documents a word may be in.
    max_vocabulary : int
        Words kept for the model, the most frequent first.
    numbers : bool
        Whether numbers are words.
    stem : bool
        Whether to count stems.
    tokenizer : str or callable
        ``words``, ``bigrams``, ``module:function``, or a function that
        gives the sentences of a text as sequences of words.
    duplicates : str
        ``keep`` or ``drop`` documents whose text came before.
    follow_links : bool
        Whether links that lead out of a folder of sources are followed.
    strict : bool
        Whether the first bad document ends the build.
    engine : str
        Who does the work: ``local``, threads of this process, or ``processes``.
    workers : int
        How many of them.
    memory : int
        Bytes to stay under.
    """

    text_field: tuple[str, ...] = ("text",)
    id_field: str | None = None
    meta: tuple[str, ...] = ()
    format: str = "auto"
    language: str = "en"
    stopwords: tuple[str, ...] = ()
    min_df: int | None = None
    max_df: float = 1.0
    max_vocabulary: int = 100_000
    numbers: bool = False
    stem: bool = False
    tokenizer: str | Tokenizer = "words"
    duplicates: str = "keep"
    follow_links: bool = False
    strict: bool = False
    engine: str = "local"
    workers: int = field(default_factory=_cores)
    memory: int = 2 << 30

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        _check(bool(self.text_field) and all(self.text_field), "`text_field` needs a name")
        _check(self.format in FORMATS, f"`format` must be one of {', '.join(FORMATS)}")
        _check(self.min_df is None or self.min_df >= 1, "`min_df` must be at least 1")
        _check(0 < self.max_df <= 1, "`max_df` is a share of the documents: above 0, at most 1")
        most = 2**31 - 1
        _check(1 <= self.max_vocabulary <= most, f"`max_vocabulary` must be from 1 to {most:,}")
        _check(self.duplicates in ("keep", "drop"), "`duplicates` must be keep or drop")
        check_engine(self.engine)
        _check(self.workers >= 1, "`workers` must be at least 1")
        _check(self.memory >= LEAST_MEMORY, f"`memory` must be at least {LEAST_MEMORY >> 20}MB")
        types = ", ".join(META_TYPES[1:])
        for entry in self.meta:
            _check(bool(entry) and not entry.isspace(), "`meta` needs the name of a field")
            name, colon, kind = entry.rpartition(":")
            field = MetaField.from_entry(entry)
            _check(not colon or bool(name), f"`meta` {entry!r} has no name before the colon")
            lacks = f"form after {name}" if MetaField.from_entry(name).kind != "auto" else "type"
            _check(
                not colon or bool(kind) or bool(field.form),
                f"`meta` {entry!r} has no {lacks}; types are {types}",
            )
            _check(not field.problem, f"`meta` {entry}: {field.problem}")
        names = [field.name for field in self.meta_types]
        _check(len(set(names)) == len(names), "`meta` names a field twice")

    @property
    def threads(self) -> int:
        """As many of the workers as the memory has room for."""
        return max(1, min(self.workers, (self.memory - BASE_MEMORY) // WORKER_MEMORY))

    @property
    def meta_types(self) -> list[MetaField]:
        """Name, type and form of each metadata field."""
        return [MetaField.from_entry(entry) for entry in self.meta]

    @property
    def stop(self) -> frozenset[str]:
        """Stop words of the language and of the user, folded as words are."""
        own = frozenset(fold(word, self.language) for word in self.stopwords)
        return stopwords(self.language) | own

    @property
    def fields(self) -> Fields:
        """What the readers need to know."""
        return Fields(
            text=self.text_field,
            id=self.id_field or "id",
            id_required=self.id_field is not None,
            meta=tuple(field.name for field in self.meta_types),
        )

    def settings(self, min_df: int) -> CorpusSettings:
        """What the corpus depends on, for the manifest."""
        return CorpusSettings(
            text_field=self.text_field,
            id_field=self.id_field,
            meta=self.meta,
            language=self.language,
            stopwords=tuple(sorted(set(self.stopwords))),
            min_df=min_df,
            max_df=self.max_df,
            max_vocabulary=self.max_vocabulary,
            numbers=self.numbers,
            stem=self.stem,
            tokenizer=tokenizer_name(self.tokenizer),
            duplicates=self.duplicates,
        )


def tokenizer_name(tokenizer: str | Tokenizer) -> str:
    """What a tokenizer is called: by a function's own name, as ``module:function``."""
    if isinstance(tokenizer, str):
        return tokenizer
    named = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
    module = getattr(named, "__module__", None)
    return f"{module}:{named.__qualname__}" if module else named.__qualname__


def _check(good: bool, message: str) -> None:  # noqa: FBT001
    if not good:
        raise UsageError(message)


def check_text(what: str, text: str, longest: int = 10_000) -> None:
    """Refuse what cannot be written: half of a character, no text at all, or far too much."""
    try:
        text.encode()
    except (UnicodeEncodeError, AttributeError):
        raise UsageError(f"{what} is not text: {text!r}") from None
    if len(text) > longest:
        raise UsageError(f"{what} has {len(text):,} characters; give at most {longest:,}")


def check_name(label: str) -> None:
    """Refuse a name of a topic that nobody would see, or that looks like a path."""
    check_text("the name", label, 1000)
    if label and is_blank(label):
        raise UsageError("the name is blank", advice="give another")
    if re.fullmatch(r"(o|\d+)(/\d+)*/?", label.strip(), re.IGNORECASE):
        raise UsageError(f"{label}: a name that looks like a path would mislead; give another")


def check_names(given: Iterable[str], known: Iterable[str], whose: str = "") -> None:
    """Refuse a name that is no option, and say which one may be meant."""
    known = list(known)
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1) or sorted(known)
            raise UsageError(f"{whose}unknown option {name!r}; do you mean {', '.join(close)}?")


def option_value(name: str, value: Any) -> Any:
    """Allow ``memory="2GB"``, and one name or a list for options that are tuples."""
    if name == "memory":
        return memory_size(value)
    if name not in ("text_field", "meta", "stopwords"):
        return value
    if isinstance(value, Mapping):  # {"year": "number"}
        value = [f"{one}:{kind}" for one, kind in value.items()]
    return (value,) if isinstance(value, str) else tuple(value or ())
