"""Answers about the workspace: what it is, how it was built and changed, and its exports."""

from __future__ import annotations

import io
import platform
import tempfile
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

from strod import __version__
from strod.errors import UsageError
from strod.export.run import export as exported
from strod.store.schema import as_json
from strod.values.topic import walk

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strod.explorer.view import View
    from strod.values.topic import Node
    from strod.workspace.tree import Topic, Tree

__all__ = ["Download", "compare", "export", "history", "report", "workspace"]

PACKAGES = ("numpy", "scipy", "numba", "pyarrow", "starlette", "uvicorn", "tantivy")
WORDS = 30
KINDS = {
    "json": ("json", "application/json"),
    "csv": ("zip", "application/zip"),
    "parquet": ("zip", "application/zip"),
    "markdown": ("md", "text/markdown; charset=utf-8"),
    "graphml": ("graphml", "application/xml"),
    "skos": ("ttl", "text/turtle; charset=utf-8"),
    "html": ("html", "text/html; charset=utf-8"),
}


class Download(NamedTuple):
    """A file that a browser saves."""

    name: str
    kind: str
    content: bytes


def workspace(view: View, _: Mapping[str, Any]) -> dict[str, Any]:
    """The workspace in numbers."""
    about, times = view.snapshot.manifest, view.times
    return {
        "name": view.path.name,
        "revision": view.snapshot.revision,
        "etag": view.etag,
        "documents": about.corpus.documents,
        "words": about.corpus.vocabulary,
        "topics": about.tree.topics - 1,
        "meta": dict(about.corpus.meta),
        "date_field": None if times is None else times.field.partition(":")[0],
        "read_only": view.read_only,
        "can_search": find_spec("tantivy") is not None,
        "undo": len(about.tree.history) > 1,
        "redo": bool(about.tree.undone),
        "version": __version__,
    }


def history(view: View, _: Mapping[str, Any]) -> dict[str, Any]:
    """What was changed, when and why."""
    return {"entries": view.snapshot.history(), "command": view.command("history")}


def report(view: View, _: Mapping[str, Any]) -> dict[str, Any]:
    """What the build read and took, its settings, and versions of packages."""
    about = view.snapshot.manifest
    settings = {part: as_json(getattr(about, part).settings) for part in ("corpus", "tree")}
    versions = {"strod": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    own = {"settings": settings, "versions": versions, "writer": about.writer}
    return view.snapshot.report | own | {"command": view.command("check")}


def compare(view: View, given: Mapping[str, Any]) -> dict[str, Any]:
    """Two revisions, given by their numbers, or two topics."""
    a, b = given["a"], given["b"]
    opened = f"strod.open({str(view.path)!r})"
    if a.isdecimal() and b.isdecimal():
        told = f"[{opened}.snapshot.tree_at(number) for number in ({int(a)}, {int(b)})]"
        return _revisions(view, int(a), int(b)) | {"command": told}
    told = f"[{opened}.tree.find(topic).phrases for topic in ({a!r}, {b!r})]"
    found = _topics(view.tree.surfaces, view.tree.find(a), view.tree.find(b))
    return found | {"command": told}


def _revisions(view: View, a: int, b: int) -> dict[str, Any]:
    one, other = view.tree_at(a), view.tree_at(b)
    changed = [
        {
            "id": topic.id,
            "path": topic.path,
            "label": topic.label,
            "before": one[topic.id].weight,
            "after": topic.weight,
            "was": {"path": one[topic.id].path, "label": one[topic.id].label},
        }
        for topic in other.values()
        if topic.id in one.nodes and _differs(one[topic.id], topic)
    ]
    return {
        "kind": "revisions",
        "a": _revision(a, one),
        "b": _revision(b, other),
        "only_a": _only(one, other.nodes),
        "only_b": _only(other, one.nodes),
        "changed": changed,
        "words": [],
    }


def _revision(number: int, tree: Tree) -> dict[str, Any]:
    about = tree.change
    told = {"what": about.what, "when": about.when, "note": about.note}
    return {"revision": number, "topics": len(tree) - 1, **told}


def _differs(one: Topic, other: Topic) -> bool:
    return (one.sha256, one.path, one.label, one.pinned) != (
        other.sha256,
        other.path,
        other.label,
        other.pinned,
    )


def _only(tree: Tree, others: Mapping[str, Node]) -> list[dict[str, Any]]:
    """Topics that are not among others."""
    return [_told(tree[name]) for _, name in walk(tree.nodes) if name not in others]


def _told(one: Topic) -> dict[str, Any]:
    phrases = [text for text, _ in one.phrases[:8]]
    return {
        "id": one.id,
        "path": one.path,
        "label": one.label,
        "weight": one.weight,
        "documents": one.documents,
        "phrases": phrases,
    }


def _topics(names: Sequence[str], a: Topic, b: Topic) -> dict[str, Any]:
    """Words of two topics side by side, and phrases that only one of them has."""
    best = dict.fromkeys(word for one in (a, b) for word in one.best(WORDS))
    phrases, others = dict(a.phrases), dict(b.phrases)
    return {
        "kind": "topics",
        "a": _told(a),
        "b": _told(b),
        "only_a": _without(phrases, others),
        "only_b": _without(others, phrases),
        "changed": [],
        "words": [
            [names[word], float(a.distribution[word]), float(b.distribution[word])] for word in best
        ],
    }


def _without(phrases: Mapping[str, float], others: Mapping[str, float]) -> list[dict[str, Any]]:
    return [
        {"phrase": text, "score": score} for text, score in phrases.items() if text not in others
    ]


def export(view: View, given: Mapping[str, Any]) -> Download:
    """The tree for other tools; tables come in an archive."""
    to = given["to"]
    ending, kind = KINDS[to]
    name = f"{view.path.stem}.{ending}"
    if ending == "zip":
        return Download(name, kind, _tables(view, to))
    text = exported(view.workspace, to)
    if text is None:
        raise UsageError(f"`to` {to}: gives no text")
    return Download(name, kind, text.encode())


def _tables(view: View, to: str) -> bytes:
    """All tables in one archive."""
    target = io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="strod-") as folder:
        tables = Path(folder) / "tables"
        exported(view.workspace, to, tables)
        with ZipFile(target, "w", ZIP_DEFLATED) as archive:
            for one in sorted(tables.iterdir()):
                archive.write(one, one.name)
    return target.getvalue()
