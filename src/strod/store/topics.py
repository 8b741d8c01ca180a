"""Revisions on disk: the topics of a tree, and what was changed."""

from __future__ import annotations

import json
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary, ref

import numpy as np

from strod.errors import DamagedError
from strod.store.arrays import read_array
from strod.store.manifest import VERSION, is_sealed, sealed
from strod.store.publish import write_json
from strod.store.schema import ChangeRecord, Revision, TopicRecord, Undone, as_json, parse
from strod.store.upgrade import upgraded_revision
from strod.store.validate import check_distribution, naming
from strod.values.topic import ROOT, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from strod.store.files import Files
    from strod.store.schema import TreeRecord

__all__ = [
    "KnownWords",
    "Topics",
    "node_sha256",
    "read_change",
    "read_json",
    "read_revision",
    "revision_name",
    "undone_changes",
    "words_file",
    "write_revision",
]


class Topics(NamedTuple):
    """A state of the tree: topics by id, parents before children, their checksums."""

    nodes: dict[str, Node]
    checksums: dict[str, str]
    change: ChangeRecord


def revision_name(number: int) -> str:
    """File of a revision."""
    return f"tree/revisions/{number:05d}.json"


class _Digests:
    """What has been read of the words of arrays that nobody can change, as long as they live."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[NDArray[np.float64]], Any]] = {}

    def of(self, words: NDArray[np.float64]) -> Any:
        """SHA-256 of an array, to which more can be added."""
        key = id(words)
        known = self._known.get(key)
        if known is not None and known[0]() is words:
            return known[1].copy()
        value = sha256(np.ascontiguousarray(words, dtype="<f8").tobytes())
        if not words.flags.writeable:
            self._known[key] = ref(words, lambda _: self._known.pop(key, None)), value.copy()
        return value


_digests = _Digests()


class KnownWords:
    """Words of topics that some revision still has, by file, so that none is read twice."""

    def __init__(self) -> None:
        self._held: WeakValueDictionary[tuple[str, str], NDArray[np.float64]]
        self._held = WeakValueDictionary()

    def read(self, files: Files, name: str, width: int) -> NDArray[np.float64]:
        """The words of a file, in an array that nobody can change."""
        about = None if files.digests is None else files.digests.get(name)
        key = name, "" if about is None else about.sha256
        found = None if about is None else self._held.get(key)
        if found is None or found.size != width:
            found = self._held[key] = _read_words(files, name, width)
            found.flags.writeable = False
        return found


def node_sha256(node: Node) -> str:
    """Checksum of a topic's own numbers: words, weight, alpha, top words, phrases.

    Not of its documents, which grow as some are added, and not of its name.
    """
    value = _digests.of(node.words)
    value.update(np.array([node.weight, node.alpha], dtype="<f8").tobytes())
    value.update(np.array(node.top_words, dtype="<i8").tobytes())
    value.update(json.dumps([list(pair) for pair in node.phrases]).encode())
    digest: str = value.hexdigest()
    return digest


def words_file(node: Node) -> str:
    """File of a topic's words, named after what they are: the same words, the same file."""
    return f"{node.id}-{_digests.of(node.words).hexdigest()[:12]}.npy"


def write_revision(
    folder: Path,
    nodes: Iterable[Node],
    change: ChangeRecord,
    number: int,
    known: Collection[str] = (),
) -> None:
    """Write what there is to know about all topics, and words that no file has yet.

    Parameters
    ----------
    folder : Path
        The workspace, or the folder of a change.
    nodes : iterable of Node
        All topics, parents before children.
    change : ChangeRecord
        What was changed.
    number : int
        Of the revision.
    known : collection of str
        Names of files that are there already.
    """
    for part in ("words", "revisions"):
        (folder / "tree" / part).mkdir(parents=True, exist_ok=True)
    topics = []
    for node in nodes:
        name = words_file(node)
        if f"tree/words/{name}" not in known:
            with naming(folder / "tree" / "words" / name):  # what could not be read is not written
                check_distribution(node.words, node.words.size)
            np.save(folder / "tree" / "words" / name, node.words.astype("<f8"))
        topics.append(_record(node, name))
    content = as_json(Revision(version=VERSION, topics=tuple(topics), change=change))
    write_json(folder / revision_name(number), sealed(content))


def _record(node: Node, words: str) -> TopicRecord:
    return TopicRecord(
        id=node.id,
        parent=node.parent,
        level=node.level,
        number=node.number,
        last_number=node.last_number,
        components=tuple(node.components),
        words=words,
        weight=node.weight,
        alpha=node.alpha,
        alpha0=node.alpha0,
        documents=node.documents,
        children=tuple(node.children),
        reason=node.reason,
        top_words=tuple(node.top_words),
        phrases=tuple(node.phrases),
        units=tuple(node.units),
        label=node.label,
        named=node.named,
        pinned=node.pinned,
        path_scores=tuple(tuple(score) for score in node.path_scores),
        rest=tuple(node.rest),
        rest_weight=node.rest_weight,
        surplus=node.surplus,
        sha256=node_sha256(node),
    )


