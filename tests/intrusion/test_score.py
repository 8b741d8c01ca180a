"""Scores and the files they come from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from strod.errors import InputError, UsageError
from strod.intrusion import Score, score
from tests.conftest import check_error, strod

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Method, kind, number of options, intruder.
QUESTIONS = [(0, "phrase", 5, 4), (0, "phrase", 5, 0), (1, "phrase", 5, 2), (0, "topic", 4, 3),
             (1, "topic", 3, 1), (1, "topic", 4, 0)]  # fmt: skip
ANN = [4, 0, "unable", 3, 1, None]
BOB = [4, 1, "unable", 3, 0, 0]


def key_of(study: str = "abc") -> dict[str, Any]:
    names = ("method", "kind", "options", "answer")
    return {
        "format": "strod intrusion key", "version": 1, "study": study,
        "methods": [{"name": "ours"}, {"name": "theirs"}],
        "questions": [dict(zip(names, one, strict=True)) | {"topic": "o/1", "level": 1}
                      for one in QUESTIONS],
    }  # fmt: skip


def answers_of(judge: str, answers: list[Any], study: str = "abc") -> dict[str, Any]:
    about = {"format": "strod intrusion answers", "version": 1}
    return about | {"study": study, "judge": judge, "answers": answers}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A key and the answers of two judges."""
    (tmp_path / "study.key.json").write_text(json.dumps(key_of()))
    (tmp_path / "ann.json").write_text(json.dumps(answers_of("Ann", ANN)))
    (tmp_path / "bob.json").write_text(json.dumps(answers_of("Bob", BOB)))
    return tmp_path


def measures(found: dict[str, Any]) -> tuple[Any, ...]:
    names = ("judged", "chosen", "correct", "precision", "recall", "f1")
    return tuple(found[name] for name in names)


def test_by_hand(folder: Path) -> None:
    found = score([folder / "ann.json", folder / "bob.json"])
    assert found["judges"] == ["Ann", "Bob"]
    assert found["unanswered"] == {"Ann": 1, "Bob": 0}
    ours, theirs = found["methods"]["ours"], found["methods"]["theirs"]
    assert measures(ours["phrase"]) == (4, 4, 3, 0.75, 0.75, 0.75)
    assert measures(ours["topic"]) == (2, 2, 2, 1, 1, 1)
    assert measures(ours["all"]) == (6, 6, 5, 5 / 6, 5 / 6, 5 / 6)
    assert measures(theirs["phrase"]) == (2, 0, 0, None, 0, 0)  # nobody could choose
    assert measures(theirs["topic"]) == (3, 3, 2, 2 / 3, 2 / 3, 2 / 3)
    # Recall 2 of 5, precision 2 of 3: "unable to choose" lowers one of them only.
    assert measures(theirs["all"]) == pytest.approx((5, 3, 2, 2 / 3, 2 / 5, 1 / 2))
    assert [ours[kind]["questions"] for kind in ("phrase", "topic", "all")] == [2, 1, 3]
    assert ours["all"]["chance"] == pytest.approx((1 / 5 + 1 / 5 + 1 / 4) / 3)


def test_where_all_judges_say_the_same(folder: Path) -> None:
    found = score([folder / "ann.json", folder / "bob.json"])["methods"]
    # ours: 4 and 4, 0 and 1, 3 and 3; theirs: unable twice, 1 and 0, one answer only.
    assert measures(found["ours"]["all"]["consistent"]) == pytest.approx((3, 2, 2, 1, 2 / 3, 4 / 5))
    assert measures(found["theirs"]["all"]["consistent"]) == (2, 0, 0, None, 0, 0)


def test_agreement_by_hand(folder: Path) -> None:
    """AA, BC, uu, DD, BA and one left out: P = 3/5.

    Of ten answers 4 twice, 0 twice, 1 twice, unable twice, 3 twice: P_e = 5·(1/5)² = 1/5, κ = 1/2.
    """
    found = score([folder / "ann.json", folder / "bob.json"])["agreement"]
    assert found["all"] == {
        "questions": 5,
        "percent": pytest.approx(3 / 5),
        "kappa": pytest.approx(1 / 2),
    }
    assert found["topic"]["questions"] == 2


def test_one_judge(folder: Path) -> None:
    found = score([folder / "ann.json"])
    assert found["agreement"]["all"] == {"questions": 0, "percent": None, "kappa": None}
    for kinds in found["methods"].values():
        for kind in kinds.values():
            assert measures(kind) == measures(kind["consistent"])


