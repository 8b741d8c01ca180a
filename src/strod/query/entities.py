"""What stands for a topic besides phrases: members of a list or a category.

The score of an entity e in a topic t is p(e|t)·log(p(e|t) / p(e|parent)), the pointwise
Kullback-Leibler divergence of the paper's ranking of phrases: popular here, less so above; what is
not is left out. For the root, which has nothing above, it is p(e|t). Probabilities count documents
whose path leads to the topic, once for each entity they have. The same name written the same way is
one entity.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from strod.errors import UsageError
from strod.query.index import Spread
from strod.query.tables import whereabouts

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from strod.query.fields import Coded
    from strod.query.index import Index
    from strod.workspace.tree import Topic

__all__ = ["Entities", "Entity", "entity_topics"]


class Entity(NamedTuple):
    """An entity of a topic: its name, its score, and its documents there."""

    name: str
    score: float
    documents: int


class Entities:
    """Members of a field by topic.

    Parameters
    ----------
    index : Index
        The revision.
    field : str
        A list or a category.
    """

    def __init__(self, index: Index, field: str) -> None:
        self._coded = _named(index, field)
        self._spread = Spread(index, self._coded.documents)

    def counts(self, topic: str) -> NDArray[np.int64]:
        """Documents of each entity whose path leads to a topic, by id."""
        codes = self._coded.codes[self._spread.of(topic)]
        return np.bincount(codes, minlength=len(self._coded.values))

    def best(self, topic: Topic, limit: int = 10) -> list[Entity]:
        """The entities that stand for a topic, the best first; of equals the first by name."""
        here, parent = self.counts(topic.id), topic.parent
        p = here / max(here.sum(), 1)
        if parent is None:
            score = p
        else:
            above = self.counts(parent.id)
            q = above / max(above.sum(), 1)
            score = p * np.log(p, out=np.zeros_like(p), where=p > 0)
            score -= p * np.log(q, out=np.zeros_like(q), where=q > 0)
        order = np.argsort(-score, kind="stable")
        order = order[score[order] > 0][: limit or None]
        names = self._coded.values
        return [Entity(names[i], float(score[i]), int(here[i])) for i in order.tolist()]


def _named(index: Index, asked: str) -> Coded:
    """A field of names, and its documents; those without any are left out."""
    field = index.metadata.field(asked)
    if field.kind not in ("list", "category"):
        kinds = index.metadata.kinds
        names = sorted(name for name, kind in kinds.items() if kind in ("list", "category"))
        there = f"fields of names: {', '.join(names)}" if names else "there is no field of names"
        what = "entities are members of a list or a category"
        raise UsageError(f"{asked}: is a {field.kind}; {what}; {there}")
    coded = index.metadata.coded(field)
    if coded.values and coded.values[-1] is None:
        has = coded.codes < len(coded.values) - 1
        return type(coded)(coded.values[:-1], coded.documents[has], coded.codes[has])
    return coded


def entity_topics(index: Index, field: str, name: str) -> tuple[int, pa.Table]:
    """How many documents an entity has, and the topics that they are in.

    Lift is the topic's part of the entity's documents over its part of all documents.
    """
    coded = _named(index, field)
    if name not in coded.values:
        raise UsageError(f"{name}: no document has it in {field}; {_hint(name, coded.values)}")
    documents = coded.documents[coded.codes == coded.values.index(name)]
    return documents.size, whereabouts(index, documents, "documents")


def _hint(name: str, names: list[str]) -> str:
    folded = name.casefold()
    near = [one for one in names if folded in one.casefold()][:5]
    near = near or get_close_matches(name, names[:100_000], n=3)
    return f"do you mean {' or '.join(near)}?" if near else "names are compared letter by letter"
