"""A study for people: questions from several trees on one page, and the key to it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from strod import pages
from strod.errors import UsageError
from strod.export.files import write_file
from strod.intrusion.questions import KINDS, Question, entries, rounds
from strod.wording import plain
from strod.workspace.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["KEY", "VERSION", "Made", "key_path", "make"]

KEY, VERSION = "strod intrusion key", 1
MOST = 9  # keys that choose
QUESTIONS = 10
_WHY = {
    "phrase": "too few topics with siblings and enough phrases",
    "topic": "too few topics of one level with children",
}


@dataclass
class Made:
    """What `make` wrote.

    Attributes
    ----------
    study : str
        Digest of the questions: the page, the key and the answers carry it.
    page, key : Path
        The files.
    questions : dict
        How many of each kind, by name of the tree.
    notes : list of str
        Which trees gave fewer questions than were asked for, and whether corpora differ.
    """

    study: str
    page: Path
    key: Path
    questions: dict[str, dict[str, int]]
    notes: list[str] = field(default_factory=list)


def make(
    workspaces: Sequence[Workspace | str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    questions: int = QUESTIONS,
    seed: int = 0,
    x: int = 4,
    overwrite: bool = False,
) -> Made:
    """Write a page with questions about several trees, and its key.

    Parameters
    ----------
    workspaces : sequence of Workspace or path
        The trees; equally many questions are drawn from each.
    out : path
        The page, ``NAME.html``; the key goes to ``NAME.key.json`` beside it.
    questions : int
        Of each kind from each tree.
    seed : int
        Decides the questions and their order.
    x : int
        Options of a question, the intruder among them: the paper's X.
    overwrite : bool
        Whether an old page and key may be replaced.
    """
    _check(questions, seed, x)
    opened = [one if isinstance(one, Workspace) else Workspace(one) for one in workspaces]
    names = _names([one.path for one in opened])
    target = Path(out)
    paths = _targets(target, opened, overwrite=overwrite)
    drawn = [
        _drawn(workspace, number, questions, seed, x) for number, workspace in enumerate(opened)
    ]
    counts = {
        name: {kind: sum(one.kind == kind for one in found) for kind in KINDS}
        for name, found in zip(names, drawn, strict=True)
    }
    notes = _notes(counts, questions)
    if len({one.corpus.sha256 for one in opened}) > 1:
        notes.append("the trees are of different corpora: scores will tell these apart as well")
    order = _shuffled(drawn, seed)
    shown = [_shown(question) for _, question in order]
    study = sha256(json.dumps(shown).encode()).hexdigest()[:12]
    key = _key(study, names, opened, order, {"seed": seed, "x": x, "questions": questions})
    text = json.dumps(key, ensure_ascii=False, indent=1) + "\n"
    html = pages.page("study", study=study, questions=shown)
    write_file(paths[1], lambda: text, overwrite=overwrite)
    write_file(paths[0], lambda: html, overwrite=overwrite)
    return Made(study, paths[0], paths[1], counts, notes)


def key_path(page: Path) -> Path:
    """Where the key of a page lies."""
    return page.with_name(page.name.removesuffix(".html") + ".key.json")


def _check(questions: int, seed: int, x: int) -> None:
    if questions < 1:
        raise UsageError(f"`questions` {questions}: must be 1 or more")
    if not 3 <= x <= MOST:
        raise UsageError(f"`x` {x}: must be from 3 to {MOST}")
    if seed < 0:
        raise UsageError(f"`seed` {seed}: must not be negative")


def _names(paths: list[Path]) -> list[str]:
    """Names of the trees: of their folders, with more of the path where two are the same."""
    if not paths:
        raise UsageError("no workspace; give one or more")
    real = [path.resolve() for path in paths]
    for number, path in enumerate(real):
        if path in real[:number]:
            raise UsageError(f"{paths[number]}: is given twice")
    for parts in range(1, max(len(path.parts) for path in real) + 1):
        names = ["/".join(path.parts[-parts:]).removesuffix(".strod") for path in real]
        if len(set(names)) == len(names):
            return names
    return [path.name for path in real]  # x and x.strod


def _targets(target: Path, opened: list[Workspace], *, overwrite: bool) -> tuple[Path, Path]:
    """Page and key; both are checked before either is written."""
    for workspace in opened:
        if target.resolve().is_relative_to(workspace.path.resolve()):
            raise UsageError(f"{target}: is inside a workspace; write somewhere else")
    paths = target, key_path(target)
    for path in paths:
        if os.path.lexists(path) and not overwrite:
            raise UsageError(f"{path}: exists already; give another name or `overwrite`")
    return paths


def _drawn(workspace: Workspace, number: int, questions: int, seed: int, x: int) -> list[Question]:
    """Questions of both kinds from a tree."""
    tree = workspace.tree
    texts = {
        topic.id: [plain(text) for text, _ in topic.phrases]
        or [plain(word) for word, _ in topic.words]
        for topic in tree.values()
    }
    listed = entries(tree, texts)
    found: list[Question] = []
    for place, kind in enumerate(KINDS):
        random = np.random.default_rng([seed, number, place])
        found += islice(chain.from_iterable(rounds(listed, kind, x - 1, random)), questions)
    if not found:
        raise UsageError(
            f"{workspace.path}: no question can be drawn from so small a tree; "
            "leave it out or build it with more `children`"
        )
    return found


def _notes(counts: dict[str, dict[str, int]], questions: int) -> list[str]:
    return [
        f"{name}: {found[kind]} of {questions} {kind} questions: {_WHY[kind]}"
        for name, found in counts.items()
        for kind in KINDS
        if found[kind] < questions
    ]


def _shuffled(drawn: list[list[Question]], seed: int) -> list[tuple[int, Question]]:
    """Number of the tree and question: one kind after the other, trees mixed."""
    random = np.random.default_rng(seed)
    order: list[tuple[int, Question]] = []
    for kind in KINDS:
        some = [
            (tree, one) for tree, found in enumerate(drawn) for one in found if one.kind == kind
        ]
        order += [some[place] for place in random.permutation(len(some))]
    return order


def _shown(question: Question) -> dict[str, Any]:
    """What a judge sees of a question."""
    return {
        "kind": question.kind,
        "above": list(question.above),
        "options": [list(option) for option in question.options],
    }


def _key(
    study: str,
    names: list[str],
    opened: list[Workspace],
    order: list[tuple[int, Question]],
    settings: dict[str, int],
) -> dict[str, Any]:
    return {
        "format": KEY,
        "version": VERSION,
        "study": study,
        "settings": settings,
        "methods": [
            {
                "name": name,
                "corpus": one.corpus.sha256,
                "revision": one.manifest.tree.history[-1],
            }
            for name, one in zip(names, opened, strict=True)
        ],
        "questions": [
            {
                "method": tree,
                "kind": question.kind,
                "topic": question.topic,
                "level": question.level,
                "options": len(question.options),
                "answer": question.answer,
            }
            for tree, question in order
        ],
    }
