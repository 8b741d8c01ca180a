"""What the files of a workspace say, field by field: types, ranges and the form of names.

A record is read with `parse`, which refuses whatever does not fit, and written with `as_json`.
Fields that this version does not know are ignored; fields with a default may be missing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from strod.errors import DamagedError, UsageError
from strod.values.topic import Component  # noqa: TC001 - a type of fields

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ChangeRecord",
    "CorpusRecord",
    "CorpusSettings",
    "FileRecord",
    "Last",
    "Manifest",
    "PhrasesRecord",
    "Revision",
    "SegmentRecord",
    "SplitRecord",
    "TopicRecord",
    "TreeRecord",
    "TreeSettings",
    "Undone",
    "UsualRecord",
    "as_json",
    "parse",
    "replace",
]

LARGEST = 2**53  # what every reader of JSON can hold
DEEPEST = 64  # levels of a tree
MOST = 1 << 20  # topics, children, revisions, shards

_TOPIC = r"(?:o|[0-9a-f]{12})"

Count = Annotated[int, Meta(ge=0, le=LARGEST)]
Small = Annotated[int, Meta(ge=0, le=MOST)]
Number = Annotated[float, Meta(ge=-1e300, le=1e300)]  # finite
Amount = Annotated[float, Meta(ge=0, le=1e300)]
Share = Annotated[float, Meta(ge=0, le=1 + 1e-6)]
Weight = Annotated[float, Meta(ge=0, lt=2)]  # with what was grown, on top of the rest
Text = Annotated[str, Meta(max_length=1 << 16)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
TopicId = Annotated[str, Meta(pattern=rf"^{_TOPIC}\Z")]
SplitName = Annotated[str, Meta(pattern=rf"^{_TOPIC}(?:-[1-9][0-9]{{0,5}})?\Z")]
MetaType = Annotated[str, Meta(pattern=r"^(?:date|number|category|list)\Z")]
SegmentName = Annotated[str, Meta(pattern=r"^[0-9]{4,9}\Z")]
RevisionNumber = Annotated[int, Meta(ge=1, le=MOST)]
WordsFile = Annotated[str, Meta(pattern=rf"^{_TOPIC}-[0-9a-f]{{12}}\.npy\Z")]
FileName = Annotated[
    str,
    Meta(
        pattern=r"^(?:corpus/(?:lexicon\.parquet|pairs\.npy|pair_times\.npy)"
        r"|corpus/[0-9]{4,9}/(?:(?:tokens|token_offsets|indptr|indices|counts)\.npy"
        r"|documents\.parquet|texts\.arrow)"
        r"|phrases/forms\.parquet|phrases/[0-9]{4,9}/(?:indptr|indices|counts)\.npy"
        rf"|tree/revisions/[0-9]{{5,7}}\.json|tree/words/{_TOPIC}-[0-9a-f]{{12}}\.npy"
        rf"|tree/splits/{_TOPIC}(?:-[1-9][0-9]{{0,5}})?/(?:fine\.npy|split\.json"
        r"|[0-9]{4,9}/(?:indptr|indices|values)\.npy))\Z"
    ),
]


class _Record(Struct, frozen=True, kw_only=True):
    """A part of a file."""


class FileRecord(_Record, frozen=True, kw_only=True):
    """A file as it was written."""

    bytes: Count
    sha256: Digest


class SegmentRecord(_Record, frozen=True, kw_only=True):
    """What one build or one addition wrote: where its shards and its blocks of texts begin."""

    name: SegmentName
    boundaries: Annotated[tuple[Count, ...], Meta(min_length=1, max_length=MOST)]
    text_blocks: Annotated[tuple[Count, ...], Meta(min_length=1, max_length=MOST)]
    added: bool = False

    def __post_init__(self) -> None:
        """Refuse what does not rise from 0."""
        for bounds in (self.boundaries, self.text_blocks):
            if bounds[0] or any(a > b for a, b in pairwise(bounds)):
                raise ValueError("boundaries must rise from 0")
        if self.documents and any(a == b for a, b in pairwise(self.boundaries)):
            raise ValueError("a shard must have documents")

    @property
    def documents(self) -> int:
        """How many there are."""
        return self.boundaries[-1]


class CorpusSettings(_Record, frozen=True, kw_only=True):
    """How text became a corpus."""

    text_field: Annotated[tuple[Text, ...], Meta(min_length=1)] = ("text",)
    id_field: Text | None = None
    meta: tuple[Text, ...] = ()
    language: Annotated[str, Meta(pattern=r"^[A-Za-z0-9-]{1,35}\Z")] = "en"
    stopwords: tuple[Text, ...] = ()
    min_df: Annotated[int, Meta(ge=1, le=LARGEST)] = 1
    max_df: Share = 1.0
    max_vocabulary: Annotated[int, Meta(ge=1, le=LARGEST)] = 100_000
    numbers: bool = False
    stem: bool = False
    tokenizer: Text = "words"
    duplicates: Annotated[str, Meta(pattern=r"^(?:keep|drop)\Z")] = "keep"


class CorpusRecord(_Record, frozen=True, kw_only=True):
    """A corpus: sizes, metadata fields with their types, segments."""

    documents: Count
    tokens: Count
    vocabulary: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    lexicon: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    meta: dict[Text, MetaType] = {}
    segments: Annotated[tuple[SegmentRecord, ...], Meta(max_length=MOST)]
    settings: CorpusSettings = CorpusSettings()
    paired: Share = 0.0
    sha256: Digest = "0" * 64

    def __post_init__(self) -> None:
        """Refuse segments that do not make up the corpus."""
        if sum(segment.documents for segment in self.segments) != self.documents:
            raise ValueError("segments must make up the documents")
        if len({segment.name for segment in self.segments}) != len(self.segments):
            raise ValueError("segments must have names of their own")


class PhrasesRecord(_Record, frozen=True, kw_only=True):
    """What was looked for and found."""

    settings: dict[str, Any] = {}
    phrases: Count = 0
    units: Count = 0
    sha256: Digest = "0" * 64


class TreeSettings(_Record, frozen=True, kw_only=True):
    """How a tree was grown; `strod.model.options.TreeOptions` has the meaning and the limits."""

    children: (
        Annotated[int, Meta(ge=2, le=1000)]
        | Literal["auto"]
        | Annotated[tuple[Annotated[int, Meta(ge=2, le=1000)], ...], Meta(min_length=1)]
    ) = "auto"
    topics: Annotated[int, Meta(ge=0, le=100_000)] = 0
    least_documents: Annotated[int, Meta(ge=0, le=2**62)] = 0
    height: Annotated[int, Meta(ge=0, le=DEEPEST)] = 2
    width: Annotated[int, Meta(ge=2, le=1000)] = 10
    alpha0: Annotated[float, Meta(ge=1e-6, le=1e6)] | Literal["auto"] = 1.0
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0
    sample: Annotated[int, Meta(ge=1, le=2**62)] | Literal["auto", "all"] = "auto"
    method: Annotated[str, Meta(pattern=r"^[a-z0-9-]{1,40}\Z")] = "strod"
    lookahead: bool = True
    polish: Annotated[int, Meta(ge=0, le=1000)] = 5
    topical: Literal["document", "word"] = "document"
    thin: Share = 5e-4
    clip: Annotated[int, Meta(ge=0, le=2**31)] = 3
    eta: Share = 0.6
    iterations: Annotated[int, Meta(ge=1, le=10**9)] | None = None
    method_seconds: Annotated[float, Meta(ge=0, le=10**9)] = 0.0


class Last(_Record, frozen=True, kw_only=True):
    """The highest numbers that were ever given."""

    revision: Small
    segment: Annotated[int, Meta(ge=0, le=10**9 - 1)]


class TreeRecord(_Record, frozen=True, kw_only=True):
    """Which revisions there are, and which corpus belongs to each."""

    topics: Annotated[int, Meta(ge=1, le=MOST)]
    settings: TreeSettings = TreeSettings()
    history: Annotated[tuple[RevisionNumber, ...], Meta(min_length=1, max_length=MOST)]
    undone: Annotated[tuple[RevisionNumber, ...], Meta(max_length=MOST)] = ()
    corpora: dict[Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,6}\Z")], CorpusRecord]
    last: Last
    sha256: Digest = "0" * 64

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be."""
        there = [*self.history, *self.undone]
        if len(set(there)) != len(there) or list(self.history) != sorted(self.history):
            raise ValueError("every revision must come once, in order")
        if max(there) > self.last.revision:
            raise ValueError("the last revision must be the highest")
        if not any(int(number) <= self.history[0] for number in self.corpora):
            raise ValueError("the first revision must have a corpus")
        segments = (int(one.name) for about in self.corpora.values() for one in about.segments)
        if max(segments, default=0) > self.last.segment:
            raise ValueError("the last segment must be the highest")


