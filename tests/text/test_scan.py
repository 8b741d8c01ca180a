"""The byte scanner is the definition in `strod.text.reference`, only faster."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strod.compute import kernels
from strod.text import scan as scan_module
from strod.text.characters import CLAUSE, HOLE, SENTENCE, name_hash, tables
from strod.text.reference import tokens
from strod.text.scan import hash_spans, scan
from tests.chance import drawn

RANDOM_TEXTS = 10_000
SEED = np.uint64(0xCBF29CE484222325)  # that of FNV-1a

_PIECES = (
    "a|b|word|Word|WORD|é|ü|中文|\u0301|\u00ad|1|2010|3d|2nd|½|.|. |.)| |  |\n|\n\n|\u00a0|\u3000|,"
    "|;|:|://|http://|www.|WWW.x|@|foo@bar.org|'|’|n't|-|–|—|--|_|&|&amp;|&#39;|&#x27;|<|<b>|</b>"
    '|<p>|<a href="x">|<x y>|<!-- c -->|<br/>|<jats:p>|<jats:italic>|>|=|/|$|$$|$x$|\\'
    '|\\alpha|\\cite{k}|\\cite[1]{k}|\\"o|{\\"o}|\\\'{e}'
    '|{|}|[|]|(|)|"|!|?|…|。|%|+|*|~|#|`|^|\x00|\x7f|\t|\r\n|\u0085'
    "|aGVsbG8gd29ybGQhIEFCQ0RFRkdISUpLTE1OT1A=|M24;@(R`3#A4E&5F9W=X9H6C<MAX>'AX'"
    "|longlong-words-with-hyphens-in-them|ſ|K|İ|ß|😀|e|s|\u200c|८|a.b.c|\ufeff|\u2028"
)
PIECES = [
    *_PIECES.split("|"),
    "|",
    "x" * 40,
    "x" * 41,
    "$" + "y" * 300 + "$",
    "$" + "y" * 301 + "$",
    "a" * 29,
    "B1" * 15,
]

MEGABYTE = 1 << 20
ADVERSARIES = ["$", "<", "@", "a.", "&", "\\", "<!--", '{\\"']
MORE_ADVERSARIES = [
    "a@", "a://", "www.a)", "\\cite[", "\\cite{", "$a", "$$a", "a'", "é'", ".)", ". ", "&a", "<a ",
    "<a =", "</", "A1", "-", "a-", "{", "{\\'{", "\u0301", "\n", " \n", "http://x.", "%@a", "é@a",
]  # fmt: skip


def scanned(texts: list[str], *, numbers: bool = False) -> list[list[str | int]]:
    """Words and markers of documents that lie one after another in one buffer."""
    documents = [text.encode() for text in texts]
    data = b"".join(documents)
    text = np.frombuffer(data, dtype=np.uint8) if data else np.empty(0, dtype=np.uint8)
    bounds = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    starts = np.empty(len(data), dtype=np.int32)
    lengths = np.empty(len(data), dtype=np.int32)
    hashes = np.zeros(len(data), dtype=np.uint32)
    stops = np.empty(len(texts), dtype=np.int64)
    n = scan(text, bounds, *tables(), numbers, SEED, starts, lengths, hashes, stops)
    assert stops[-1] == n
    entries: list[str | int] = [
        data[start : start + length].decode() if length > 0 else length
        for start, length in zip(starts[:n].tolist(), lengths[:n].tolist(), strict=True)
    ]
    return [entries[begin:end] for begin, end in zip([0, *stops[:-1].tolist()], stops, strict=True)]


def words(text: str, *, numbers: bool = False) -> list[str | int]:
    """What both implementations say."""
    found = scanned([text], numbers=numbers)[0]
    assert found == tokens(text, numbers=numbers)
    return found


def random_text(generator: random.Random) -> str:
    return "".join(generator.choice(PIECES) for _ in range(generator.randrange(1, 25)))


def test_scanner_equals_definition_on_ten_thousand_random_texts() -> None:
    generator = random.Random(20260101)
    compared = 0
    while compared < RANDOM_TEXTS:
        numbers = generator.random() < 0.3
        batch = [random_text(generator) for _ in range(generator.choice([1, 2, 7]))]
        batch = batch[: RANDOM_TEXTS - compared]
        found = scanned(batch, numbers=numbers)
        for text, entries in zip(batch, found, strict=True):
            assert entries == tokens(text, numbers=numbers), repr(text)
        compared += len(found)
    assert compared == RANDOM_TEXTS


@settings(max_examples=drawn(500))
@given(st.text(), st.booleans())
def test_scanner_equals_definition_on_any_text(text: str, numbers: bool) -> None:
    assert scanned([text], numbers=numbers)[0] == tokens(text, numbers=numbers)


@settings(max_examples=drawn(300))
@given(st.lists(st.sampled_from(PIECES)).map("".join), st.booleans())
def test_scanner_equals_definition_on_nasty_text(text: str, numbers: bool) -> None:
    assert scanned([text], numbers=numbers)[0] == tokens(text, numbers=numbers)


@settings(max_examples=drawn(100))
@given(st.lists(st.lists(st.sampled_from(PIECES)).map("".join), min_size=1))
def test_documents_in_one_buffer_do_not_touch_each_other(texts: list[str]) -> None:
    assert scanned(texts) == [tokens(text) for text in texts]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("www", ".example.org"),
        ("$x", "y$"),
        ("<b", ">"),
        ("foo", "@bar.org"),
        ("Schr\\", '"odinger'),
    ],
)
def test_what_spans_two_documents_is_not_recognized(first: str, second: str) -> None:
    assert scanned([first, second]) == [tokens(first), tokens(second)]
    assert [tokens(first), tokens(second)] != [tokens(first + second), []]


@pytest.mark.parametrize("piece", ADVERSARIES)
def test_a_megabyte_of_a_nasty_piece(piece: str) -> None:
    assert scanned([piece * 500])[0] == tokens(piece * 500)
    long = scanned([piece * (MEGABYTE // len(piece))])[0]
    assert set(long) <= set(tokens(piece * 500))  # nothing new turns up in the long run
    assert (len(long) > 500) == (len(tokens(piece * 500)) > 500)


class CountedText:
    """Bytes that know how often they were looked at."""

    def __init__(self, text: str) -> None:
        self._data = np.frombuffer(text.encode(), dtype=np.uint8)
        self.size = self._data.size
        self.looks = 0

    def __getitem__(self, place: int) -> np.uint8:
        self.looks += 1
        value: np.uint8 = self._data[place]
        return value


@pytest.fixture
def plain_scan(monkeypatch: pytest.MonkeyPatch):
    """The scanner as plain Python, not compiled, so that its work can be counted."""
    for name in ("kernel", "helper"):
        monkeypatch.setattr(kernels, name, lambda function: function)
    spec = importlib.util.spec_from_file_location("plain_scan", Path(scan_module.__file__))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def looks(text: str) -> int:
        counted = CountedText(text)
        starts = np.empty(counted.size, dtype=np.int32)
        lengths = np.empty(counted.size, dtype=np.int32)
        hashes = np.empty(counted.size, dtype=np.uint32)
        bounds, stops = np.array([0, counted.size]), np.empty(1, dtype=np.int64)
        with np.errstate(over="ignore"):
            n = module.scan(counted, bounds, *tables(), False, SEED, starts, lengths, hashes, stops)
        words = [int(length) for length in lengths[:n] if length > 0]
        assert len(words) == sum(isinstance(token, str) for token in tokens(text))
        return counted.looks

    return looks


@pytest.mark.parametrize("piece", [*ADVERSARIES, *MORE_ADVERSARIES])
def test_work_grows_no_faster_than_the_text(piece: str, plain_scan) -> None:
    small = 800 // len(piece)  # more than the 300 characters of the longest formula
    once, fourfold = plain_scan(piece * small), plain_scan(piece * 4 * small)
    assert fourfold <= 4 * once + 2000


def test_every_byte_is_looked_at_a_bounded_number_of_times(plain_scan) -> None:
    generator = random.Random(5)
    for _ in range(50):
        text = random_text(generator) * 3
        assert plain_scan(text) <= 2 + 310 * len(text.encode())
    plain = "Plain words, and nothing but plain words. " * 40
    assert plain_scan(plain) <= 8 * len(plain)


def test_hashes_are_those_of_the_words() -> None:
    text = "Word wörd Schr\\\"odinger don't, x " + "y" * 40
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    arrays = (np.empty(data.size, np.int32), np.empty(data.size, np.int32))
    hashes, stops = np.zeros(data.size, dtype=np.uint32), np.empty(1, dtype=np.int64)
    n = scan(data, np.array([0, data.size]), *tables(), False, SEED, *arrays, hashes, stops)
    starts, lengths = (array[:n] for array in arrays)
    again = np.zeros(n, dtype=np.uint32)
    hash_spans(data, starts, lengths, SEED, again)
    for start, length, first, second in zip(starts, lengths, hashes, again, strict=False):
        if length > 0:
            value = name_hash(data[start : start + length].tobytes())
            assert first == second == (value ^ value >> 32) & 0xFFFFFFFF


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # white space
        ("one two\tthree\nfour", ["one", "two", "three", "four"]),
        ("one\n\ntwo", ["one", SENTENCE, "two"]),
        ("one \n \n two", ["one", SENTENCE, "two"]),
        ("one\r\ntwo\u00a0three\u200bfour", ["one", "two", "three", "four"]),
        # markers stand between words only; the strongest stays
        ("", []),
        (" ... ", []),
        ("(one)", ["one"]),
        ("one, 7. Two", ["one", SENTENCE, "Two"]),
        ("one, 7, two", ["one", CLAUSE, "two"]),
        ("one 7 two", ["one", HOLE, "two"]),
        # encoded data
        ("see aGVsbG8gd29ybGQhIEFCQ0RFRkdISUpLTE1OT1A= here", ["see", HOLE, "here"]),
        ("see M24;@(R`3#A4E&5F9W=X9H6C<MAX>'AX' here", ["see", HOLE, "here"]),
        ("md5 d41d8cd98f00b204e9800998ecf8427e here", ["md5", HOLE, "here"]),
        ("id 123e4567-e89b-12d3-a456-426614174000 here", ["id", HOLE, "here"]),
        ("short dGhpcyBpcw== stays", ["short", "dGhpcyBpcw", CLAUSE, "stays"]),
        (
            "a state-of-the-art-and-then-some-more-method",
            ["a", "state", "of", "the", "art", "and", "then", "some", "more", "method"],
        ),
        ("someCamelCaseNamesAreLongerThanThirty x", ["someCamelCaseNamesAreLongerThanThirty", "x"]),
        # words and numbers
        ("word2vec and 3d but 2nd 42 0x1F", ["word2vec", "and", "3d", "but"]),
        ("x" * 40 + " " + "y" * 41 + " z", ["x" * 40, HOLE, "z"]),
        ("Don't rock'n'roll", ["Don't", "rock'n'roll"]),
        ("the dogs' 'quoted' l’homme", ["the", "dogs", "quoted", "l’homme"]),
        ("5'3 o'5", ["o"]),
        # addresses
        ("at http://x.org/a_b?c=d, then", ["at", CLAUSE, "then"]),
        ("(see https://x.org/y).", ["see"]),
        ("at www.example.org. Then", ["at", SENTENCE, "Then"]),
        ("the www is", ["the", "www", "is"]),
        ("mail me@uni-x.org now", ["mail", HOLE, "now"]),
        ("mail first.last+tag@uni-x.org now", ["mail", CLAUSE, "now"]),  # for the dot inside
        ("@handle and a @ b", ["handle", "and", "a", CLAUSE, "b"]),
        ("a, b.c@d.e", ["a"]),
        # markup
        ("H<sub>2</sub>O and <b>bold</b>text", ["H", HOLE, "O", "and", "bold", "text"]),
        ("one<p>two</p>three", ["one", SENTENCE, "two", SENTENCE, "three"]),
        ("one<br/>two", ["one", SENTENCE, "two"]),
        ('see <a href="http://x.org">this</a> page', ["see", "this", "page"]),
        ("<jats:p>One <jats:italic>two</jats:italic></jats:p>", ["One", "two"]),
        ("one <!-- two --> three", ["one", SENTENCE, "three"]),
        ("if a <b and c> d", ["if", "a", CLAUSE, "b", "and", "c", CLAUSE, "d"]),
        ("a < b", ["a", CLAUSE, "b"]),
        ("AT&amp;T &lt;x&gt; &#39;y&#x27; Q&A", ["AT", "T", "x", "y", "Q", "A"]),
        ("a &b; c", ["a", "b", CLAUSE, "c"]),
        # LaTeX
        (r"Schr\"odinger and Erd\H{o}s", [r"Schr\"odinger", "and", "Erd", HOLE, "o", "s"]),
        (r"G{\"o}del, caf\'e, Ren\'{e}", [r"G{\"o}del", CLAUSE, r"caf\'e", CLAUSE, r"Ren\'{e}"]),
        (r"the \alpha rays", ["the", HOLE, "rays"]),
        (r"as in \cite[p. 1]{knuth1984} here", ["as", "in", HOLE, "here"]),
        (r"\emph{stressed} word", ["stressed", "word"]),
        (r"a \emph{stressed} word", ["a", HOLE, "stressed", "word"]),
        (r"100\% sure\, really", ["sure", "really"]),
        (r"let $x^2 + y$ be", ["let", HOLE, "be"]),
        (r"let $$x y$$ be", ["let", HOLE, "be"]),
        ("pay $5 and $10 now", ["pay", CLAUSE, "and", CLAUSE, "now"]),
        ("cost $ x $ more", ["cost", CLAUSE, "x", CLAUSE, "more"]),
        ("a $b\n\nc$ d", ["a", CLAUSE, "b", SENTENCE, "c", CLAUSE, "d"]),
        # sentences
        ("Yes! No? Maybe", ["Yes", SENTENCE, "No", SENTENCE, "Maybe"]),
        ("It ends. Then", ["It", "ends", SENTENCE, "Then"]),
        ('He said "so." Then', ["He", "said", CLAUSE, "so", SENTENCE, "Then"]),
        ("Smith et al. find", ["Smith", "et", "al", CLAUSE, "find"]),
        ("E. coli, e.g. this", ["E", "coli", CLAUSE, "e", "g", "this"]),
        ("node.js file", ["node", CLAUSE, "js", "file"]),
        ("a rate of 3.5 percent", ["a", "rate", "of", CLAUSE, "percent"]),
        ("in 2010. Then", ["in", SENTENCE, "Then"]),
        ("終わり。次", ["終わり", SENTENCE, "次"]),
        # joints
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("range 5–7 - dash — em", ["range", CLAUSE, "dash", CLAUSE, "em"]),
        ("snake_case *star* ~x {y} #z", ["snake", "case", "star", "x", "y", "z"]),
        ("well -known", ["well", CLAUSE, "known"]),
        # scripts and marks
        ("主题模型 topic", ["主题模型", "topic"]),
        ("cafe\u0301 so\u00adft", ["cafe\u0301", "so\u00adft"]),
        ("\u0301x हिन्दी", ["x", "हिन्दी"]),
    ],
)
def test_examples_of_the_rules(text: str, expected: list[str | int]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 2010 and 3.5", ["in", "2010", "and", "3", CLAUSE, "5"]),
        ("2nd 1,000", ["2nd", "1", CLAUSE, "000"]),
        ("pay $5 and $10", ["pay", CLAUSE, "5", "and", CLAUSE, "10"]),
        ("1" * 41 + " a", ["a"]),
        ("chapter 5. Then", ["chapter", "5", SENTENCE, "Then"]),
    ],
)
def test_numbers_are_words_if_wanted(text: str, expected: list[str | int]) -> None:
    assert words(text, numbers=True) == expected
