"""Questions with an intruder, drawn from a tree.

Phrase intrusion shows phrases of one topic and one of a sibling. Topic intrusion shows a topic,
some of its children and a child of another topic (Wang et al., KDD 2013, after Chang et al.,
NIPS 2009; section 6.3 of the paper).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from strod.workspace.tree import Tree

__all__ = ["KINDS", "Entry", "Item", "Question", "entries", "rounds"]

KINDS = ("phrase", "topic")
TOP = 10  # phrases of a topic that are drawn from
SHOWN = 5  # phrases that stand for a topic
FEWEST = 2  # children of a topic that is asked about
TRIES = 50  # to find a question that was not drawn before

# A text as people read it, or the number of a word or unit.
Item = str | int


@dataclass(frozen=True)
class Entry:
    """A topic as a list: its `items`, the best first, none twice, and its place in the tree."""

    path: str
    level: int
    parent: str | None
    children: tuple[str, ...]
    items: tuple[Item, ...]

    @property
    def shown(self) -> tuple[Item, ...]:
        """What stands for it beside other topics."""
        return self.items[:SHOWN]


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    kind : str
        ``phrase`` or ``topic``.
    topic : str
        Path of the topic it is about: whose phrases, or whose children, are shown.
    level : int
        Level of what is chosen from: of the topic for phrases, of its children for topics.
    above : tuple
        What stands for the topic; empty for phrases.
    options : tuple of tuple
        What is chosen from; a phrase is a tuple of one.
    answer : int
        Which option is the intruder.
    """

    kind: str
    topic: str
    level: int
    above: tuple[Item, ...]
    options: tuple[tuple[Item, ...], ...]
    answer: int


def entries(tree: Tree, items: Mapping[str, Sequence[Item]]) -> dict[str, Entry]:
    """The topics of a tree with what stands for them (`items`, by id), by path."""
    return {
        topic.path: Entry(
            topic.path,
            topic.level,
            topic.parent.path if topic.parent else None,
            tuple(child.path for child in topic.children),
            _once(items[topic.id]),
        )
        for topic in tree.values()
    }


def _key(item: Item) -> Item:
    """The same for texts that readers would take for the same."""
    return item.casefold() if isinstance(item, str) else item


def _once(items: Sequence[Item]) -> tuple[Item, ...]:
    first: dict[Item, Item] = {}
    for item in items:
        first.setdefault(_key(item), item)
    return tuple(first.values())


def rounds(
    tree: Mapping[str, Entry], kind: str, x: int, random: np.random.Generator
) -> Iterator[list[Question]]:
    """Draw a new question about every topic that allows one, again and again.

    Parameters
    ----------
    tree : mapping of Entry
        Topics by path.
    kind : str
        ``phrase`` or ``topic``.
    x : int
        Options that belong; of a topic with fewer children, all of them.
    random : Generator
        Decides everything.

    Yields
    ------
    list of Question
        One for each topic, in an order drawn anew; ends when nothing new is found.
    """
    drawer = _Phrases(tree, x, random) if kind == "phrase" else _Topics(tree, x, random)
    paths = [path for path in tree if drawer.allows(path)]
    seen: set[object] = set()
    while paths:
        order = [paths[place] for place in random.permutation(len(paths))]
        found = [_unseen(drawer, path, seen) for path in order]
        paths = [path for path, one in zip(order, found, strict=True) if one is not None]
        paths.sort()
        if paths:
            yield [one for one in found if one is not None]


def _unseen(drawer: _Drawer, path: str, seen: set[object]) -> Question | None:
    for _ in range(TRIES):
        question = drawer.draw(path)
        same = path, frozenset(question.options), question.options[question.answer]
        if same not in seen:
            seen.add(same)
            return question
    return None


class _Drawer:
    """Draws questions of one kind."""

    kind = ""

    def __init__(self, tree: Mapping[str, Entry], x: int, random: np.random.Generator) -> None:
        self._tree, self._x, self._random = tree, x, random
        self._known: dict[str, list[list[tuple[Item, ...]]]] = {}

    def allows(self, path: str) -> bool:
        """Whether there is a question about a topic."""
        return self._enough(path) and bool(self._strangers(path))

    def draw(self, path: str) -> Question:
        """A question about a topic that allows one."""
        strangers = self._strangers(path)
        intruders = strangers[self._random.integers(len(strangers))]
        intruder = intruders[self._random.integers(len(intruders))]
        own = self._own(path)
        chosen = self._random.choice(len(own), min(self._x, len(own)), replace=False)
        options = [*(own[place] for place in chosen), intruder]
        order = self._random.permutation(len(options))
        return Question(
            self.kind,
            path,
            self._level(path),
            self._above(path),
            tuple(options[place] for place in order),
            int(order.argmax()),  # the intruder was the last
        )

    def _strangers(self, path: str) -> list[list[tuple[Item, ...]]]:
        """Possible intruders of each topic that has some."""
        if path not in self._known:
            found = (self._intruders(path, other) for other in self._others(path))
            self._known[path] = [intruders for intruders in found if intruders]
        return self._known[path]

    def _others(self, path: str) -> list[str]:
        """Topics that intruders come from."""
        raise NotImplementedError

    def _intruders(self, path: str, other: str) -> list[tuple[Item, ...]]:
        raise NotImplementedError

    def _own(self, path: str) -> list[tuple[Item, ...]]:
        raise NotImplementedError

    def _enough(self, path: str) -> bool:
        raise NotImplementedError

    def _level(self, path: str) -> int:
        return self._tree[path].level

    def _above(self, path: str) -> tuple[Item, ...]:  # noqa: ARG002
        return ()


class _Phrases(_Drawer):
    kind = "phrase"

    def _others(self, path: str) -> list[str]:
        parent = self._tree[path].parent
        siblings = () if parent is None else self._tree[parent].children
        return [sibling for sibling in siblings if sibling != path]

    def _intruders(self, path: str, other: str) -> list[tuple[Item, ...]]:
        own = {_key(item) for item in self._tree[path].items}
        return [(item,) for item in self._tree[other].items[:TOP] if _key(item) not in own]

    def _own(self, path: str) -> list[tuple[Item, ...]]:
        return [(item,) for item in self._tree[path].items[:TOP]]

    def _enough(self, path: str) -> bool:
        return len(self._own(path)) >= self._x


class _Topics(_Drawer):
    kind = "topic"

    def _others(self, path: str) -> list[str]:
        level = self._tree[path].level
        return [one.path for one in self._tree.values() if one.level == level and one.path != path]

    def _intruders(self, path: str, other: str) -> list[tuple[Item, ...]]:
        own = {frozenset(map(_key, shown)) for shown in self._own(path)}
        lists = self._own(other)
        return [shown for shown in lists if frozenset(map(_key, shown)) not in own]

    def _own(self, path: str) -> list[tuple[Item, ...]]:
        children = [self._tree[child] for child in self._tree[path].children]
        return [child.shown for child in children if child.shown]

    def _enough(self, path: str) -> bool:
        return len(self._own(path)) >= FEWEST and bool(self._tree[path].shown)

    def _level(self, path: str) -> int:
        return self._tree[path].level + 1

    def _above(self, path: str) -> tuple[Item, ...]:
        return self._tree[path].shown
