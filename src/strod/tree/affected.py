"""Topics whose documents may be others after a change: those below a step that is another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from strod.values.shares import Structure

__all__ = ["Affected", "affected"]


class Affected(NamedTuple):
    """The part of a tree that is to be counted again.

    Attributes
    ----------
    topics : mapping of Structure
        All that it takes to find the documents of these topics: those below `steps`, what is
        above and beside them. Nothing is below what is only beside.
    steps : list of str
        Topics that have other children now, or children made of something else.
    below : list of str
        Those whose documents may be others.
    """

    topics: Mapping[str, Structure]
    steps: list[str]
    below: list[str]


def affected(
    topics: Mapping[str, Structure],
    before: Mapping[str, Structure] | None,
    counted: Collection[str] = (),
) -> Affected:
    """What is to be counted again, `counted` in any case; without a tree before, everything.

    A step of a path depends on the children of one topic only. So documents that came to a topic
    with other steps below still come there, and those beside it have lost and won none.
    """
    parents = {child: name for name, own in topics.items() for child in own.children}
    asked = {parents.get(name, name) for name in counted}
    steps = [
        name
        for name in topics
        if before is None or name in asked or _step(topics, name) != _step(before, name)
    ]
    below = set(steps)
    for name in topics:  # parents before children
        if parents.get(name) in below:
            below.add(name)
    above = set(steps)
    for name in reversed(list(topics)):
        if name in above and name in parents:
            above.add(parents[name])
    opened = above | below
    near = {
        name: own if name in opened else own._replace(children=[], rest=[])
        for name, own in topics.items()
        if name in opened or parents.get(name) in opened
    }
    again = [name for name in topics if before is None or parents.get(name) in below]
    return Affected(near, steps, again)


def _step(topics: Mapping[str, Structure], name: str) -> object:
    """What decides where a path goes on from a topic; it ends where there is none."""
    if name not in topics:
        return [], []
    own = topics[name]
    bids = [(one, topics[one].components, topics[one].path_scores) for one in sorted(own.children)]
    return bids, own.rest
