"""The page in a browser."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest
from playwright.sync_api import expect

import strod as package
from strod import pages
from strod.intrusion import make, score
from tests.browser import opened
from tests.conftest import strod
from tests.intrusion.test_make import HOSTILE
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser as Chromium

    from strod.intrusion import Made
    from tests.browser import Browser

TEXTS = "#count, #ask, #above bdi, #above b, .option bdi, kbd, button, .unable span"
PHRASE, TOPIC = "does not belong", "not a part of the topic"


@pytest.fixture
def study(tree_workspace: Path, tmp_path: Path) -> Made:
    """Four questions of each kind."""
    return make([tree_workspace], tmp_path / "study.html", questions=4)


def state(browser: Browser, study: Made) -> dict[str, Any]:
    """What the browser keeps."""
    kept: dict[str, Any] = json.loads(
        browser.page.evaluate(f"localStorage.getItem('strod-intrusion-{study.study}')")
    )
    return kept


def pressed(browser: Browser) -> list[int]:
    """Which options are chosen, 0 being unable."""
    found: list[int] = browser.page.evaluate(
        "[...document.querySelectorAll('.option[aria-pressed=true] kbd')].map(k => +k.innerText)"
    )
    return found


def begin(browser: Browser, study: Made, judge: str = "Ann") -> None:
    browser.open(study.page)
    browser.page.keyboard.insert_text(judge)
    browser.press("Enter")


def test_answer_reload_save_and_score(browser: Browser, study: Made) -> None:
    key = json.loads(study.key.read_text())["questions"]
    right = [one["answer"] for one in key]
    browser.open(study.page)
    assert browser.page.is_visible("#intro")
    browser.press("Enter")  # nothing without a name
    assert browser.page.is_visible("#intro")
    browser.page.keyboard.insert_text("Ann <b>&")
    browser.press("Enter")
    assert browser.page.inner_text("#count") == "Question 1 of 8, 0 answered"
    assert PHRASE in browser.page.inner_text("#ask")

    browser.press(str(right[0] + 1))  # by key
    assert pressed(browser) == [right[0] + 1]
    browser.page.reload()  # at once: a choice is kept when it is made
    expect(browser.page.locator(".option[aria-pressed=true] kbd")).to_have_text(str(right[0] + 1))
    browser.press("Enter")
    browser.page.click(f".option:nth-child({right[1] + 1})")  # by mouse
    assert pressed(browser) == [right[1] + 1]
    browser.press("Enter")  # on what is chosen: goes on
    assert browser.page.inner_text("#count") == "Question 3 of 8, 2 answered"
    browser.press("u", "ArrowRight", "0", "1", "0", "ArrowRight")
    browser.press("ArrowLeft")
    assert pressed(browser) == [0]
    browser.page.click("#next")

    browser.page.reload()  # as if the tab had been closed
    expect(browser.page.locator("#count")).to_have_text("Question 5 of 8, 4 answered")
    assert TOPIC in browser.page.inner_text("#ask")
    assert browser.page.is_visible("#above")
    browser.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert pressed(browser) == [right[1] + 1]
    browser.press("ArrowRight", "ArrowRight", "ArrowRight")
    wrong = (right[4] + 1) % key[4]["options"]
    browser.press(str(wrong + 1), "9", "ArrowRight")  # there is no ninth
    browser.press(str(right[5] + 1), "ArrowRight", "ArrowRight")  # the seventh is left out
    browser.press(str(right[7] + 1), "Enter")
    assert "1 of 8 questions are still open" in browser.page.inner_text("#left")
    browser.page.click("#missing")
    assert browser.page.inner_text("#count") == "Question 7 of 8, 7 answered"
    browser.page.click("#unable")
    browser.press("ArrowRight", "ArrowRight")
    assert "Thank you" in browser.page.inner_text("#done")

    name, saved = browser.download("#save")
    assert name == "answers-Ann-b.json"
    assert json.loads(saved.read_text()) == {
        "format": "strod intrusion answers", "version": 1, "study": study.study,
        "judge": "Ann <b>&",
        "answers": [right[0], right[1], "unable", "unable", wrong, right[5], "unable", right[7]],
    }  # fmt: skip
    found = score([saved], study.key)["methods"]["tree"]
    assert [found["phrase"][name] for name in ("judged", "chosen", "correct")] == [4, 2, 2]
    assert [found["topic"][name] for name in ("judged", "chosen", "correct")] == [4, 3, 2]
    assert strod("intrusion", "score", saved, "--key", study.key).code == 0
    assert browser.requests == [study.page.as_uri()] * 3  # opened, loaded again twice; nothing else
    assert browser.problems == []


def test_another_judge_begins_anew(browser: Browser, study: Made) -> None:
    begin(browser, study)
    browser.press("1", *["ArrowRight"] * 8)
    browser.page.click("#other")  # and the question whether to is answered with yes
    assert browser.page.is_visible("#intro")
    kept = state(browser, study)
    assert kept.pop("turn") == 11  # a name, a choice, eight steps, and this
    assert kept == {"judge": "", "at": -1, "answers": [None] * 8}


def test_going_back_to_the_beginning_keeps_the_answers(browser: Browser, study: Made) -> None:
    begin(browser, study)
    browser.press("2", "ArrowLeft")
    assert browser.page.is_visible("#intro")
    assert browser.page.inner_text("#begin") == "Go on"
    browser.press("Enter")
    assert (
        browser.page.inner_text("#count") == "Question 2 of 8, 1 answered"
    )  # the first that is open


@pytest.mark.parametrize(
    "kept", ["{", "[]", '{"answers": [9, -1, "x", null, 0.5, {}, 1], "at": 99, "judge": 3}']
)
def test_what_was_kept_may_be_anything(browser: Browser, study: Made, kept: str) -> None:
    place = f"strod-intrusion-{study.study}"
    browser.page.add_init_script(f"localStorage.setItem({place!r}, {json.dumps(kept)})")
    browser.open(study.page)
    begin_again = browser.page.evaluate("document.getElementById('intro').hidden")
    if begin_again:  # "at": 99 is the end
        assert "7 of 8 questions are still open" in browser.page.inner_text("#left")
    browser.press("ArrowLeft") if begin_again else browser.page.keyboard.insert_text("Bob")
    browser.press("Enter")
    assert browser.problems == []


def test_hostile_text_is_only_text(browser: Browser, tmp_path: Path) -> None:
    texts = [text for text in HOSTILE if text.strip()]
    question = {"kind": "topic", "above": texts, "options": [[text] for text in texts]}
    file = tmp_path / "hostile.html"
    file.write_text(pages.page("study", study="abc", questions=[question]), encoding="utf-8")
    browser.open(file)
    browser.page.keyboard.insert_text("<script>alert(1)</script>")
    browser.press("Enter")
    shown = "[...document.querySelectorAll('#options bdi')].map(e => e.textContent)"
    assert browser.page.evaluate(shown) == texts
    assert browser.page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert browser.requests == [file.as_uri()]
    assert browser.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_it_can_be_read_everywhere(
    chromium: Chromium, study: Made, width: int, scheme: Literal["light", "dark"]
) -> None:
    """Nothing is cut off, and text stands out from what is behind it (WCAG: 4.5 to 1)."""
    with opened(chromium, width, 800, scheme) as browser:
        begin(browser, study)
        for _ in range(5):
            browser.press("2")
            assert browser.page.evaluate("document.documentElement.scrollWidth") <= width
            assert browser.contrast(TEXTS) >= 4.5
            browser.press("ArrowRight")


def test_trees_without_phrases_show_words(browser: Browser, tmp_path: Path) -> None:
    out = tmp_path / "w.strod"
    package.build(planted_texts(200), out=out, children=3, height=1, phrases=False, workers=1)
    made = make([out], tmp_path / "study.html", questions=2)
    assert made.questions == {"w": {"phrase": 2, "topic": 0}}
    begin(browser, made)
    assert browser.page.evaluate("document.querySelectorAll('#options button').length") == 4


@pytest.mark.parametrize("lost", ["{}", None])
def test_answers_survive_without_the_storage(
    browser: Browser, study: Made, lost: str | None
) -> None:
    """A page that is loaded again at once may find the storage of before, or an empty one."""
    place = f"strod-intrusion-{study.study}"
    begin(browser, study)
    browser.press("2", "Enter")
    browser.page.add_init_script(
        f"localStorage.{'clear()' if lost is None else f'setItem({place!r}, {lost!r})'}"
    )
    browser.page.reload()
    expect(browser.page.locator("#count")).to_have_text("Question 2 of 8, 1 answered")


def test_a_second_tab_follows(browser: Browser, study: Made) -> None:
    begin(browser, study)
    other = browser.page.context.new_page()
    other.goto(study.page.as_uri())
    expect(other.locator("#count")).to_have_text("Question 1 of 8, 0 answered")
    browser.press("1", "Enter")
    expect(other.locator("#count")).to_have_text("Question 2 of 8, 1 answered")
