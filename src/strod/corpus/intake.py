"""Documents in = kept + rejected: the account of everything that was read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.corpus import metadata
from strod.corpus.columns import encoded, value_weight, weights
from strod.errors import InputError
from strod.text.blocks import Block
from strod.text.records import Document, Fields, Reject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from strod.text.sources import Source

__all__ = ["Account", "Batch", "batches"]

BATCH_BYTES = 4 << 20
BATCH_DOCUMENTS = 1 << 14
EXAMPLES = 5  # positions kept for each reason


@dataclass
class _Reason:
    count: int = 0
    examples: list[str] = field(default_factory=list)


class Account:
    """Counts what was read, kept and rejected, and where.

    Parameters
    ----------
    parts : list of Source
        What is read.
    strict : bool
        Whether the first rejected document is an error.
    """

    def __init__(self, parts: list[Source], *, strict: bool) -> None:
        self._parts = parts
        self._strict = strict
        self.accepted = 0
        self.rejected = 0
        self.reasons: dict[str, _Reason] = {}
        self._usable: Counter[int] = Counter()  # documents that each of the arguments gave
        self._problems: dict[int, str] = {}

    @property
    def read(self) -> int:
        """How many documents there were in the sources."""
        return self.accepted + self.rejected

    def accept(self, argument: int, count: int = 1) -> None:
        """Documents of one of the sources could be read."""
        self.accepted += count
        self._usable[argument] += count

    def reject(self, part: int, reject: Reject, *, wanted: bool = False) -> None:
        """A document is left out; `wanted`: as the user asked."""
        source = self._parts[part]
        position = source.position(reject.line)
        detail = f" ({reject.detail})" if reject.detail else ""
        if self._strict and not wanted:
            advice = "mend it or leave out `strict`"
            raise InputError(f"{position}: {reject.reason}{detail}; {advice}")
        self.rejected += 1
        entry = self.reasons.setdefault(reject.reason, _Reason())
        entry.count += 1
        if len(entry.examples) < EXAMPLES:
            entry.examples.append(position)
        self._problems.setdefault(source.argument, f"{position}: {reject.reason}{detail}")

    def reject_rows(self, rows: NDArray[np.void], reason: str, *, wanted: bool = False) -> None:
        """Documents that were accepted are out after all; `wanted`: as the user asked."""
        for row in rows[:EXAMPLES]:
            self.reject(int(row["part"]), Reject(reason, int(row["line"])), wanted=wanted)
        others = rows[EXAMPLES:].size
        if others:
            self.reasons[reason].count += others
            self.rejected += others
        self.accepted -= rows.size
        for part, count in zip(*np.unique(rows["part"], return_counts=True), strict=True):
            self._usable[self._parts[part].argument] -= int(count)

    def check_usable(self) -> None:
        """Every source must have given at least one document."""
        for part in self._parts:
            if not self._usable[part.argument]:
                problem = self._problems.get(part.argument, f"{part.name}: is empty")
                raise InputError(f"no usable document: {problem}{_advice(problem)}")

    def summary(self) -> dict[str, Any]:
        """For the report."""
        reasons = sorted(self.reasons.items(), key=lambda item: (-item[1].count, item[0]))
        return {
            "read": self.read,
            "kept": self.accepted,
            "rejected": self.rejected,
            "reasons": {
                name: {"count": reason.count, "first": reason.examples} for name, reason in reasons
            },
        }


def _advice(problem: str) -> str:
    for sign, advice in (
        ("no text field", "; name it with `text_field`"),
        ("not a JSON object", "; write one object a line, for an array: jq -c '.[]'"),
        ("broken JSON", "; one JSON object a line is expected, see `format`"),
        ("NUL byte", "; is this a text file?"),
        ("cut short", "; get the file again"),
    ):
        if sign in problem:
            return advice
    return ""


@dataclass
class Batch:
    """Some consecutive documents: texts and metadata joined in pieces, the rest one entry each.

    `kinds` are what the values of each metadata field look like.
    """

    texts: list[bytes | memoryview] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    metas: list[bytes] = field(default_factory=list)
    meta_sizes: list[int] = field(default_factory=list)
    kinds: list[set[str]] = field(default_factory=list)
    numbered: list[bool] = field(default_factory=list)
    total: int = 0

    def add(self, document: Document, number: int, part: int) -> None:
        """Append one document; without an id it is called by its number."""
        self.texts.append(document.text)
        self.sizes.append(len(document.text))
        self.ids.append(b"%d" % number if document.id is None else document.id)
        self.numbered.append(document.id is None)
        self.lines.append(document.line)
        self.parts.append(part)
        self.total += len(document.text)
        if document.meta:
            json = metadata.encode(document.meta)
            kinds = [{metadata.kind(value)} for value in document.meta]
            self._add_meta(json, [len(json)], kinds)
            self.total += sum(map(value_weight, document.meta))

    def _add_meta(self, json: bytes, sizes: list[int], kinds: list[set[str]]) -> None:
        self.metas.append(json)
        self.meta_sizes += sizes
        self.kinds = self.kinds or [set() for _ in kinds]
        for seen, new in zip(self.kinds, kinds, strict=True):
            seen.update(new)

    def room(self, bounds: NDArray[np.int64]) -> int:
        """How many of the documents that lie between `bounds` still belong here."""
        by_bytes = np.searchsorted(bounds, bounds[0] + BATCH_BYTES - self.total)
        by_documents = BATCH_DOCUMENTS - len(self.sizes)
        return min(int(by_bytes), by_documents, bounds.size - 1)

    def add_block(self, block: Block, first: int, end: int, number: int, part: int) -> None:
        """Append the documents of a block from `first` to `end`; the first of all is `number`."""
        offsets = block.offsets[first : end + 1]
        self.texts.append(block.text[int(offsets[0]) : int(offsets[-1])])
        self.sizes += np.diff(offsets).tolist()
        if block.ids is None:
            self.ids += [b"%d" % i for i in range(number + first, number + end)]
        else:
            self.ids += block.ids[first:end]
        self.numbered += [block.ids is None] * (end - first)
        self.lines += range(block.line + first, block.line + end)
        self.parts += [part] * (end - first)
        self.total += int(offsets[-1] - offsets[0])
        if block.meta:
            meta = [values[first:end] for values in block.meta]
            json, sizes, kinds = encoded(meta)
            self._add_meta(json, sizes.tolist(), kinds)
            self.total += sum(int(weights(values).sum()) for values in meta)

    @property
    def full(self) -> bool:
        """Whether the next document belongs to the next batch."""
        return self.total >= BATCH_BYTES or len(self.sizes) >= BATCH_DOCUMENTS


def _bounds(block: Block) -> NDArray[np.int64]:
    """Where each document of a block begins and ends if its metadata counts, too."""
    bounds = block.offsets.copy()
    for values in block.meta:
        bounds[1:] += np.cumsum(weights(values))
    return bounds


class _Batcher:
    """Gathers documents; where a batch ends depends on the documents alone."""

    def __init__(self, account: Account, before: int) -> None:
        self._account, self._before = account, before
        self._batch = Batch()

    def add(self, document: Document, number: int, part: Source) -> Iterator[Batch]:
        self._account.accept(part.argument)
        self._batch.add(document, self._before + self._account.read, number)
        if self._batch.full:
            yield from self.rest()

    def add_block(self, block: Block, number: int, part: Source) -> Iterator[Batch]:
        number_of_first = self._before + self._account.read + 1
        self._account.accept(part.argument, len(block))
        first, bounds = 0, _bounds(block)
        while first < len(block):
            end = first + self._batch.room(bounds[first:])
            self._batch.add_block(block, first, end, number_of_first, number)
            first = end
            if self._batch.full:
                yield from self.rest()

    def rest(self) -> Iterator[Batch]:
        if self._batch.sizes:
            yield self._batch
            self._batch = Batch()


def batches(
    parts: list[Source],
    fields: Fields,
    account: Account,
    advance: Callable[[int], None],
    before: int = 0,
) -> Iterator[Batch]:
    """Read all parts; documents without an id are numbered from `before` + 1 on."""
    batcher = _Batcher(account, before)
    for number, part in enumerate(parts):
        for item in part.read(fields, advance):
            if isinstance(item, Reject):
                account.reject(number, item)
            elif isinstance(item, Block):
                yield from batcher.add_block(item, number, part)
            else:
                yield from batcher.add(item, number, part)
    yield from batcher.rest()
