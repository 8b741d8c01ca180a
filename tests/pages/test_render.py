"""Templates: text stays text, and what is missing is an error."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import UndefinedError

from strod import pages

ASSETS = [one.name for one in (files("strod.pages") / "templates").iterdir()]


def rows(levels: int, name: str = "x") -> list[dict[str, Any]]:
    """A tree in which each topic has one child."""
    topics = [
        SimpleNamespace(path="o" + "/1" * n, level=n, weight=1.0, children=[0] * (n < levels - 1))
        for n in range(levels)
    ]
    return [{"topic": topic, "name": name, "texts": ["a", name]} for topic in topics]


def test_text_is_escaped() -> None:
    text = pages.part("notebook", rows=rows(1, "<b>&\"'\x07"))
    assert "<b>" not in text
    assert text.count("&lt;b&gt;&amp;&#34;&#39;\ufffd") == 2


def test_what_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="study"):
        pages.page("study", questions=[])


def test_no_tree_is_too_deep() -> None:
    text = pages.part("notebook", rows=rows(5000))
    assert text.count("<details") == text.count("</details>") == 4999
    assert text.count("<div") == text.count("</div>") == 2


@pytest.mark.parametrize("text", ["</script>", "<!--<script>", "\u2028\u2029", "\ud800", "'&\""])
def test_data_cannot_end_its_script(text: str) -> None:
    page = pages.page("study", study="s", questions=[text])
    data = page.partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(data) == {"study": "s", "questions": [text]}
    assert not set("<>&'\u2028\u2029\ud800") & set(data)


def test_the_policy_knows_style_and_script_by_their_digests() -> None:
    page = pages.page("study", study="s", questions=[])
    policy = re.findall('Content-Security-Policy" content="(.*?)">', page)[0]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert rules[rule] == f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("name", [name for name in ASSETS if not name.endswith(".html")])
def test_styles_and_scripts_stay_inside_their_element(name: str) -> None:
    text = (files("strod.pages") / "templates" / name).read_text(encoding="utf-8")
    assert not re.search(r"</|<!--|url\(|@import|https?:|innerHTML|fetch", text)
