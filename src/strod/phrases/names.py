"""Short names for topics, made from their best phrases or, where there are none, words."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from strod.values.topic import Node

__all__ = ["name_children"]

LETTERS = 40  # of a name
PARTS = 2
WORDLESS = "no words"  # a topic that nothing stands for


def name_children(
    nodes: Mapping[str, Node],
    parents: Iterable[str],
    words: Sequence[str],
    only: Collection[str] | None = None,
) -> None:
    """Name the children of `parents`: two phrases, more if siblings have the same.

    A topic without phrases is named by its top words, so that every topic but the root has a name.

    Parameters
    ----------
    nodes : mapping of Node
        The tree.
    parents : iterable of str
        Topics whose children are named.
    words : sequence of str
        The vocabulary as it is written.
    only : collection of str, optional
        The children to name; the others keep their names.
    """
    for parent in parents:
        fresh = [
            name
            for name in nodes[parent].children
            if (only is None or name in only) and not nodes[name].named
        ]
        taken = {nodes[name].label for name in nodes[parent].children if name not in fresh}
        for child in fresh:
            texts = [text for text, _ in nodes[child].phrases]
            texts = texts or [words[word] for word in nodes[child].top_words] or [WORDLESS]
            label = _name(texts, taken)
            nodes[child].label = label
            taken.add(label)


def _name(texts: list[str], taken: set[str]) -> str:
    """The best phrases that fit, as many as make a name that no sibling has."""
    chosen: list[str] = []
    for text in texts:
        if len(", ".join([*chosen, text])) <= LETTERS:
            chosen.append(text)
        if len(chosen) >= PARTS and ", ".join(chosen) not in taken:
            break
    name = ", ".join(chosen) or texts[0][: LETTERS - 1] + "…"
    numbers = (f"{name} ({n})" for n in count(2))
    return name if name not in taken else next(n for n in numbers if n not in taken)
