"""Keyword arguments of the public functions, for editors and type checkers.

What each means stands in `strod.options.CorpusOptions`, `strod.phrases.options.PhraseOptions`,
`strod.model.options.TreeOptions`, and in the function that takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from strod.options import Tokenizer
    from strod.progress import Progress
    from strod.store.change import Prepared

__all__ = ["AddOptions", "AssignOptions", "BuildOptions", "ExportOptions", "VerbOptions"]


class _Reading(TypedDict, total=False):
    """How sources are read."""

    text_field: str | Sequence[str]
    id_field: str | None
    format: str
    tokenizer: str | Tokenizer
    follow_links: bool
    strict: bool
    engine: str
    workers: int
    memory: str | int


class BuildOptions(_Reading, total=False):
    """How text becomes a corpus, which phrases are looked for, and how the tree grows."""

    meta: str | Sequence[str] | Mapping[str, str]
    language: str
    stopwords: str | Sequence[str]
    min_df: int | None
    max_df: float
    max_vocabulary: int
    numbers: bool
    stem: bool
    duplicates: Literal["keep", "drop"]
    phrases: bool
    phrase_min_count: int | Literal["auto"]
    phrase_threshold: float | Literal["auto"]
    phrase_length: int
    children: int | str | Sequence[int]
    height: int | None
    topics: int
    least_documents: int
    width: int
    alpha0: float | Literal["auto"]
    seed: int
    sample: int | Literal["auto", "all"]
    method: str
    lookahead: bool
    polish: int
    topical: Literal["document", "word"]
    thin: float
    clip: int
    eta: float
    iterations: int | None
    method_seconds: float


class VerbOptions(TypedDict, total=False):
    """How a verb is carried out.

    `note` is a line for the history; `dry_run` finds out only what would change, and `prepared`
    keeps what it found, so that it can be applied later. `engine` and `workers` do the work, as
    for `strod.build`; `progress` is told how far it is.
    """

    note: str
    dry_run: bool
    engine: str
    workers: int | None
    progress: Progress | None
    prepared: Prepared | None


class AddOptions(_Reading, total=False):
    """How documents are added; `replace` takes out those that have the same ids."""

    replace: bool
    note: str
    dry_run: bool
    progress: Progress | None


class AssignOptions(_Reading, total=False):
    """How documents are placed; `tell` is told how many have no answer, and why.

    `least` leaves out smaller shares, `top` all but so many of each level.
    """

    least: float
    top: int

    progress: Progress | None
    tell: Callable[[str], None] | None


class ExportOptions(TypedDict, total=False):
    """What an export holds."""

    phrases: int | None
    documents: int | None
    base: str | None
    overwrite: bool
    progress: Progress | None
