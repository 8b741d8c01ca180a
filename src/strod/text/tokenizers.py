"""Other ways to find words, for scripts that do not put spaces between them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import regex

from strod.errors import UsageError
from strod.text.characters import CLAUSE, HOLE, SENTENCE
from strod.text.reference import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["BUILT_IN", "bigrams", "find_tokenizer", "is_unspaced", "spaced"]

# Scripts written without spaces: the words of a run are its overlapping pairs of characters.
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}][\p{M}ー々]*"
)


def spaced(text: str) -> str:
    """`text` with spaces around each character of a script that has none."""
    spacious: str = _UNSPACED.sub(r" \g<0> ", text)
    return spacious


def is_unspaced(word: str) -> bool:
    """Whether a word is one character, with its marks, of a script without spaces."""
    return _UNSPACED.fullmatch(word) is not None


def _sentences(text: str, *, numbers: bool) -> list[list[str]]:
    sentences: list[list[str]] = [[]]
    for token in tokens(spaced(text), numbers=numbers):
        if isinstance(token, str):
            sentences[-1].append(token)
        elif token in (SENTENCE, CLAUSE, HOLE):
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def _paired(words: list[str]) -> list[str]:
    result: list[str] = []
    for i, word in enumerate(words):
        if not is_unspaced(word):
            result.append(word)
            continue
        followed = i + 1 < len(words) and is_unspaced(words[i + 1])
        lone = not followed and not (i > 0 and is_unspaced(words[i - 1]))
        if followed or lone:
            result.append(word + (words[i + 1] if followed else ""))
    return result


def bigrams(text: str, *, numbers: bool = False) -> list[list[str]]:
    """Overlapping pairs of characters for Chinese, Japanese, Thai and their kin.

    Text in other scripts is tokenized as usual.

    Examples
    --------
    >>> bigrams("主题模型 with LDA")
    [['主题', '题模', '模型', 'with', 'LDA']]
    """
    return [_paired(sentence) for sentence in _sentences(text, numbers=numbers)]


# None stands for the default, which is compiled.
BUILT_IN: dict[str, Callable[[str], Iterable[Sequence[str]]] | None] = {
    "words": None,
    "bigrams": bigrams,
}


def find_tokenizer(name: str) -> Callable[[str], Iterable[Sequence[str]]] | None:
    """Look up a tokenizer; None stands for the default, which is compiled.

    ``package.module:function`` names one of the user's own.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        choices = "words, bigrams or package.module:function"
        raise UsageError(f"`tokenizer` {name!r} is unknown: use {choices}")
    try:
        found = getattr(importlib.import_module(module), function)
    except Exception as error:  # whatever its module does when it is imported
        raise UsageError(f"`tokenizer` {name!r} cannot be loaded: {error}") from error
    if not callable(found):
        raise UsageError(f"`tokenizer` {name!r} is not a function")
    tokenizer: Callable[[str], Iterable[Sequence[str]]] = found
    return tokenizer
