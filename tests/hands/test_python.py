"""Python tells as much as the command line does."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import strod
from strod.errors import StrodWarning, UsageError
from strod.extras import EXTRAS, install
from strod.workspace.assign import assign_new

if TYPE_CHECKING:
    from strod.workspace.workspace import Workspace

TEXTS = ["clouda cloudb cloudc", "stonea stoneb stonec"]


def test_rows_that_are_left_out(tmp_path: Path) -> None:
    texts = [f"river stone cloud item{n}" if n % 2 else None for n in range(10)]
    frame = pd.DataFrame({"text": texts})
    reasons = r"left out 5 documents of 10: 5 with .*: source 1:1, source 1:3, source 1:5, …$"
    with pytest.warns(StrodWarning, match=reasons) as told:
        built = strod.build(frame, out=tmp_path / "w.strod", language="none")
    assert told[0].filename == __file__
    with pytest.warns(
        StrodWarning, match=r"left out 1 document of 2: 1 with empty document"
    ) as told:
        assert built.add(["river", ""]).rejected == 1
    assert told[0].filename == __file__
    with pytest.warns(StrodWarning, match=r"no answer for 1 document of 2: 1 with no text field"):
        assert len(list(built.assign(pd.DataFrame({"text": ["river stone", None]})))) == 1


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_where_nothing_is_lost(workspace: Workspace, tmp_path: Path) -> None:
    assert len(list(workspace.assign([*TEXTS, "unheardof"]))) == 3
    strod.build(TEXTS, out=tmp_path / "b.strod")


@pytest.mark.parametrize(
    "source",
    [
        TEXTS, tuple(TEXTS), [{"text": text} for text in TEXTS], pd.Series(TEXTS),
        pd.DataFrame({"text": TEXTS}), [TEXTS], [pd.Series(TEXTS)], iter(TEXTS),
    ],
    ids=["list", "tuple", "records", "series", "frame", "lists", "list of series", "iterator"],
)  # fmt: skip
def test_texts_as_in_build(workspace: Workspace, source: Any) -> None:
    rows = list(assign_new(workspace, source))
    assert [row["leaf"][:3] for row in rows] == [
        next(row["leaf"][:3] for row in workspace.assign([text])) for text in TEXTS
    ]


def test_several_sources(workspace: Workspace) -> None:
    assert len(list(workspace.assign(TEXTS, pd.Series(TEXTS)))) == 4
    assert len(list(workspace.assign())) == workspace.corpus.documents


@pytest.mark.parametrize(
    ("source", "phrase"),
    [
        ("some text", "some text: no such file or folder; texts are given in a list"),
        (7, "int is no source of documents: give paths, strings"),
        ({"text": "x"}, "dict is no source of documents"),
        (None, "NoneType is no source of documents"),
    ],
)
def test_what_to_give(workspace: Workspace, source: Any, phrase: str) -> None:
    with pytest.raises(strod.StrodError, match=phrase):
        workspace.assign(source)


def test_unknown_words_only(workspace: Workspace) -> None:
    known, unknown = workspace.assign([TEXTS[0], "unheardof"])
    assert known["known"] == 3
    assert known["fit"] > unknown["fit"]
    assert (unknown["leaf"], unknown["known"]) == (None, 0)
    assert unknown["topics"]


@pytest.mark.parametrize(
    ("verb", "arguments", "meant"),
    [
        ("expand", {"topic": "o/1", "childen": 3}, "children"),
        ("rename", {"topic": "o/1", "label": "x", "nota": "y"}, "note"),
        ("undo", {"dryrun": True}, "dry_run"),
        (
            "collapse",
            {"topic": "o/1", "zzz": 1},
            "dry_run, engine, note, prepared, progress, workers",
        ),
    ],
)
def test_unknown_keywords(
    workspace: Workspace, verb: str, arguments: dict[str, Any], meant: str
) -> None:
    *_, wrong = arguments
    told = rf"^{verb}: unknown option '{wrong}'; do you mean {meant}\?$"
    with pytest.raises(UsageError, match=told):
        getattr(workspace, verb)(**arguments)


WRONG: dict[str, Any] = {"text_feld": "body"}  # a type checker would tell


def test_unknown_keywords_of_sources(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="unknown option 'text_feld'; do you mean text_field"):
        workspace.assign(TEXTS, **WRONG)
    with pytest.raises(UsageError, match="unknown option 'text_feld'; do you mean text_field"):
        workspace.add(TEXTS, **WRONG)
    (row,) = workspace.assign([{"body": TEXTS[0]}], text_field="body")  # one name will do
    assert row["leaf"]


def test_topics(workspace: Workspace) -> None:
    tree = workspace.tree
    with pytest.raises(KeyError) as why:
        tree["o/9"]
    assert str(why.value).startswith(f"o/9: no such topic; o has o/1 ({tree['o/1'].label}), o/2 (")
    assert str(len(tree) - 1) in repr(workspace)  # as the command line counts them


def test_what_a_change_did(workspace: Workspace) -> None:
    one, two = workspace.tree["o/1"], workspace.tree["o/2"]
    change = workspace.merge("o/1", "o/2")
    [new] = change.added
    assert change.gone == {one.id: ("o/1", one.label), two.id: ("o/2", two.label)}
    assert sorted(change.joined[new]) == sorted([one.id, two.id])
    assert change.paths[new] == "o/4"
    assert "o/1/1" in {old for old, _ in change.moved.values()}


def test_extras_are_those_of_the_package() -> None:
    """The commands name the packages themselves, so that they work wherever strod came from."""
    project = Path(__file__).parents[2] / "pyproject.toml"
    declared = tomllib.loads(project.read_text())["project"]["optional-dependencies"]
    for extra, packages in EXTRAS.items():
        assert list(packages) == declared[extra]
        assert all(f"'{package}'" in install(extra) for package in packages)
