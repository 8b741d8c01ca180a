"""How well people found the intruders, by tree and kind of question."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from strod.errors import InputError
from strod.intrusion.agreement import JudgeAgreement, agreement
from strod.intrusion.answers import UNABLE, Answers, Asked, Key, find_key, read_answers, read_key
from strod.intrusion.questions import KINDS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["Score", "score", "scores"]

ALL = "all"


@dataclass(frozen=True)
class Score:
    """Counts of answers.

    Attributes
    ----------
    judged : int
        Answers, those that said "unable to choose" too.
    chosen : int
        Answers that named an option.
    correct : int
        Answers that named the intruder.
    """

    judged: int
    chosen: int
    correct: int

    @property
    def precision(self) -> float | None:
        """Correct of those chosen; "unable to choose" does not lower it."""
        return self.correct / self.chosen if self.chosen else None

    @property
    def recall(self) -> float | None:
        """Correct of all judged; "unable to choose" lowers it."""
        return self.correct / self.judged if self.judged else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both: 2·correct / (chosen + judged)."""
        return 2 * self.correct / (self.chosen + self.judged) if self.judged else None

    def as_dictionary(self) -> dict[str, Any]:
        """Counts and measures."""
        measures = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return asdict(self) | measures


def score(
    answers: Sequence[str | os.PathLike[str]], key: str | os.PathLike[str] | None = None
) -> dict[str, Any]:
    """Score the answers of one or more judges.

    Parameters
    ----------
    answers : sequence of path
        Files that the page saved, one for each judge.
    key : path, optional
        What `make` wrote beside the page; looked for beside the first answers and in the
        current folder.

    Returns
    -------
    dict
        `study`, `judges`, `questions`, `unanswered` (by judge), `methods` (see `scores`), and
        `agreement` by kind.
    """
    known = read_key(find_key(answers) if key is None else key)
    given: list[Answers] = []
    for path in answers:
        one = read_answers(path, known)
        if one.judge in {other.judge for other in given}:
            raise InputError(f"{path}: has a second set of answers by {one.judge}; leave one out")
        given.append(one)
    table = np.array([_numbers(one) for one in given], dtype=np.int64)
    return {
        "study": known.study,
        "judges": [one.judge for one in given],
        "questions": len(known.questions),
        "unanswered": {one.judge: one.answers.count(None) for one in given},
        "methods": scores(known, table),
        "agreement": _agreements(known, table),
    }


_OPEN = -2  # no answer


def _numbers(answers: Answers) -> list[int]:
    return [_OPEN if one is None else one for one in answers.answers]


def scores(key: Key, answers: NDArray[np.int64]) -> dict[str, dict[str, Any]]:
    """By method and kind: pooled over judges, and where all judges say the same.

    Parameters
    ----------
    key : Key
        The questions.
    answers : ndarray of int, shape (judges, questions)
        Number of the option, -1 for unable to choose, -2 for no answer.

    Returns
    -------
    dict
        By method, then by kind (``phrase``, ``topic``, ``all``): `questions`, `chance` (what
        guessing would get right), a `Score` of all answers as a dictionary, and `consistent`:
        a `Score` of the questions that all judges answered, chosen where all name the same
        option. With one judge both are the same but for questions without an answer.
    """
    result: dict[str, dict[str, Any]] = {name: {} for name in key.methods}
    for (number, name), kind in product(enumerate(key.methods), (*KINDS, ALL)):
        places = _places(key.questions, _is_of(number, kind))
        asked = [key.questions[place] for place in places]
        right = np.array([one.answer for one in asked], dtype=np.int64)
        part = answers[:, places]
        result[name][kind] = {
            "questions": len(asked),
            "chance": _chance(asked),
            **_pooled(part, right).as_dictionary(),
            "consistent": _consistent(part, right).as_dictionary(),
        }
    return result


def _chance(asked: Sequence[Asked]) -> float | None:
    return round(sum(1 / one.options for one in asked) / len(asked), 9) if asked else None


def _is_of(method: int | None, kind: str) -> Callable[[Asked], bool]:
    return lambda one: method in {None, one.method} and kind in {ALL, one.kind}


def _places(questions: Iterable[Asked], wanted: Callable[[Asked], bool]) -> list[int]:
    return [place for place, one in enumerate(questions) if wanted(one)]


def _pooled(answers: NDArray[np.int64], right: NDArray[np.int64]) -> Score:
    """Each answer of each judge counts once."""
    return Score(
        int((answers != _OPEN).sum()), int((answers >= 0).sum()), int((answers == right).sum())
    )


def _consistent(answers: NDArray[np.int64], right: NDArray[np.int64]) -> Score:
    """Each question counts once: judges who differ choose nothing."""
    complete = (answers != _OPEN).all(axis=0)
    same = complete & (answers == answers[0]).all(axis=0) & (answers[0] != UNABLE)
    return Score(int(complete.sum()), int(same.sum()), int((same & (answers[0] == right)).sum()))


def _agreements(key: Key, answers: NDArray[np.int64]) -> dict[str, dict[str, Any]]:
    widest = max(one.options for one in key.questions)
    # The last answer is "unable to choose", for -1 counts from the end.
    votes = np.zeros((len(key.questions), widest + 1), dtype=np.int64)
    judges, places = np.nonzero(answers != _OPEN)
    np.add.at(votes, (places, answers[judges, places]), 1)
    found: dict[str, JudgeAgreement] = {
        kind: agreement(votes[_places(key.questions, _is_of(None, kind))]) for kind in (*KINDS, ALL)
    }
    return {kind: asdict(one) for kind, one in found.items()}
