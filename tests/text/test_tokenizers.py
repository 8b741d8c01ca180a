"""Tokenizers other than the default."""

from __future__ import annotations

import pytest

from strod.errors import UsageError
from strod.text.tokenizers import bigrams, find_tokenizer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("主题模型 with LDA", [["主题", "题模", "模型", "with", "LDA"]]),
        ("主题", [["主题"]]),
        ("主", [["主"]]),
        ("用LDA做主题", [["用", "LDA", "做主", "主题"]]),
        ("主题。模型", [["主题"], ["模型"]]),
        ("主题，模型", [["主题"], ["模型"]]),
        ("ひらカタ", [["ひら", "らカ", "カタ"]]),
        ("データ", [["デー" + "タ"]]),
        ("สวย", [["สว", "วย"]]),
        ("Only English. Two sentences", [["Only", "English"], ["Two", "sentences"]]),
        ("", []),
        ("...", []),
    ],
)
def test_bigrams(text: str, expected: list[list[str]]) -> None:
    assert bigrams(text) == expected


def test_find_tokenizer() -> None:
    assert find_tokenizer("words") is None
    assert find_tokenizer("bigrams") is bigrams
    assert find_tokenizer("strod.text.tokenizers:bigrams") is bigrams


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nonsense", "is unknown"),
        ("", "is unknown"),
        (":function", "is unknown"),
        ("module:", "is unknown"),
        ("no_such_module_here:function", "cannot be loaded"),
        ("strod.text.tokenizers:missing", "cannot be loaded"),
        ("strod.text.tokenizers:__all__", "is not a function"),
        (".relative:function", "cannot be loaded"),
    ],
)
def test_unusable_names(name: str, problem: str) -> None:
    with pytest.raises(UsageError, match=f"tokenizer '{name}' {problem}"):
        find_tokenizer(name)
