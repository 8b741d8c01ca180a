r"""What a word is: the definition, in plain Python and regular expressions.

A text is read from left to right. At each place the first rule that fits is applied:

1. *White space* separates words; an empty line ends the sentence.
2. *Encoded data*: at the start of a chunk (a run of characters without a space), an
   ASCII chunk of 30 characters or more with fewer than 3 letters per piece is a hole,
   unless it is all letters and hyphens; a piece is a capital with the small letters after
   it, or a run of either.
3. *Words*: letters, digits and marks; an apostrophe between two letters; LaTeX accents
   (``Schr\"odinger``). Up to 40 characters. What begins with a digit is a number, and
   a hole unless numbers are kept; one digit and one letter (3d) are a word.
4. *Addresses*: ``www.``, ``scheme://`` and ``name@host`` are holes.
5. *Markup*: tags and declarations are not words; those that do not belong inside a
   sentence end it. Entities (``&amp;``) separate words.
6. *LaTeX*: ``\command`` is a hole, with its argument if that is a key or an address;
   so is a formula between dollar signs (pandoc's rule: no space inside the signs, no
   digit after the second), up to 300 characters, without an empty line.
7. *Sentences* end at ``! ?`` and the like, and at a full stop before white space unless
   a small letter follows; a full stop after a single letter is an abbreviation.
8. *Joints* (hyphen between word characters, ``_ & * ~ { } #``, other apostrophes)
   separate words without a break. Any other character ends a clause.

Between two words the strongest of the breaks met is kept: sentence, clause, hole.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import regex

from strod.text.characters import (
    APOSTROPHE,
    CLAUSE,
    DIGIT,
    HOLE,
    HYPHEN,
    INLINE_TAGS,
    JOIN,
    LETTER,
    LOWER,
    MARK,
    REFERENCE_COMMANDS,
    SENTENCE,
    SPACE,
    STOP,
    tables,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Tokens", "tokens", "word_spans"]

Tokens = list["str | int"]

LONGEST_WORD = 40

_ACCENT = r"\\[\"'`^~=.](?:\{[A-Za-z]\}|[A-Za-z])"
_ACCENTED = regex.compile(rf"{_ACCENT}|\{{{_ACCENT}\}}")
_CHUNK = regex.compile(r"[!-~]{30,}(?=[\x00-\x20\x7f]|\Z)")
_NO_COMPOUND = regex.compile(r"[^A-Za-z-]")
_PIECE = regex.compile(r"[A-Z]+[a-z]*|[a-z]+")
_WWW = regex.compile(r"[Ww]{3}\.[A-Za-z0-9][!-~]*")
_LINK = regex.compile(r"://[!-~]*")
_MAIL = regex.compile(r"@[A-Za-z0-9][A-Za-z0-9._-]*")
_LOCAL = regex.compile(r"[A-Za-z0-9._%+-]")
_TAG = regex.compile(
    r"<(?:[!?][^<>]*|/?(?P<name>[A-Za-z][A-Za-z0-9:._-]*+)(?:\s*+/?|\s[^<>]*=[^<>]*))>",
    regex.ASCII,
)
_ENTITY = regex.compile(r"&(?:#[A-Za-z0-9]{1,8}|[A-Za-z0-9]{2,9});")
_COMMAND = regex.compile(r"\\(?:(?P<name>[A-Za-z]++)|[!-~])?")
_ARGUMENT = regex.compile(r"(?:\[[^\[\]{}\\]*\])?(?:\{[^\[{}\\]*\})?")
_MATH = regex.compile(
    r"\$(?:\$(?:(?!\n\n)[^$]){1,300}\$\$|(?!\s)(?:(?!\n\n)[^$]){1,300}(?<!\s)\$(?!\d))",
    regex.ASCII,
)
_CLOSERS = regex.compile(r"[)\]}\"']*")


@cache
def _kind(character: str) -> int:
    return tables().kind(character)


class _Scanner:
    """One reading of one text."""

    def __init__(self, text: str, *, numbers: bool) -> None:
        self.text = text
        self.numbers = numbers
        self.kinds = list(map(_kind, text))
        self.entries: list[tuple[int, str | int]] = []
        self.breaks: list[int] = []  # met since the last word
        self.word = (-1, -1, 0)  # start, end and length of the last run of word characters

    def kind(self, place: int) -> int:
        return self.kinds[place] if place < len(self.kinds) else -1

    def run(self) -> Tokens:
        place = 0
        while place < len(self.text):
            place = next(end for end in self.rules(place) if end is not None)
        return [entry for _, entry in self.entries]

    def rules(self, place: int) -> Iterator[int | None]:
        yield self.white_space(place)
        yield self.encoded_data(place)
        yield self.word_or_number(place)
        yield self.link(place)
        yield self.mail(place)
        yield self.markup(place)
        yield self.latex(place)
        yield self.punctuation(place)

    def white_space(self, place: int) -> int | None:
        end = place
        while self.kind(end) == SPACE:
            end += 1
        if self.text.count("\n", place, end) > 1:
            self.breaks.append(SENTENCE)
        return end if end > place else None

    def encoded_data(self, place: int) -> int | None:
        if place > 0 and self.kind(place - 1) != SPACE:
            return None
        chunk = _CHUNK.match(self.text, place)
        if chunk is None:
            return None
        pieces = _PIECE.findall(chunk[0])
        # A capital after a small letter begins a piece, one after a capital does not.
        if sum(map(len, pieces)) >= 3 * len(pieces) or not _NO_COMPOUND.search(chunk[0]):
            return None
        self.breaks.append(HOLE)
        return int(chunk.end())

    def run_end(self, place: int) -> tuple[int, list[int]]:
        """End of the run of word characters and the class of each of them."""
        kinds: list[int] = []
        while place < len(self.text):
            kind = self.kind(place)
            accent = _ACCENTED.match(self.text, place) if self.text[place] in "\\{" else None
            if accent is not None:
                kinds.append(LOWER)
                place = accent.end()
            elif (
                kind in (LETTER, LOWER, DIGIT)
                or (kind == MARK and kinds)
                or (
                    kind == APOSTROPHE
                    and kinds
                    and kinds[-1] in (LETTER, LOWER, MARK)
                    and self.kind(place + 1) in (LETTER, LOWER)
                )
            ):
                kinds.append(kind)
                place += 1
            else:
                break
        return place, kinds

    def word_or_number(self, place: int) -> int | None:
        end, kinds = self.run_end(place)
        if not kinds:
            return None
        number = kinds[0] == DIGIT and not (len(kinds) == 2 and kinds[1] in (LETTER, LOWER))
        self.word = (place, end, 0 if number else len(kinds))
        address = _WWW.match(self.text, place) if end == place + 3 else None
        if address is not None:
            end = self.without_trail(address, end)
            self.breaks.append(HOLE)
        elif len(kinds) > LONGEST_WORD or (number and not self.numbers):
            self.breaks.append(HOLE)
        else:
            self.put(place, self.text[place:end])
        return end

    def put(self, place: int, word: str) -> None:
        if self.entries and self.breaks:
            self.entries.append((place, max(self.breaks)))
        self.entries.append((place, word))
        self.breaks = []

    def without_trail(self, address: regex.Match[str], start: int) -> int:
        """End of an address without the punctuation that follows it."""
        return start + len(self.text[start : address.end()].rstrip(".,;:!?)'"))

    def withdraw(self, place: int) -> None:
        """Take back the words from `place` on: they are part of an address."""
        while self.entries and self.entries[-1][0] >= place:
            _, entry = self.entries.pop()
            if isinstance(entry, int):
                self.breaks.append(entry)
        self.breaks.append(HOLE)

    def link(self, place: int) -> int | None:
        start, end, _ = self.word
        address = _LINK.match(self.text, place)
        if address is None or end != place:
            return None
        self.withdraw(start)
        return self.without_trail(address, place + 3)

    def mail(self, place: int) -> int | None:
        start, end, _ = self.word
        address = _MAIL.match(self.text, place)
        if address is None or end != place:
            return None
        local = place
        while local > 0 and _LOCAL.match(self.text, local - 1):
            local -= 1
        if local > start:
            return None
        self.withdraw(local)
        return int(address.end())

    def markup(self, place: int) -> int | None:
        tag = _TAG.match(self.text, place)
        if tag is not None:
            name = (tag["name"] or "").rpartition(":")[2].lower()
            if name not in INLINE_TAGS:
                self.breaks.append(SENTENCE)
            return int(tag.end())
        entity = _ENTITY.match(self.text, place)
        return int(entity.end()) if entity is not None else None

    def latex(self, place: int) -> int | None:
        formula = _MATH.match(self.text, place)
        if formula is not None:
            self.breaks.append(HOLE)
            return int(formula.end())
        command = _COMMAND.match(self.text, place)
        if command is None:
            return None
        if not command["name"]:
            return int(command.end())
        self.breaks.append(HOLE)
        if command["name"] in REFERENCE_COMMANDS:
            return int(_ARGUMENT.match(self.text, command.end()).end())
        return int(command.end())

    def punctuation(self, place: int) -> int:
        kind = self.kind(place)
        if self.text[place] == ".":
            self.full_stop(place)
        elif kind == STOP:
            self.breaks.append(SENTENCE)
        elif kind == HYPHEN:
            if self.word[1] != place or self.kind(place + 1) not in (LETTER, LOWER, DIGIT):
                self.breaks.append(CLAUSE)
        elif kind not in (APOSTROPHE, JOIN, MARK):
            self.breaks.append(CLAUSE)
        return place + 1

    def full_stop(self, place: int) -> None:
        if self.word[1] == place and self.word[2] == 1:
            return
        after = _CLOSERS.match(self.text, place + 1).end()
        end = after
        while self.kind(end) == SPACE:
            end += 1
        spaced = end > after or end == len(self.text)
        self.breaks.append(SENTENCE if spaced and self.kind(end) != LOWER else CLAUSE)


def tokens(text: str, *, numbers: bool = False) -> Tokens:
    """Words of `text` as they are written, with SENTENCE, CLAUSE or HOLE between them.

    Examples
    --------
    >>> tokens("Don't use http://x.org, E. coli.")
    ["Don't", 'use', -2, 'E', 'coli']
    """
    return _Scanner(text, numbers=numbers).run()


def word_spans(text: str, *, numbers: bool = False) -> list[tuple[int, int]]:
    """Begin and end of each word of `text`.

    Examples
    --------
    >>> word_spans("Don't use http://x.org")
    [(0, 5), (6, 9)]
    """
    scanner = _Scanner(text, numbers=numbers)
    scanner.run()
    return [(at, at + len(word)) for at, word in scanner.entries if isinstance(word, str)]
