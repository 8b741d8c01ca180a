"""The text index finds what a naive reader finds, and ranks it as the formula says."""

from __future__ import annotations

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import strod
from strod.corpus import segment
from strod.errors import UsageError
from strod.query import build, pieces
from strod.query.feed import Tokenizer
from strod.query.terms import Words
from strod.query.text import TextIndex
from strod.store.schema import CorpusSettings
from tests.chance import drawn
from tests.query.naive import Naive, corpus_of
from tests.text.test_scan import random_text

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = [
    "river", "River's", "stone", "stones", "don't", "naïve", "nai\u0308ve", 'Schr\\"odinger',
    'schr{\\"o}dinger', "k-means", "2015", "3d", "主题模型", "主", "题", "東京タワー", "ภาษา",
    "$x^2$", "http://x.org/river", "\\cite{stone}", "the", "AND", "straße", "STRASSE", "I",
]  # fmt: skip
TEXT = st.lists(st.sampled_from([*WORDS, ".", ",", "\n\n"]), max_size=12).map(" ".join)
META = st.fixed_dictionaries(
    {},
    optional={
        "label": st.lists(st.sampled_from(["cs.LG", "CS.lg", "math", "two words", ""]), max_size=3),
        "date": st.sampled_from(["2015-03-07", "2015-04-01", "1950-03-07", None]),
        "year": st.sampled_from([2015, -1.5, 0, "1999", None]),
        "place": st.sampled_from(["Örebro", "örebro", "new  york", "x" * 300, None]),
    },
)
DOCUMENTS = st.lists(
    st.tuples(TEXT, META).map(lambda one: one[1] | {"text": f"{one[0]} river"}),
    min_size=1,
    max_size=12,
)
FOUND = [word for word in WORDS if not word.startswith(("$", "http", "\\cite"))]
ATOMS = st.one_of(
    st.sampled_from(FOUND).map(lambda word: word.replace("AND", '"AND"')),
    st.lists(st.sampled_from(FOUND), min_size=1, max_size=3).map(lambda ws: f'"{" ".join(ws)}"'),
    st.sampled_from(["s*", "stone*", "schrö*", "20*", "主*", "x*", "river*", "r*", "STRA*"]),
    st.sampled_from(
        ["label:cs.LG", 'label:"Two words"', "label:MATH", "date:2015", "date:2015-03"]
    ),
    st.sampled_from(["date:1950-03-07", "year:2015", "year:-1.50", "year:1999", "place:ÖREBRO"]),
    st.sampled_from(['place:"New  York"', f"place:{'X' * 300}", "place:york", "主", "题", "京"]),
)
QUERIES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"({two[0]} {two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} OR {two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} NOT {two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} AND -{two[1]})"),
    ),
    max_leaves=5,
)
FIELDS = ("label:list", "date:date", "year:number", "place:category")


def same(index: TextIndex, naive: Naive, query: str) -> None:
    hits, expected = index.search(query), naive.search(query)
    scores = dict(expected)
    assert set(hits.documents.tolist()) == set(scores), query
    assert len(hits) == len(scores)
    np.testing.assert_allclose(hits.scores, [scores[d] for d in hits.documents.tolist()], 1e-5)
    order = np.lexsort((hits.documents, -hits.scores))
    assert order.tolist() == list(range(len(hits)))
    assert (hits.documents.dtype.name, hits.scores.dtype.name) == ("int32", "float32")
    for best in (1, 3, 2 * len(naive.texts)):
        some = index.search(query, best)
        assert some.documents[:best].tolist() == hits.documents[:best].tolist(), query
        assert some.scores[:best].tolist() == hits.scores[:best].tolist(), query
        assert sorted(some.everything.tolist()) == sorted(hits.documents.tolist()), query


@settings(max_examples=drawn(15))
@given(
    st.lists(DOCUMENTS, min_size=1, max_size=3),
    st.lists(QUERIES, min_size=10, max_size=20),
    st.sampled_from([{}, {"stem": True}, {"tokenizer": "bigrams"}, {"language": "none"}]),
    st.integers(1, 5),
)
def test_as_a_naive_reader(
    parts: list[list[dict[str, Any]]], queries: list[str], options: dict[str, Any], size: int
) -> None:
    with TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment, "SHARD_DOCUMENTS", size)
        patch.setattr(pieces, "LARGE", 1)  # a piece for every shard
        patch.setattr(build, "PART", 40 * size)
        corpus = corpus_of(Path(place), *parts, meta=FIELDS, **options)
        folder = Path(place) / "index"
        folder.mkdir()
        index, naive = TextIndex.build(folder, corpus, workers=2), Naive(corpus)
        for query in queries:
            same(index, naive, query)


