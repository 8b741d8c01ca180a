"""Intrusion without people: the option that goes least with the others is the intruder."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.errors import UsageError
from strod.intrusion.cooccurrence import Meetings, count_meetings
from strod.intrusion.questions import KINDS, TOP, Question, entries, rounds
from strod.progress import Progress, Silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from strod.workspace.workspace import Workspace

    Array = NDArray[np.float64]

__all__ = ["OF", "automatic", "odd_one_out"]

DRAWS = 200  # nearly all topic questions about a tree of five by five: a thousand
WORDS = 2 * TOP  # of a topic; an intruder is none of them
_DIGITS = 9  # means that differ by less are the same
OF = ("words", "phrases")


def automatic(
    workspace: Workspace,
    kinds: Sequence[str] = KINDS,
    questions: int = DRAWS,
    seed: int = 0,
    *,
    of: str = "phrases",
    x: int = 4,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """How often co-occurrence finds the intruder, in the questions that people would get.

    The answer is the option with the lowest mean normalised pointwise mutual information of
    document co-occurrence with the others (after Lau, Newman and Baldwin, EACL 2014), see
    `odd_one_out`.

    Parameters
    ----------
    workspace : Workspace
        A tree and the documents it was grown on.
    kinds : sequence of str
        ``phrase``, ``topic`` or both.
    questions : int
        About each topic; fewer where a topic has not so many different ones.
    seed : int
        Decides the questions.
    of : str
        ``phrases``, or ``words`` to compare with trees that have none.
    x : int
        Options of a question, the intruder among them: the paper's X.
    progress : Progress, optional
        Told how far it is.

    Returns
    -------
    dict
        `of`, `x`, `seed`, `draws`, and for each kind `accuracy`, `questions`, `topics`,
        `chance`, and the same again by level in `levels`, whose keys are text as in JSON.
        `accuracy` and `chance` are None where there is no question.
    """
    _check(kinds, questions, seed, x, of)
    lists, shards = _lists(workspace, of)
    listed = entries(workspace.tree, lists)
    drawn: dict[str, list[Question]] = {}
    for kind in kinds:
        random = np.random.default_rng([seed, KINDS.index(kind)])
        drawn[kind] = list(
            chain.from_iterable(islice(rounds(listed, kind, x - 1, random), questions))
        )
    wanted = sorted({item for some in drawn.values() for one in some for item in _items(one)})
    progress, documents = progress or Silent(), workspace.corpus.documents
    progress.stage(f"looking for intruders by {of}", documents, "documents")
    cooccurrences = count_meetings(shards, wanted, documents, progress)
    about = {"of": of, "x": x, "seed": seed, "draws": questions}
    return about | {kind: _summary(some, cooccurrences) for kind, some in drawn.items()}


def _check(kinds: Sequence[str], questions: int, seed: int, x: int, of: str) -> None:
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"kind {kind}: choose from {', '.join(KINDS)}")
    if of not in OF:
        raise UsageError(f"of {of}: choose from {', '.join(OF)}")
    if questions < 1 or x < 3 or seed < 0:
        raise UsageError("questions must be 1 or more, x 3 or more, seed not negative")


def _lists(workspace: Workspace, of: str) -> tuple[dict[str, list[int]], Iterator[csr_array]]:
    """Numbers of what stands for each topic, and documents by them."""
    tree = workspace.tree
    if of == "words":
        words = {topic.id: _words(workspace, topic.id) for topic in tree.values()}
        return words, (shard.counts for shard in workspace.corpus.shards())
    book = workspace.phrase_index
    units = {name: node.units for name, node in tree.nodes.items()}
    return units, (ref.open().counts for ref in book.refs)


def _words(workspace: Workspace, name: str) -> list[int]:
    tree = workspace.tree
    order = tree.order(tree.nodes[name])
    best: list[int] = order[tree[name].distribution[order] > 0][:WORDS].tolist()
    return best


def _items(question: Question) -> Iterator[int]:
    return (int(item) for option in question.options for item in option)


def _summary(questions: Sequence[Question], cooccurrences: Meetings) -> dict[str, Any]:
    credit = [_credit(one, cooccurrences) for one in questions]
    levels = sorted({one.level for one in questions})
    by_level = {
        str(level): _mean(
            (one, got) for one, got in zip(questions, credit, strict=True) if one.level == level
        )
        for level in levels
    }
    return _mean(zip(questions, credit, strict=True)) | {"levels": by_level}


def _mean(pairs: Iterable[tuple[Question, float]]) -> dict[str, Any]:
    held = list(pairs)
    return {
        "accuracy": float(np.mean([got for _, got in held])) if held else None,
        "chance": round(sum(1 / len(one.options) for one, _ in held) / len(held), 9)
        if held
        else None,
        "questions": len(held),
        "topics": len({one.topic for one, _ in held}),
    }


def _credit(question: Question, cooccurrences: Meetings) -> float:
    """1 if the intruder is found; a part of it if it is one of several with the lowest mean."""
    options = [tuple(map(int, option)) for option in question.options]
    lowest = odd_one_out(options, cooccurrences)
    return 1 / len(lowest) if question.answer in lowest else 0.0


def odd_one_out(options: Sequence[Sequence[int]], cooccurrences: Meetings) -> list[int]:
    """Which options go least with the others: one, or several that are equal.

    The mean over items a of the option and b of all other options of

    NPMI(a, b) = log(p_ab / (p_a p_b)) / -log p_ab,

    p being shares of documents; -1 where a and b never meet.
    """
    items = np.array([item for option in options for item in option])
    owner = np.repeat(np.arange(len(options)), [len(option) for option in options])
    values = cooccurrences.npmi(items)
    means = np.array(
        [values[np.ix_(owner == one, owner != one)].mean() for one in range(len(options))]
    ).round(_DIGITS)
    lowest: list[int] = np.flatnonzero(means == means.min()).tolist()
    return lowest