def _node(record: TopicRecord, words: Callable[[], NDArray[np.float64]]) -> Node:
    return Node(
        id=record.id,
        parent=record.parent,
        level=record.level,
        number=record.number,
        last_number=record.last_number,
        components=list(record.components),
        words=words,
        weight=record.weight,
        alpha=record.alpha,
        alpha0=record.alpha0,
        documents=record.documents,
        children=list(record.children),
        reason=record.reason,
        top_words=list(record.top_words),
        phrases=list(record.phrases),
        units=list(record.units),
        label=record.label,
        named=record.named,
        pinned=record.pinned,
        path_scores=[list(score) for score in record.path_scores],
        rest=list(record.rest),
        rest_weight=record.rest_weight,
        surplus=record.surplus,
    )


def read_json(files: Files, name: str) -> dict[str, Any]:
    """What a sealed file says, to the last digit."""
    content = files.json(name)
    if not is_sealed(content):
        raise DamagedError("has changed since it was written", file=files.path(name))
    return content


def _revision(files: Files, number: int) -> Revision:
    name = revision_name(number)
    content = read_json(files, name)
    try:
        content = upgraded_revision(content)
    except (KeyError, TypeError, AttributeError) as error:
        raise DamagedError(f"is damaged ({error})", file=files.path(name)) from error
    return parse(content, Revision, files.path(name))


def read_change(files: Files, number: int) -> ChangeRecord:
    """What was changed in a revision, without its topics."""
    return _revision(files, number).change


def undone_changes(files: Files, tree: TreeRecord) -> tuple[Undone, ...]:
    """What is undone now and can be had back only until the next change, the first change first.

    Each was, before it was undone, the change after those that it still names as undone itself.
    """
    found: list[Undone] = []
    for number in reversed(tree.undone):
        change = read_change(files, number)
        found += change.undone
        one = Undone(revision=number, what=change.what, when=change.when, note=change.note)
        found.append(one)
    return tuple(found)


def read_revision(files: Files, number: int, width: int, known: KnownWords | None = None) -> Topics:
    """A state of the tree over a vocabulary of `width` words; the words stay on disk until used.

    Those that are `known` are not read again.
    """
    known = known or KnownWords()
    found = _revision(files, number)
    with naming(files.path(revision_name(number))):
        _check_tree({topic.id: topic for topic in found.topics}, len(found.topics), width)
    nodes = {
        topic.id: _node(topic, partial(known.read, files, f"tree/words/{topic.words}", width))
        for topic in found.topics
    }
    checksums = {topic.id: topic.sha256 for topic in found.topics}
    return Topics(nodes, checksums, found.change)


def _read_words(files: Files, name: str, width: int) -> NDArray[np.float64]:
    """φ of a topic, in memory: a mapping for each would take a file handle each."""
    words: NDArray[np.float64] = np.array(read_array(files, name, "<f8"))
    with naming(files.path(name)):
        check_distribution(words, width)
    return words


def _check_tree(topics: Mapping[str, TopicRecord], size: int, width: int) -> None:
    """One root, one parent each, parents first, numbers and words that can be."""
    if len(topics) != size or next(iter(topics)) != ROOT or topics[ROOT].parent is not None:
        raise ValueError("it has not one root and each topic once")
    seen: set[str] = set()
    for name, topic in topics.items():
        if name != ROOT:
            above = topics.get(str(topic.parent))
            if above is None or above.id not in seen or name not in above.children:
                raise ValueError(f"topic {name} is no child of one before it")
            if topic.level != above.level + 1 or not 1 <= topic.number <= above.last_number:
                raise ValueError(f"topic {name} has the wrong level or number")
        elif topic.level:
            raise ValueError("the root has the wrong level")
        below = [topics[child] for child in topic.children if child in topics]
        if len(below) != len(set(topic.children)) or any(one.parent != name for one in below):
            raise ValueError(f"topic {name} has a child that is not its own")
        if len(below) != len(topic.children) or len({one.number for one in below}) != len(below):
            raise ValueError(f"topic {name} has children with one number")
        if any(word >= width for word in topic.top_words):
            raise ValueError(f"topic {name} is headed by a word that is not there")
        _check_components(topic)
        seen.add(name)


def _check_components(topic: TopicRecord) -> None:
    """Every topic but the root is made of components, none of them twice."""
    if bool(topic.components) == (topic.id == ROOT):
        raise ValueError(f"topic {topic.id} is made of the wrong components")
    if (topic.rest or topic.rest_weight) and not topic.children:
        raise ValueError(f"topic {topic.id} has a rest and no children")
    if topic.units and len(topic.units) != len(topic.phrases):
        raise ValueError(f"topic {topic.id} has phrases of other units")
    scores = (part for score in topic.path_scores for part in score)
    for part in (*topic.components, *topic.rest, *scores):
        if len(set(part.fine)) != len(part.fine) or min(part.fine, default=-1) < 0:
            raise ValueError(f"topic {topic.id} is made of no component, or of one twice")