def test_the_best_of_many_are_the_first_of_all(tmp_path: Path) -> None:
    """Among hundreds with a handful of scores, by one word, several or one of several."""
    chance = np.random.default_rng(0)
    words = ["river", "stone", "cloud", "oak"]
    documents = [{"text": " ".join(chance.choice(words, 1 + n % 6))} for n in range(900)]
    index = made(tmp_path, corpus_of(tmp_path / "c", documents[:300], documents[300:]))
    queries = ("river", "river stone", "river OR oak", "river OR oak OR cloud", '"stone oak"')
    for query in (*queries, "(river OR oak OR cloud) stone", "sto* OR oak", "river -oak"):
        every = index.search(query)
        for best in (1, 20, 150):
            some = index.search(query, best)
            assert some.documents[:best].tolist() == every.documents[:best].tolist()
            assert some.scores[:best].tolist() == every.scores[:best].tolist()
            assert sorted(some.everything.tolist()) == sorted(every.documents.tolist())


def test_lengths_are_kept_in_a_byte(tmp_path: Path) -> None:
    """Scores of documents of all lengths, beyond those that are kept exactly."""
    documents = [{"text": "stone " * (1 + n % 3) + "river " * n} for n in range(1, 200, 7)]
    corpus = corpus_of(tmp_path / "c", documents)
    index, naive = made(tmp_path, corpus), Naive(corpus)
    for query in ("stone", "river", "stone river", '"stone river" OR stone', '"river river"'):
        same(index, naive, query)


def made(tmp_path: Path, corpus: Any, name: str = "index", **options: Any) -> TextIndex:
    (tmp_path / name).mkdir()
    return TextIndex.build(tmp_path / name, corpus, **options)


@settings(max_examples=drawn(100))
@given(st.lists(TEXT, max_size=5), st.booleans(), st.sampled_from(["en", "fr", "none"]))
@example(texts=["世", "界", "", "a主b", "東京タワー第2章。こんにちは"], stem=False, language="en")
def test_the_fast_twin_finds_the_words_of_the_definition(
    texts: list[str], stem: bool, language: str
) -> None:
    words = Words(CorpusSettings(stem=stem and language != "none", language=language))
    tokenizer = Tokenizer(words.options)
    column = pa.array(["before", *texts, "after"], type=pa.large_string())
    for part in (column, column[1:-1], column[:0]):
        assert [one.split() for one in tokenizer(part)] == [
            words.of(text) for text in part.to_pylist()
        ]


def test_plain_words_between_others() -> None:
    """Random texts of what the scanner has a rule for, among words that a table writes."""
    generator = random.Random(3)
    plain = ["Plain", "words,", "nothing;", "(else)", "2015", "w.w.", "a:b", "x-y/z"]
    plain += ["a" * 29, "b,c" * 10]
    words = Words(CorpusSettings())
    tokenizer = Tokenizer(words.options)
    for _ in range(100):
        texts = [
            "".join(
                generator.choice([*plain, random_text(generator)]) + generator.choice(["", " "])
                for _ in range(generator.randrange(8))
            )
            for _ in range(20)
        ]
        found = tokenizer(pa.array(texts, type=pa.large_string()))
        assert [one.split() for one in found] == list(map(words.of, texts))


DOCUMENTS_OF_ALL_KINDS = [
    {"text": f"river {word} {'stone ' * n}", "label": ["a"] * (n % 2), "date": f"20{10 + n}-01-02"}
    for n, word in enumerate(WORDS)
]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("small", [1, 1 << 20])
def test_what_is_added_gives_the_index_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    """Down to the byte; pieces that are the same are not made again."""
    monkeypatch.setattr(pieces, "SMALL", small)
    monkeypatch.setattr(segment, "SHARD_DOCUMENTS", 4)
    monkeypatch.setattr(pieces, "LARGE", 1 if small == 1 else 1 << 20)
    parts = [
        DOCUMENTS_OF_ALL_KINDS[:10],
        DOCUMENTS_OF_ALL_KINDS[10:13],
        DOCUMENTS_OF_ALL_KINDS[13:],
    ]
    meta = ("label:list", "date:date")
    some = corpus_of(tmp_path / "some", *parts[:2], meta=meta)
    every = corpus_of(tmp_path / "every", *parts, meta=meta)
    made(tmp_path, some, "before")
    index = made(tmp_path, every, "after", before=tmp_path / "before", workers=1)
    fresh = made(tmp_path, every, "fresh", workers=3)
    assert files_of(tmp_path / "after") == files_of(tmp_path / "fresh")
    linked = [path for path in (tmp_path / "after").iterdir() if path.stat().st_nlink > 1]
    assert len(linked) == (len(files_of(tmp_path / "before")) - 1 if small == 1 else 0)
    for query in ("river", "stone river", "date:2015 river", "label:A", "sto* OR 主题"):
        same(index, Naive(every), query)
        assert index.search(query).scores.tolist() == fresh.search(query).scores.tolist()


