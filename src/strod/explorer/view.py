"""One revision as the explorer shows it: what is asked again and again is kept."""

from __future__ import annotations

import shlex
from functools import cached_property, lru_cache
from hashlib import sha256
from shlex import quote
from threading import Lock
from typing import TYPE_CHECKING, Any

from strod import __version__
from strod.errors import UsageError
from strod.query.entities import Entities
from strod.query.terms import Words
from strod.query.trends import documents_by_time
from strod.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from strod.query.index import Index
    from strod.query.trends import Times
    from strod.workspace.snapshot import Snapshot
    from strod.workspace.tree import Topic, Tree

__all__ = ["View"]

PATIENCE = 3.0  # seconds that a visitor waits for an index that is being made
NAMES = ("list", "category")  # kinds of fields whose members may stand for a topic


class View:
    """A revision of a workspace; any number of threads read it at once.

    Parameters
    ----------
    snapshot : Snapshot
        The revision.
    path : Path
        The workspace as the user called it, for the commands that are shown.
    read_only : bool
        Whether nobody may change anything.
    before : View, optional
        One of another revision, whose words are taken over if the corpus is the same.
    """

    def __init__(
        self, snapshot: Snapshot, path: Path, *, read_only: bool, before: View | None = None
    ) -> None:
        self.snapshot, self.path, self.read_only = snapshot, path, read_only
        self.workspace = Workspace(snapshot.path, snapshot)
        self._lock = Lock()
        if before is not None and before.snapshot.corpus is snapshot.corpus:
            self.fold, self.columns = before.fold, before.columns

    @property
    def index(self) -> Index:
        """What it is asked through."""
        index = self.snapshot.index
        index.patience = PATIENCE
        return index

    @property
    def tree(self) -> Tree:
        """Its topics."""
        return self.snapshot.tree

    @cached_property
    def etag(self) -> str:
        """A digest of all that answers are made of."""
        about = self.snapshot.manifest
        tree = about.tree
        parts = about.corpus.sha256, tree.sha256, tree.history, tree.undone, self.read_only
        return sha256(repr((__version__, *parts)).encode()).hexdigest()[:24]

    def command(self, verb: str, *arguments: str, **options: Any) -> str:
        """The command that gives the same; options that say nothing are left out."""
        words, given = list[str](), [str(self.path), *arguments]
        for name, value in options.items():
            flag = f"--{name.replace('_', '-')}"
            if value is True:
                words.append(flag)
            for one in value if isinstance(value, list) else [value]:
                if one is not None and one != "" and not isinstance(one, bool):
                    words.append(f"{flag}={one}" if str(one).startswith("-") else f"{flag} {one}")
        flags = [shlex.join(word.split(" ", 1)) for word in words]
        if any(one.startswith("-") for one in arguments):  # they would be taken for options
            return " ".join(["strod", verb, *flags, "--", *map(quote, given)])
        return " ".join(["strod", verb, *map(quote, given), *flags])

    def python(self, method: str, *arguments: Any, **options: Any) -> str:
        """The line of Python that gives the same, where no command does."""
        given = [repr(one) for one in arguments]
        given += [f"{name}={value!r}" for name, value in options.items()]
        return f"strod.open({str(self.path)!r}).{method}({', '.join(given)})"

    # -- asked for by every topic --------------------------------------------------------

    @cached_property
    def _entities(self) -> dict[str, Entities]:
        kinds = self.index.metadata.kinds
        return {name: Entities(self.index, name) for name, kind in kinds.items() if kind in NAMES}

    def entities(self, topic: Topic, limit: int) -> dict[str, list[list[Any]]]:
        """Members of fields that stand for a topic."""
        return {
            field: [list(one) for one in found.best(topic, limit)]
            for field, found in self._entities.items()
        }

    @cached_property
    def times(self) -> Times | None:
        """Documents by the only date, if there is one."""
        try:
            return documents_by_time(self.index)
        except UsageError:
            return None

    # -- words of documents --------------------------------------------------------------

    @cached_property
    def fold(self) -> Callable[[str], str]:
        """Written form to word."""
        return Words(self.snapshot.corpus.about.settings).fold

    @cached_property
    def columns(self) -> dict[str, int]:
        """Column of each word of the model."""
        words: list[str] = self.snapshot.corpus.vocabulary["word"].to_pylist()
        return {word: column for column, word in enumerate(words)}

    @cached_property
    def tree_at(self) -> Callable[[int], Tree]:
        """Another revision's topics, the last few of them kept."""
        return lru_cache(4)(self.snapshot.tree_at)
