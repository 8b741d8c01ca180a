"""Documents in = kept + rejected: the account of everything that was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from strod.errors import InputError
from strod.text.records import Document, Fields, Reject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from strod.text.sources import Part

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
    parts : list of Part
        What is read.
    strict : bool
        Whether the first rejected document is an error.
    """

    def __init__(self, parts: list[Part], *, strict: bool) -> None:
        self._parts = parts
        self._strict = strict
        self.accepted = 0
        self.rejected = 0
        self.reasons: dict[str, _Reason] = {}
        self._usable: set[int] = set()  # arguments that gave a document
        self._problems: dict[int, str] = {}

    @property
    def read(self) -> int:
        """How many documents there were in the sources."""
        return self.accepted + self.rejected

    def accept(self, argument: int) -> None:
        """A document of one of the sources could be read."""
        self.accepted += 1
        self._usable.add(argument)

    def reject(self, part: int, reject: Reject, *, counted: bool = False) -> None:
        """A document cannot be used; `counted`: it was accepted before."""
        source = self._parts[part]
        position = source.position(reject.line)
        detail = f" ({reject.detail})" if reject.detail else ""
        if self._strict:
            advice = "mend it or leave out --strict"
            raise InputError(f"{position}: {reject.reason}{detail}; {advice}")
        self.accepted -= counted
        self.rejected += 1
        entry = self.reasons.setdefault(reject.reason, _Reason())
        entry.count += 1
        if len(entry.examples) < EXAMPLES:
            entry.examples.append(position)
        self._problems.setdefault(source.argument, f"{position}: {reject.reason}{detail}")

    def reject_rows(self, rows: NDArray[np.void], reason: str) -> None:
        """Documents that were accepted turn out to be unusable."""
        for row in rows:
            self.reject(int(row["part"]), Reject(reason, int(row["line"])), counted=True)

    def check_usable(self) -> None:
        """Every source must have given at least one document."""
        for part in self._parts:
            if part.argument not in self._usable:
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
        ("no text field", "; name it with --text-field"),
        ("not a JSON object", "; write one object a line, for an array: jq -c '.[]'"),
        ("broken JSON", "; one JSON object a line is expected, see --format"),
        ("NUL byte", "; is this a text file?"),
        ("cut short", "; get the file again"),
    ):
        if sign in problem:
            return advice
    return ""


@dataclass
class Batch:
    """Some consecutive documents."""

    documents: list[Document] = field(default_factory=list)
    ids: list[bytes] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    size: int = 0

    def add(self, document: Document, identifier: bytes, part: int) -> None:
        """Append one document."""
        self.documents.append(document)
        self.ids.append(identifier)
        self.parts.append(part)
        self.size += len(document.text)

    @property
    def full(self) -> bool:
        """Whether the next document belongs to the next batch."""
        return self.size >= BATCH_BYTES or len(self.documents) >= BATCH_DOCUMENTS


def batches(
    parts: list[Part], fields: Fields, account: Account, advance: Callable[[int], None]
) -> Iterator[Batch]:
    """Read all parts; documents without an id are called by their number."""
    batch = Batch()
    for number, part in enumerate(parts):
        for item in part.read(fields, advance):
            if isinstance(item, Reject):
                account.reject(number, item)
                continue
            account.accept(part.argument)
            identifier = item.id if item.id is not None else b"%d" % account.read
            batch.add(item, identifier, number)
            if batch.full:
                yield batch
                batch = Batch()
    if batch.documents:
        yield batch
