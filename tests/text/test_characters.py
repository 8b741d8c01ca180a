"""The class of each character."""

from __future__ import annotations

import random
import sys
import unicodedata

import pytest
import regex

from strod.text import characters as c
from strod.text.characters import name_hash, tables

kind = tables().kind

SPECIAL = {
    c.STOP: "!?\u2026\u203c\u2047\u2048\u2049\u3002\uff01\uff0e\uff1f\u061f\u06d4\u0964\u0965",
    c.HYPHEN: "-\u2010\u2011\u2013",
    c.APOSTROPHE: "'\u2019\uff07",
    c.JOIN: "_&*~{}#`\u2018",
    c.SPACE: "\u200b\ufeff",
    c.MARK: "\u00ad\u200c\u200d\u2060",
}


def expected_kind(character: str) -> int:
    """By the general category."""
    for special, members in SPECIAL.items():
        if character in members:
            return special
    category = unicodedata.category(character)
    if category == "Ll":
        return c.LOWER
    by_letter = {"L": c.LETTER, "M": c.MARK, "N": c.DIGIT}
    if category[0] in by_letter:
        return by_letter[category[0]]
    return c.SPACE if regex.fullmatch(r"\p{White_Space}", character) else c.SYMBOL


def sample() -> list[int]:
    generator = random.Random(11)
    points = [*range(0x3000), *(generator.randrange(sys.maxunicode + 1) for _ in range(20_000))]
    return [code for code in points if not 0xD800 <= code < 0xE000]


def test_table_equals_unicodedata() -> None:
    compared = 0
    for code in sample():
        character = chr(code)
        category = unicodedata.category(character)
        if category == "Cn" or not regex.match(rf"\p{{{category}}}", character):
            continue  # unassigned, or moved between the two versions of Unicode
        assert kind(character) == expected_kind(character), hex(code)
        compared += 1
    assert compared > 10_000


@pytest.mark.parametrize("members", SPECIAL.values())
def test_characters_with_a_class_of_their_own(members: str) -> None:
    assert {kind(character) for character in members} == {expected_kind(members[0])}


@pytest.mark.parametrize(
    ("pattern", "kinds"),
    [
        (r"\p{L}", {c.LETTER, c.LOWER}),
        (r"\p{M}", {c.MARK}),
        (r"\p{N}", {c.DIGIT}),
        (r"\p{White_Space}", {c.SPACE}),
    ],
)
def test_no_letter_is_overlooked_in_any_plane(pattern: str, kinds: set[int]) -> None:
    points = (code for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    members = regex.findall(pattern, "".join(map(chr, points)))
    assert members
    assert [hex(ord(member)) for member in members if kind(member) not in kinds] == []


def test_latin_1_is_the_first_page() -> None:
    table = tables()
    assert [kind(chr(code)) for code in range(256)] == table.kinds[:256].tolist()
    assert table.kinds[:256].max() == c.JOIN


def test_markers_are_ordered_by_strength() -> None:
    assert c.HOLE < c.CLAUSE < c.SENTENCE < 0


def test_word_classes_are_one_range() -> None:
    # The scanner compares with the first and the last of them.
    inside = [k for k in range(10) if c.LETTER <= k <= c.DIGIT]
    assert inside == [c.LETTER, c.LOWER, c.DIGIT]


def test_name_hash_is_fnv_1a() -> None:
    # Test vectors of the authors of FNV.
    assert name_hash(b"") == 0xCBF29CE484222325
    assert name_hash(b"a") == 0xAF63DC4C8601EC8C
    assert name_hash(b"foobar") == 0x85944171F73967E8


def test_names_have_hashes_of_their_own() -> None:
    names = [f"<{tag}" for tag in c.INLINE_TAGS] + [f"\\{name}" for name in c.REFERENCE_COMMANDS]
    found = tables().names.tolist()
    assert set(found) == {name_hash(name.encode()) for name in names}
    assert len(set(found)) == len(names)


def test_tags_are_plain_lower_case() -> None:
    # The scanner sets bit 32 of each byte of a tag's name to ignore its case.
    assert all(name.isascii() and name.isalpha() and name.islower() for name in c.INLINE_TAGS)
