"""Names and options of a build, from Python and on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import strod
from strod.errors import UsageError
from strod.phrases.options import PhraseOptions
from tests.conftest import strod as run
from tests.phrases.helpers import phrases_of
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.tree import Topic
    from strod.workspace.workspace import Workspace


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Three themes of three, with phrases of their own."""
    pairs = {"river": "marble fountain", "stone": "copper kettle", "cloud": "quality of service"}
    found = []
    for text in planted_texts(400):
        words = text.split()
        for theme, phrase in pairs.items():
            places = [i for i, word in enumerate(words) if word.startswith(theme)][1::6]
            for place in reversed(places):
                words.insert(place, phrase)
        found.append(" ".join(words))
    return found


def built(folder: Path, texts: list[str], **options: Any) -> Workspace:
    return strod.build(texts, out=folder / "w.strod", **{"children": 3, "height": 2} | options)


def test_the_namer_names_every_topic_but_the_root(texts: list[str], tmp_path: Path) -> None:
    asked: list[str] = []

    def namer(topic: Topic) -> str:
        assert topic.parent is not None
        assert topic.words
        assert topic.phrases
        assert topic.label
        asked.append(topic.path)
        return f"<{topic.path}> {topic.phrases[0][0]}"

    made = built(tmp_path, texts, namer=namer)
    assert asked == list(made.tree)[1:]
    assert len(asked) == 12
    for place, path in enumerate(asked):
        above = path.rpartition("/")[0]
        assert above == "o" or above in asked[:place]
    assert made.tree.root.label is None
    for topic in list(made.tree.values())[1:]:
        assert topic.label == f"<{topic.path}> {topic.phrases[0][0]}"
    assert made.check() == []
    outcome = run("show", made.path, "--json")
    shown = {topic["path"]: topic["label"] for topic in json.loads(outcome.out)["topics"]}
    assert shown == {path: topic.label for path, topic in made.tree.items()}


def test_names_without_a_namer(texts: list[str], tmp_path: Path) -> None:
    made = built(tmp_path, texts)
    assert made.tree.root.label is None
    for topic in made.tree.values():
        labels = [child.label for child in topic.children]
        assert len(set(labels)) == len(labels)
        for child in topic.children:
            assert child.label
            assert child.label.startswith(child.phrases[0][0])
    shown = json.loads(run("show", made.path, "--json").out)["topics"]
    assert [topic["label"] for topic in shown] == [topic.label for topic in made.tree.values()]
    assert [topic["phrases"] for topic in shown] == [
        [list(pair) for pair in topic.phrases] for topic in made.tree.values()
    ]


def test_a_namer_changes_names_alone(texts: list[str], tmp_path: Path) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
    one = built(tmp_path / "a", texts)
    other = built(tmp_path / "b", texts, namer=lambda topic: f"at {topic.path}")
    for path, topic in one.tree.items():
        assert topic.sha256 == other.tree[path].sha256
        assert topic.phrases == other.tree[path].phrases


def test_a_namer_that_fails_leaves_nothing(texts: list[str], tmp_path: Path) -> None:
    def namer(topic: Topic) -> str:
        raise ConnectionError(topic.path)

    with pytest.raises((ConnectionError, strod.StrodError)):
        built(tmp_path, texts, namer=namer)
    assert list(tmp_path.iterdir()) == []


def test_without_phrases_words_are_ranked(texts: list[str], tmp_path: Path) -> None:
    made = built(tmp_path, texts, phrases=False)
    assert phrases_of(made) == {}
    assert made.manifest.phrases.phrases == 0
    for topic in made.tree.values():
        assert topic.phrases
        assert not any(" " in text for text, _ in topic.phrases)
    assert {"marble", "copper"} & {t for topic in made.tree.values() for t, _ in topic.phrases}


def test_with_phrases_they_are_listed(texts: list[str], tmp_path: Path) -> None:
    made = built(tmp_path, texts, height=1)
    found = [{text for text, _ in topic.phrases} for topic in made.tree.root.children]
    for phrase in ("marble fountain", "copper kettle", "quality of service"):
        assert sum(phrase in listed for listed in found) == 1
    assert made.manifest.phrases.settings["phrase_min_count"] == "auto"


def test_workers_make_no_difference(texts: list[str], tmp_path: Path) -> None:
    lists = []
    for workers in (1, 3):
        out = tmp_path / f"{workers}.strod"
        made = strod.build(texts, out=out, children=3, height=2, workers=workers)
        lists.append([(topic.phrases, topic.label) for topic in made.tree.values()])
        assert made.manifest.phrases.sha256
    assert lists[0] == lists[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("phrase_min_count", 1),
        ("phrase_min_count", 0),
        ("phrase_min_count", -3),
        ("phrase_min_count", "many"),
        ("phrase_min_count", 2.5),
        ("phrase_min_count", None),
        ("phrase_min_count", True),
        ("phrase_threshold", -0.1),
        ("phrase_threshold", float("nan")),
        ("phrase_threshold", float("inf")),
        ("phrase_length", 1),
        ("phrase_length", 0),
        ("phrase_length", 101),
    ],
)
def test_bad_options_are_refused_in_one_line(name: str, value: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        strod.build(["a text"], out=tmp_path / "w.strod", **{name: value})
    message = str(error.value)
    assert name.replace("_", "-") in message.replace("_", "-")
    assert str(value) in message
    assert "\n" not in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--phrase-min-count", "1"],
        ["--phrase-min-count", "few"],
        ["--phrase-threshold", "-1"],
        ["--phrase-threshold", "high"],
        ["--phrase-length", "1"],
    ],
)
def test_bad_flags_are_refused_in_one_line(arguments: list[str], tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("some text")
    outcome = run("build", source, "--out", tmp_path / "w.strod", *arguments)
    assert outcome.code == 2
    (line,) = outcome.err.splitlines()
    assert arguments[0].removeprefix("--") in line.replace("_", "-")


def test_a_typing_error_in_an_option() -> None:
    wrong: dict[str, Any] = {"phrase_lenght": 3}  # a type checker would tell
    with pytest.raises(UsageError, match=r"unknown option 'phrase_lenght'.*phrase_length"):
        strod.build(["a text"], out="nowhere.strod", **wrong)


@pytest.mark.parametrize(
    ("tokens", "least"), [(0, 10), (10**6, 10), (8 * 10**6, 10), (22 * 10**6, 16), (10**9, 109)]
)
def test_the_least_count_grows_with_the_root(tokens: int, least: int) -> None:
    assert PhraseOptions().least(tokens) == least
    assert PhraseOptions(phrase_min_count=2).least(tokens) == 2