def test_f1_is_the_harmonic_mean() -> None:
    one = Score(judged=10, chosen=8, correct=6)
    assert one.precision == 6 / 8
    assert one.recall == 6 / 10
    assert one.f1 == pytest.approx(2 * (6 / 8) * (6 / 10) / (6 / 8 + 6 / 10))
    assert Score(0, 0, 0).as_dictionary()["f1"] is None


def damage(change: Callable[[dict[str, Any]], object]) -> str:
    content = answers_of("Cy", list(ANN))
    change(content)
    return json.dumps(content)


DAMAGED = {
    "nothing": "", "half": damage(dict.copy)[:-20], "list": "[]", "number": "3",
    "binary": "\x00\x01", "deep": "[" * 100_000,
    "other file": json.dumps(key_of()),
    "version": damage(lambda c: c.update(version=2)),
    "no judge": damage(lambda c: c.pop("judge")),
    "judge": damage(lambda c: c.update(judge=["Cy"])),
    "study": damage(lambda c: c.update(study=None)),
    "answers": damage(lambda c: c.update(answers={})),
    "too few": damage(lambda c: c["answers"].pop()),
    "too many": damage(lambda c: c["answers"].append(0)),
    "no option": damage(lambda c: c["answers"].__setitem__(3, 4)),
    "negative": damage(lambda c: c["answers"].__setitem__(0, -1)),
    "true": damage(lambda c: c["answers"].__setitem__(0, True)),
    "text": damage(lambda c: c["answers"].__setitem__(0, "4")),
    "half a number": damage(lambda c: c["answers"].__setitem__(0, 1.5)),
    "another study": json.dumps(answers_of("Cy", ANN, "xyz")),
}  # fmt: skip


def test_a_file_of_another_kind_and_one_that_is_not_there(folder: Path) -> None:
    page = folder / "study.html"
    page.write_text("<!doctype html>")
    wrong = strod("intrusion", "score", folder / "ann.json", page)
    check_error(wrong, f"{page}: is not a file with answers of a study, or it is damaged")
    gone = folder / "gone.json"
    check_error(strod("intrusion", "score", folder / "ann.json", gone), f"{gone}: no such file")


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_answers_are_refused_by_name(folder: Path, name: str) -> None:
    bad = folder / "bad.json"
    bad.write_text(DAMAGED[name])
    outcome = strod("intrusion", "score", folder / "ann.json", bad)
    check_error(outcome, f"{bad}: ")
    if name == "another study":
        assert "another study (xyz, the key is for abc)" in outcome.err


@pytest.mark.parametrize(
    ("where", "value"),
    [("answer", 5), ("answer", -1), ("method", 2), ("kind", "word"), ("options", None)],
)
def test_damaged_keys_are_refused_by_name(folder: Path, where: str, value: Any) -> None:
    content = key_of()
    content["questions"][0][where] = value
    key = folder / "other.json"
    key.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"other\.json: is damaged"):
        score([folder / "ann.json"], key)


def test_the_key_is_found_or_named(folder: Path, tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (folder / "a.key.json").write_text("{}")  # not a key
    moved = (folder / "ann.json").rename(away / "ann.json")
    with pytest.raises(UsageError, match="no key for its study"):
        score([moved])
    (away / "x.key.json").write_text(json.dumps(key_of("xyz")))
    with pytest.raises(UsageError, match="no key for its study"):
        score([moved])
    assert score([moved], folder / "study.key.json")["judges"] == ["Ann"]
    assert score([folder / "bob.json", moved])["judges"] == ["Bob", "Ann"]
    with pytest.raises(InputError, match="another study"):
        score([moved], away / "x.key.json")
    with pytest.raises(UsageError, match="no answers"):
        score([])
    with pytest.raises(InputError, match="missing"):
        score([folder / "missing.json"])


def test_two_files_of_one_judge(folder: Path) -> None:
    (folder / "again.json").write_text(json.dumps(answers_of(" Ann ", BOB)))
    with pytest.raises(InputError, match=r"again\.json: has a second set of answers by Ann"):
        score([folder / "ann.json", folder / "again.json"])


def test_the_command(folder: Path) -> None:
    paths = [folder / "ann.json", folder / "bob.json"]
    outcome = strod("intrusion", "score", *paths, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == json.loads(json.dumps(score(paths)))
    lines = strod("intrusion", "score", *paths).out.splitlines()
    assert lines[0] == "6 questions, 2 judges: Ann, Bob"
    assert "  Ann left 1 unanswered; they are not counted" in lines
    assert ["theirs", "all", "3", "5", "3", "2", "0.667", "0.400", "0.500", "0.000", "0.261"] in [
        line.split() for line in lines
    ]
    assert '"unable to choose" lowers recall, not precision' in lines
    assert ["all", "5", "60.0%", "0.500"] in [line.split() for line in lines]