class Manifest(_Record, frozen=True, kw_only=True):
    """What counts: the corpus as it is now, the tree and its history, a checksum for each file."""

    format: str
    version: int
    writer: Annotated[str, Meta(max_length=100)] = ""
    corpus: CorpusRecord
    phrases: PhrasesRecord
    tree: TreeRecord
    parts: dict[FileName, FileRecord]


class Undone(_Record, frozen=True, kw_only=True):
    """A change that was taken back: what it was, when it was made and why."""

    revision: RevisionNumber
    what: Text
    when: Annotated[str, Meta(max_length=40)] = ""
    note: Text = ""


class ChangeRecord(_Record, frozen=True, kw_only=True):
    """What was changed in a revision, when and why, and what had been taken back before."""

    what: Text
    when: Annotated[str, Meta(max_length=40)] = ""
    note: Text = ""
    undone: Annotated[tuple[Undone, ...], Meta(max_length=MOST)] = ()


class TopicRecord(_Record, frozen=True, kw_only=True):
    """A topic of a revision.

    `number` is its place in the path, `last_number` the highest that a child of it ever had;
    `rest` is what is in none of its children, `surplus` how much of its weight is in that of no
    topic above.
    """

    id: TopicId
    parent: TopicId | None
    level: Annotated[int, Meta(ge=0, le=DEEPEST)]
    number: Small
    last_number: Small
    components: tuple[Component, ...]
    words: WordsFile
    weight: Weight
    alpha: Amount
    alpha0: Amount
    documents: Count
    children: Annotated[tuple[TopicId, ...], Meta(max_length=MOST)] = ()
    reason: Text = ""
    top_words: tuple[Count, ...] = ()
    phrases: tuple[tuple[Text, Number], ...] = ()
    units: tuple[Count, ...] = ()
    label: Text = ""
    named: bool = False
    pinned: bool = False
    path_scores: tuple[tuple[Component, ...], ...] = ()
    rest: tuple[Component, ...] = ()
    rest_weight: Weight = 0.0
    surplus: Weight = 0.0
    sha256: Digest