def test_a_workspace_that_grows(tmp_path: Path) -> None:
    """Added, replaced and taken back: each time the index of what is there now."""
    documents = [one | {"id": str(n)} for n, one in enumerate(DOCUMENTS_OF_ALL_KINDS)]
    options: dict[str, Any] = {
        "meta": ["label", "date"],
        "children": 2,
        "height": 1,
        "min_df": 1,
        "workers": 1,
    }
    workspace = strod.build(documents[:15], out=tmp_path / "w.strod", **options)
    before = None
    changes: list[Callable[[], object]] = [
        lambda: workspace.add(documents[15:20]),
        lambda: workspace.add(documents[20:]),
        lambda: workspace.add([documents[3] | {"text": "another river"}], replace=True),
        workspace.undo,
    ]
    for number, change in enumerate(changes):
        change()
        index = made(tmp_path, workspace.corpus, str(number), before=before)
        naive = Naive(workspace.corpus)
        for query in ("river", "another", "stone -主 OR naïve", "label:a", "date:2012 river"):
            same(index, naive, query)
        before = index.folder


def test_progress_is_told_of_what_is_new(tmp_path: Path) -> None:
    class Told:
        def __init__(self) -> None:
            self.stages: list[tuple[str, int, str]] = []
            self.done = 0

        def stage(self, name: str, total: int, unit: str) -> None:
            self.stages.append((name, total, unit))

        def advance(self, amount: int) -> None:
            self.done += amount

    corpus = corpus_of(tmp_path / "c", DOCUMENTS_OF_ALL_KINDS)
    told = Told()
    made(tmp_path, corpus, "one", progress=told)
    assert told.stages == [("indexing texts", len(WORDS), "documents")]
    assert told.done == len(WORDS)
    made(tmp_path, corpus, "two", progress=told, before=tmp_path / "one")
    assert (len(told.stages), told.done) == (1, len(WORDS))


def test_many_readers(tmp_path: Path) -> None:
    """Threads and processes, where nobody can write; the folder may go while it is in use."""
    corpus = corpus_of(tmp_path / "c", DOCUMENTS_OF_ALL_KINDS)
    index = made(tmp_path, corpus)
    before = files_of(index.folder)
    index.folder.chmod(0o500)
    other = TextIndex(index.folder, corpus)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: (index, other)[n % 2].search("river stone"), range(40)))
    assert {one.documents.tobytes() for one in found} == {found[0].documents.tobytes()}
    index.folder.chmod(0o700)
    assert files_of(index.folder) == before
    for path in index.folder.iterdir():
        path.unlink()
    assert len(index.search("river")) == len(WORDS)


def test_a_corpus_without_documents(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c", [{"text": "..."}, {"text": "river"}][:2])
    index = made(tmp_path, corpus)
    assert len(index.search("river")) == 1
    assert len(index.search("stone")) == 0


def test_a_question_loads_no_compiled_code(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "c", DOCUMENTS_OF_ALL_KINDS, meta=("label:list", "date:date"))
    made(tmp_path, corpus)
    code = f"""
import sys, orjson
from pathlib import Path
from strod.corpus.reader import Corpus
from strod.query.snippets import snippet
from strod.query.text import TextIndex
from strod.store.files import Files
from strod.store.schema import CorpusRecord, parse
root = Path({str(tmp_path / "c")!r})
about = parse(orjson.loads((root / "draft.json").read_bytes()), CorpusRecord, root)
index = TextIndex(Path({str(tmp_path / "index")!r}), Corpus(Files(root), about))
print(len(index.search('river -"stone stone"')), snippet("the river", index.matched_terms("river")))
print(index.search("label:A date:2013").documents)
print(sorted({{"numba", "scipy", "pandas"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    shown = ["2 [('the ', False), ('river', True)]", "[3]", "[]"]
    assert done.stdout.splitlines() == shown


def test_a_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_of(tmp_path / "c", DOCUMENTS_OF_ALL_KINDS)
    monkeypatch.setitem(sys.modules, "tantivy", None)
    with pytest.raises(UsageError, match="search needs another package: pip install 'tantivy>="):
        made(tmp_path, corpus)
