"""Reading keys and answers: files that went through many hands."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strod.errors import InputError, UsageError
from strod.intrusion.questions import KINDS
from strod.intrusion.study import KEY, MOST, VERSION
from strod.store.files import read_given

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

__all__ = ["UNABLE", "Answers", "Asked", "Key", "find_key", "read_answers", "read_key"]

ANSWERS = "strod intrusion answers"
UNABLE = -1


@dataclass(frozen=True)
class Asked:
    """A question as the key has it."""

    method: int
    kind: str
    topic: str
    level: int
    options: int
    answer: int


@dataclass(frozen=True)
class Key:
    """The key of a study."""

    study: str
    methods: list[str]
    questions: list[Asked]


@dataclass(frozen=True)
class Answers:
    """Answers of a judge: number of the option, `UNABLE`, or None where there is none."""

    path: Path
    study: str
    judge: str
    answers: list[int | None]


def read_key(path: str | os.PathLike[str]) -> Key:
    """A key that `make` wrote."""
    path = Path(path)
    content = _content(path, KEY)
    try:
        methods = [_of(str, one["name"]) for one in _of(list, content["methods"])]
        questions = [_asked(one) for one in _of(list, content["questions"])]
        study = _of(str, content["study"])
        sound = all(0 <= one.method < len(methods) for one in questions)
    except (LookupError, TypeError) as error:
        raise _damaged(path) from error
    if not sound or not questions:
        raise _damaged(path)
    return Key(study, methods, questions)


def _asked(entry: dict[str, Any]) -> Asked:
    numbers = {name: _of(int, entry[name]) for name in ("method", "level", "options", "answer")}
    right = 0 <= numbers["answer"] < numbers["options"] <= MOST
    if entry["kind"] not in KINDS or not right:
        raise TypeError
    return Asked(kind=entry["kind"], topic=_of(str, entry["topic"]), **numbers)


def read_answers(path: str | os.PathLike[str], key: Key) -> Answers:
    """Answers that a page of the study of `key` saved."""
    path = Path(path)
    study, judge, given = _parts(path)
    if study != key.study:
        raise InputError(
            f"{path}: has answers to another study ({study}, the key is for {key.study})"
        )
    if len(given) != len(key.questions):
        raise _damaged(path)
    try:
        answers = list(starmap(_answer, zip(given, key.questions, strict=True)))
    except TypeError as error:
        raise _damaged(path) from error
    return Answers(path, study, judge, answers)


def _parts(path: Path) -> tuple[str, str, list[Any]]:
    content = _content(path, ANSWERS)
    try:
        judge = _of(str, content["judge"]).strip() or path.stem
        return _of(str, content["study"]), judge, _of(list, content["answers"])
    except (LookupError, TypeError) as error:
        raise _damaged(path) from error


def _answer(given: Any, question: Asked) -> int | None:
    if given is None:
        return None
    if given == "unable":
        return UNABLE
    if 0 <= _of(int, given) < question.options:
        return int(given)
    raise TypeError


def find_key(paths: Iterable[str | os.PathLike[str]]) -> Path:
    """The key of the first answers, beside them or in the current folder."""
    first = next(map(Path, paths), None)
    if first is None:
        raise UsageError("no answers; give one file or more")
    study, _, _ = _parts(first)
    for folder in (first.parent, Path()):
        for path in sorted(folder.glob("*.key.json")):
            try:
                if read_key(path).study == study:
                    return path
            except InputError:
                continue  # a key of something else
    raise UsageError(
        f"{first}: no key for its study ({study}) beside it or here; name it with `key`"
    )


def _content(path: Path, form: str) -> dict[str, Any]:
    """A JSON object of the right format and version."""
    what = "answers of a study" if form == ANSWERS else "a key"
    try:
        content = json.loads(read_given(path))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not a file with {what}, or it is damaged") from error
    if not isinstance(content, dict) or content.get("format") != form:
        raise InputError(f"{path}: is not a file with {what}")
    if content.get("version") != VERSION:
        raise InputError(f"{path}: was written by another version of strod")
    return content


def _damaged(path: Path) -> InputError:
    return InputError(f"{path}: is damaged; get the file again")


def _of(kind: type, value: Any) -> Any:
    """`value`, if it is of a kind; true and false are not numbers."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError
    return value