class Revision(_Record, frozen=True, kw_only=True):
    """A state of the tree."""

    version: int
    topics: Annotated[tuple[TopicRecord, ...], Meta(min_length=1, max_length=MOST)]
    change: ChangeRecord


class UsualRecord(_Record, frozen=True, kw_only=True):
    """How well documents are explained that were held out: `strod.values.usual.Usual`."""

    lengths: Annotated[tuple[Annotated[float, Meta(ge=1, le=LARGEST)], ...], Meta(min_length=1)]
    means: tuple[Number, ...]
    deviations: tuple[Annotated[float, Meta(ge=1e-9, le=1e300)], ...]
    quantiles: Annotated[tuple[Number, ...], Meta(min_length=1, max_length=1000)]
    threshold: Share
    measure: Small = 1

    def __post_init__(self) -> None:
        """Refuse lists that do not belong together."""
        if not len(self.lengths) == len(self.means) == len(self.deviations):
            raise ValueError("lengths, means and deviations must be of one size")
        if any(a >= b for a, b in pairwise(self.lengths)):
            raise ValueError("lengths must rise")
        if any(a > b for a, b in pairwise(self.quantiles)):
            raise ValueError("quantiles must rise")


class SplitRecord(_Record, frozen=True, kw_only=True):
    """A decomposition, but for the words of its topics."""

    version: int
    weights: Annotated[tuple[Share, ...], Meta(min_length=1, max_length=1 << 16)]
    joint: tuple[tuple[Amount, ...], ...]
    effective_documents: tuple[Amount, ...]
    merges: tuple[tuple[Count, Count, Number], ...]
    alpha0: Amount
    total: Number
    values: tuple[Number, ...]
    noise: Number
    documents: Count
    components: tuple[Component, ...]
    context: tuple[Component, ...] | None = None
    usual: UsualRecord | None = None
    apart: Small = 0

    def __post_init__(self) -> None:
        """Refuse lists that do not belong together."""
        size = len(self.weights)
        square = len(self.joint) == size and all(len(row) == size for row in self.joint)
        square = square or (self.context is not None and not self.joint)
        if self.context is not None and size < 2:
            raise ValueError("a topic that was removed must have had a sibling")
        if not square or len(self.effective_documents) != size:
            raise ValueError("weights, joint and effective_documents must be of one size")
        gone = [gone for _, gone, _ in self.merges]
        if len(set(gone)) != len(gone) or any(max(m[:2]) >= size for m in self.merges):
            raise ValueError("merges must name topics, each at most once as gone")


_T = TypeVar("_T", bound=_Record)


def parse(content: object, kind: type[_T], where: Path) -> _T:
    """A record from what JSON held; what does not fit is said to be damaged.

    Parameters
    ----------
    content : object
        As `orjson.loads` gives it.
    kind : type
        The record.
    where : Path
        The file, for an error.
    """
    try:
        return msgspec.convert(content, kind)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise DamagedError(f"is damaged ({_plain(error)})", file=where) from error


def _plain(error: Exception) -> str:
    """What msgspec says; between backticks an error of ours has options."""
    return str(error).replace("`", "'")


def as_json(record: _Record) -> dict[str, Any]:
    """The record as dictionaries and lists; what could not be read again is refused."""
    content: dict[str, Any] = msgspec.to_builtins(record)
    try:
        msgspec.convert(content, type(record))
    except (msgspec.ValidationError, ValueError) as error:
        raise UsageError(f"cannot be kept ({_plain(error)})", advice="give less") from error
    return content


def replace(record: _T, **changes: Any) -> _T:
    """A copy with other values."""
    return msgspec.structs.replace(record, **changes)
