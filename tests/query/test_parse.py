"""The language of queries: what it means, and what is said of what it cannot mean."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.errors import UsageError
from strod.query.parse import DEEPEST, LONGEST, All, Either, Field, Not, parse, terms_of
from strod.query.terms import Term, Words
from strod.store.schema import CorpusSettings
from tests.chance import drawn

FIELDS = {"label": "list", "date": "date", "Year": "number"}
WORDS = Words(CorpusSettings())
A, B, C = (Term((word,)) for word in "abc")


def parsed(query: str):
    return parse(query, WORDS, FIELDS)


@pytest.mark.parametrize(
    ("query", "meaning"),
    [
        ("a", A),
        ("a b", All((A, B))),
        ("a AND b c", All((A, B, C))),
        ("a OR b c", Either((A, All((B, C))))),
        ("(a OR b) c", All((Either((A, B)), C))),
        ('"a b"', Term(("a", "b"))),
        ("\u201ca b\u201d c", All((Term(("a", "b")), C))),
        ("a -b", All((A, Not(B)))),
        ("a NOT b", All((A, Not(B)))),
        ("a AND NOT (b OR c)", All((A, Not(Either((B, C)))))),
        ("-a b", All((Not(A), B))),
        ("-(a b) c", All((Not(All((A, B))), C))),
        ("NOT NOT a", A),
        ("a AND NOT (NOT b)", All((A, B))),
        ("a (-b -c)", All((A, Not(Either((B, C)))))),
        ("a and b or", All((A, Term(("and",)), B, Term(("or",))))),
        ('"AND" a', All((Term(("and",)), A))),
        ("k-means", Term(("k", "means"))),
        ("net*", Term(("net",), prefix=True)),
        ("NET*", Term(("net",), prefix=True)),
        ("a & b - c", All((A, B, C))),
        ("Einstein's", Term(("einstein",))),
        ('Schr\\"odinger', Term(("schrödinger",))),
        ('"G\\"odel a"', Term(("gödel", "a"))),
        ("2015", Term(("2015",))),
        ("主题模型", Term(("主题", "题模", "模型"))),
        ("label:cs.LG", Field(0, "cs.lg")),
        ("LABEL:cs.lg", Field(0, "cs.lg")),
        ('label:"Two  Words" a', All((Field(0, "two  words"), A))),
        ("label:a:b", Field(0, "a:b")),
        ("-label:x a", All((Not(Field(0, "x")), A))),
        ("date:2015", Field(1, "2015-", prefix=True)),
        ("date:2015-03", Field(1, "2015-03-", prefix=True)),
        ("date:2015-03-07", Field(1, "2015-03-07")),
        ("Year:2e3", Field(2, "2000.0")),
        ("Year:-0", Field(2, "0.0")),
        ("a\tb\nc", All((A, B, C))),
    ],
)
def test_meaning(query: str, meaning: object) -> None:
    assert parsed(query) == meaning


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "the query is empty"),
        ("  ", "the query is empty"),
        ("&", "no word to look for"),
        ("NOT a", "only says what documents must not have"),
        ("-a -b", "only says what documents must not have"),
        ("a OR -b", "NOT takes away from what stands beside it"),
        ("a OR", "OR needs something on both sides"),
        ("AND a", "AND needs something on both sides"),
        ("a AND OR b", "AND needs something on both sides"),
        ("a NOT", "NOT needs something after it"),
        ("a NOT OR b", "NOT needs something after it"),
        ("()", "nothing between the parentheses"),
        ("a ()", "nothing between the parentheses"),
        ("(a", "opening parenthesis without a closing one"),
        ("a) b", "closing parenthesis without an opening one"),
        (")", "closing parenthesis without an opening one"),
        ('a "b c', "quotation mark without a second one"),
        ('label:"x', "quotation mark without a second one"),
        ("colour:red", "no field 'colour'; fields: label, date, Year"),
        ("http://x.org", "no field 'http'"),
        ("label:", "label: needs a value"),
        ("date:soon", "write 2015, 2015-03 or 2015-03-07, not 'soon'"),
        ("date:2015-13", "write 2015"),
        ("Year:x", "Year has numbers: 'x' is none"),
        ("a-b*", "one word only"),
        ('"www.example.org"', "is no word: addresses"),
        ("$x^2$", "is no word"),
        ("a\x07", "control character, 0x07"),
        ("a" * (LONGEST + 1), "give at most"),
        ("\ud800", "is not text"),
        ("(" * (DEEPEST + 1) + "a" + ")" * (DEEPEST + 1), "parentheses in parentheses"),
        ("NOT " * (DEEPEST + 1) + "a", "parentheses in parentheses"),
    ],
)
def test_errors_say_what_is_wrong_in_one_line(query: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as error:
        parsed(query)
    assert "\n" not in str(error.value)


def test_without_metadata_there_are_no_fields() -> None:
    with pytest.raises(UsageError, match="no field 'x'; the documents have none"):
        parse("x:1", WORDS, {})


def test_stems() -> None:
    words = Words(CorpusSettings(stem=True))
    assert parse("Networks", words, {}) == Term(("network",))
    # Other words may begin with it, or have the same stem.
    begin = Term(("networks",), prefix=True)
    assert parse("networks*", words, {}) == Either((begin, Term(("network",))))


def test_terms_without_those_that_must_not_be_there() -> None:
    found = terms_of(parsed('a "b c" -c (net* OR label:x)'))
    assert list(found) == [A, Term(("b", "c")), Term(("net",), prefix=True)]


@settings(max_examples=drawn(300))
@given(st.text(alphabet='ab"() -*:\\ANDOR\u201c\x00&主', max_size=30))
def test_any_text_is_a_query_or_an_error_of_one_line(query: str) -> None:
    told = ""
    try:
        parsed(query)
    except UsageError as error:
        told = str(error)
    assert "\n" not in told
