"""The explorer as files that any web server can send: read-only, without a server of its own.

Each file under ``data`` is an answer of the server (`strod.explorer.routes`), but for documents,
of which there are only the best of each topic, and the beginnings of their texts.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from strod.explorer import about, asking, reading
from strod.explorer.postings import Postings
from strod.explorer.security import POLICY
from strod.explorer.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strod.progress import Progress
    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace

__all__ = ["is_part_of_site", "write_site"]

DATA = "data"
ROWS, MOST, LEAST = 4000, 100, 3  # documents in all lists together, and in each
LENGTH = 2000  # characters of a text
PHRASES = 10  # of a topic that a search knows
MARK = '<meta name="strod-site" content="data">'
PAGE = "index.html"
STATICS = ("app.js", "app.css", "icon.svg", "licences.txt")
_OWN = re.compile(
    r"(?:workspace|tree|history|report|trends)\.json|topic/o(?:-\d+)*\.json"
    r"|documents/o(?:-\d+)*\.json|document/\d+\.json"
    r"|search/(?:documents|phrases)\.json|search/words/(?:[a-z0-9]|_[0-9a-v]){1,2}\.json"
)


def is_part_of_site(path: Path) -> bool:
    """Whether a file or folder is one of a site: of those names, beside a page that says so."""
    if path.is_symlink() or not _is_page(path.parent / PAGE):
        return False
    if path.name == DATA and path.is_dir():
        return all(_is_answer(one, path) for one in path.rglob("*"))
    return path.name in (PAGE, *STATICS) and path.is_file()


def _is_page(path: Path) -> bool:
    return path.is_file() and MARK.encode() in path.read_bytes()


def _is_answer(path: Path, data: Path) -> bool:
    if path.is_symlink():
        return False
    return path.is_dir() or _OWN.fullmatch(path.relative_to(data).as_posix()) is not None


def write_site(
    workspace: Workspace, folder: Path, progress: Progress, documents: int | None = None
) -> None:
    """Write the explorer of a workspace into a folder.

    Parameters
    ----------
    workspace : Workspace
        What to show.
    folder : Path
        An empty folder.
    progress : Progress
        Told how far it is.
    documents : int, optional
        Documents of each topic, 0 for none; by default 3 to 100, fewer where there are more topics.
    """
    name = Path(workspace.path.name)  # where it lies here is nobody's business
    view = View(workspace.snapshot, name, read_only=True)
    view.index.progress = progress
    site = _Site(view, folder / DATA)
    _write_page(folder)
    site.write(progress, _listed(len(view.tree)) if documents is None else documents)


def _listed(topics: int) -> int:
    """Documents of each topic, so that the whole stays small."""
    return min(max(ROWS // topics, LEAST), MOST)


def _write_page(folder: Path) -> None:
    """The page; before all else, so that what a killed run left is known as a site."""
    static = files("strod.explorer") / "static"
    # A page cannot say itself who may frame it; browsers complain if it tries.
    policy = POLICY.partition("; frame-ancestors")[0]
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n{MARK}\n'
    page = (static / PAGE).read_text(encoding="utf-8").replace("/static/", "")
    charset = '<meta charset="utf-8">\n'
    page = page.replace(charset, charset + head, 1)
    (folder / PAGE).write_text(page, encoding="utf-8", newline="\n")
    for name in STATICS:
        (folder / name).write_bytes((static / name).read_bytes())


class _Site:
    """The answers of a site.

    Parameters
    ----------
    view : View
        Who answers.
    data : Path
        The folder to write them into.
    """

    def __init__(self, view: View, data: Path) -> None:
        self._view, self._data = view, data
        self._topics = view.tree.branch()

    def write(self, progress: Progress, listed: int) -> None:
        """All of them."""
        for name in ("topic", "documents", "document", "search/words"):
            (self._data / name).mkdir(parents=True)
        numbers = self._write_topics(progress, listed)
        self._write_documents(progress, numbers)
        self._write_about(len(numbers))

    def _put(self, name: str, content: Any) -> None:
        written = orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)
        (self._data / f"{name}.json").write_bytes(written)

    def _write_topics(self, progress: Progress, listed: int) -> list[int]:
        """Topics and their lists; which documents these name."""
        numbers: set[int] = set()
        progress.stage("topics", len(self._topics), "topics")
        for one in self._topics:
            self._put(f"topic/{_named(one)}", reading.topic(self._view, {"path": one.path}))
            found = self._listing(one, listed)
            self._put(f"documents/{_named(one)}", found)
            numbers |= {row["number"] for row in found["documents"]}
            progress.advance(1)
        return sorted(numbers)

    def _listing(self, one: Topic, listed: int) -> dict[str, Any]:
        """The best documents of a topic; `total` counts all."""
        asked = {"topic": one.path, "where": None, "limit": max(listed, 1), "offset": 0}
        found = reading.documents(self._view, asked)  # to which a limit of 0 means all
        return found | {"documents": found["documents"][:listed]}

    def _write_documents(self, progress: Progress, numbers: list[int]) -> None:
        postings, leaves = Postings(self._view.fold), []
        rows = {one.id: row for row, one in enumerate(self._topics)}
        placed = self._view.index.placements
        progress.stage("documents", len(numbers), "documents")
        for number in numbers:
            found = _shortened(reading.document(self._view, {"number": number}))
            self._put(f"document/{number}", found)
            postings.add(found["text"])
            leaves.append(rows[placed.names[placed.ends[number]]])  # known words or not
            progress.advance(1)
        shards = postings.shards()
        for name, shard in shards.items():
            self._put(f"search/words/{name}", shard)
        columns = {"number": numbers, "leaf": leaves, "length": postings.lengths}
        self._put("search/documents", columns | {"shards": sorted(shards)})

    def _write_about(self, documents: int) -> None:
        """What is not about one topic or document."""
        view = self._view
        own = {"can_search": True, "undo": False, "redo": False, "shown": documents}
        self._put("workspace", about.workspace(view, {}) | own)
        everything = {"where": None, "query": None, "topic": None, "depth": None}
        self._put("tree", reading.tree(view, everything))
        self._put("history", about.history(view, {}))
        self._put("report", about.report(view, {}))
        self._put("search/phrases", [_texts(one.phrases) for one in self._topics])
        if view.times is not None:
            asked = {"field": view.times.field, "topic": None, "level": None, "where": None}
            self._put("trends", asking.trends(view, asked))


def _named(one: Topic) -> str:
    """Name of a topic's files: its path, which has numbers alone."""
    return one.path.replace("/", "-")


def _texts(phrases: Iterable[tuple[str, float]]) -> list[str]:
    return [text for text, _ in [*phrases][:PHRASES]]


def _shortened(document: dict[str, Any]) -> dict[str, Any]:
    """A document with the beginning of its text."""
    words = [row for row in document["words"] if row[1] <= LENGTH]
    return document | {"text": document["text"][:LENGTH], "words": words}
