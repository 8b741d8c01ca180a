"""The whole corpus step against a naive version, and what its result must not depend on."""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import strod
from strod import InputError, UsageError
from strod.corpus import duplicates, ingest, intake, intern, lexicon, segment, spill
from strod.corpus.words import WordTable
from strod.options import CorpusOptions
from strod.workspace.workspace import Workspace
from tests.corpus.oracle import Record, compare, expected, random_records

if TYPE_CHECKING:
    from pathlib import Path

Build = Callable[..., Workspace]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build into a fresh folder each time."""
    made: list[Path] = []

    def make(*sources: Any, **options: Any) -> Workspace:
        made.append(tmp_path / f"{len(made)}.strod")
        return strod.build(*sources, out=made[-1], **options)

    return make


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "BATCH_DOCUMENTS", 4)
    monkeypatch.setattr(intake, "BATCH_BYTES", 150)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_ROWS_AT_ONCE", 3)
    monkeypatch.setattr(duplicates, "_AT_ONCE", 5)


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "SHARD_TOKENS", 40)
    monkeypatch.setattr(segment, "SHARD_DOCUMENTS", 5)


def count_epochs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Give back a list that grows when the words are set aside."""
    saved: list[int] = []
    save = WordTable.save

    def counted(table: WordTable, folder: Path, epoch: int) -> None:
        saved.append(epoch)
        save(table, folder, epoch)

    monkeypatch.setattr(WordTable, "save", counted)
    return saved


def many_epochs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Set the words aside after each batch."""
    monkeypatch.setattr(WordTable, "nbytes", property(lambda t: 1 << 60 if t.forms.size else 0))
    return count_epochs(monkeypatch)


def files(workspace: Workspace) -> dict[str, bytes]:
    folder = workspace.path / "corpus"
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def reasons(workspace: Workspace) -> dict[str, int]:
    documents = workspace.report["documents"]
    assert documents["read"] == documents["kept"] + documents["rejected"]
    assert documents["kept"] == workspace.corpus.documents
    return {reason: entry["count"] for reason, entry in documents["reasons"].items()}


def whole_text(text: str) -> list[list[str]]:
    """A tokenizer of a user: words by spaces, sentences by lines."""
    return [line.split(" ") for line in text.split("\n")]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"numbers": True},
    {"stem": True},
    {"language": "fr"},
    {"language": "none", "min_df": 3},
    {"min_df": 4, "max_df": 0.5},
    {"max_vocabulary": 5},
    {"duplicates": "drop"},
    {"duplicates": "drop", "stem": True, "numbers": True, "min_df": 2, "max_vocabulary": 9},
    {"stopwords": ("river", "model")},
    {"tokenizer": "bigrams"},
    {"tokenizer": whole_text},
    {"workers": 1},
]


def named(options: dict[str, Any]) -> str:
    """The same in every process: a function has an address, and a name."""
    return str({key: getattr(value, "__name__", value) for key, value in options.items()})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", OPTIONS, ids=named)
def test_corpus_equals_naive_version(build: Build, seed: int, options: dict[str, Any]) -> None:
    records = random_records(seed)
    compare(build(records, **options), expected(records, CorpusOptions(**options)))


@pytest.mark.usefixtures("small_batches", "small_blocks", "small_shards")
@pytest.mark.parametrize("seed", range(3, 9))
@pytest.mark.parametrize("options", OPTIONS[::3], ids=named)
def test_many_small_pieces_equal_naive_version(
    build: Build, seed: int, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    many_epochs(monkeypatch)
    records = random_records(seed, size=50)
    compare(build(records, **options), expected(records, CorpusOptions(**options)))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    "options", [{}, {"stem": True, "min_df": 2}, {"duplicates": "drop"}], ids=str
)
def test_epochs_leave_no_trace(
    build: Build, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = random_records(1, size=60)
    once = build(records, **options)
    saved = many_epochs(monkeypatch)
    again = build(records, **options)
    assert len(saved) >= 10
    assert files(again) == files(once)
    assert again.corpus.sha256 == once.corpus.sha256


@pytest.mark.usefixtures("small_batches")
def test_the_seed_of_the_hashes_leaves_no_trace(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = random_records(1, size=60)
    many_epochs(monkeypatch)
    found = []
    for seed in (0, 1, (1 << 64) - 1):
        for module in (ingest, intern, lexicon):
            monkeypatch.setattr(module, "SEED", np.uint64(seed))
        found.append(files(build(records)))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("last", ["12 34", "some words"])
@pytest.mark.parametrize("first", ["12 34", "some words"])
def test_epoch_without_a_word(
    build: Build, first: str, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "BATCH_DOCUMENTS", 1)
    many_epochs(monkeypatch)
    records = [{"text": text} for text in (first, "plain words", "56", "more words", last)]
    compare(build(records), expected(records, CorpusOptions()))


def test_table_of_words_is_set_aside_only_when_it_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full table makes one new epoch, not one for each batch that follows."""
    monkeypatch.setattr(intake, "BATCH_DOCUMENTS", 1)
    monkeypatch.setattr(ingest, "TABLE_SHARE", (2 << 30) // (3 << 20))  # three megabytes
    saved = count_epochs(monkeypatch)
    large = " ".join(f"w{i:x}" for i in range(60_000))
    texts = [large, *(f"some plain words and number{i}x" for i in range(8))]
    strod.build(texts, out=tmp_path / "w.strod", workers=1)
    assert saved == [0, 1]


@pytest.mark.usefixtures("small_shards", "small_batches")
def test_workers_leave_no_trace(build: Build) -> None:
    records = random_records(4, size=60)
    one, two, three = (build(records, workers=workers) for workers in (1, 2, 3))
    assert files(one) == files(two) == files(three)
    assert one.corpus.sha256 == two.corpus.sha256 == three.corpus.sha256


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("cut", [1, 7, 20])
def test_one_source_or_two(build: Build, tmp_path: Path, with_ids: bool, cut: int) -> None:
    records = [{**r, "id": f"x{i}"} if with_ids else r for i, r in enumerate(random_records(3))]
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    lines.insert(5, b"broken\n")
    whole, first, second = (tmp_path / name for name in ("whole.jsonl", "a.jsonl", "b.jsonl"))
    whole.write_bytes(b"".join(lines))
    first.write_bytes(b"".join(lines[:cut]))
    second.write_bytes(b"".join(lines[cut:]))
    assert files(build(whole)) == files(build(first, second))


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("with_ids", [True, False])
def test_formats_leave_no_trace(build: Build, tmp_path: Path, with_ids: bool) -> None:
    records = [
        {"text": r["text"], **({"id": f"x{i}"} if with_ids else {})}
        for i, r in enumerate(random_records(6, size=40))
    ]
    table = pa.Table.from_pylist(records)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (tmp_path / "odd.jsonl").write_text("".join(f" {json.dumps(record)}\n" for record in records))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    with (tmp_path / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
    wanted = files(build(records))
    assert files(build(iter(records))) == wanted
    assert files(build(table)) == wanted
    assert files(build(table.to_pandas())) == wanted
    for name in ("a.jsonl", "odd.jsonl", "a.parquet", "a.csv"):
        assert files(build(tmp_path / name)) == wanted, name


@pytest.mark.usefixtures("small_shards")
def test_small_shards(build: Build) -> None:
    records = random_records(0, size=40)
    workspace = build(records)
    wanted = expected(records, CorpusOptions())
    compare(workspace, wanted)
    sizes = []
    documents = tokens = 0
    for stream in wanted.streams:
        documents, tokens = documents + 1, tokens + len(stream)
        if documents >= 5 or tokens >= 40:
            sizes.append(documents)
            documents = tokens = 0
    sizes += [documents] if documents else []
    assert [shard.size for shard in workspace.corpus.shards()] == sizes
    assert len(sizes) > 5


def test_shards_leave_no_trace_in_the_arrays(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    records = random_records(5)
    one = build(records)
    monkeypatch.setattr(segment, "SHARD_DOCUMENTS", 3)
    several = build(records)
    arrays = [name for name in files(one) if name.endswith(".npy")]
    assert len(arrays) == 7
    assert {n: files(one)[n] for n in arrays} == {n: files(several)[n] for n in arrays}
    tables = [pa.concat_tables(s.documents() for s in w.corpus.shards()) for w in (one, several)]
    assert tables[0].equals(tables[1])


def test_duplicate_texts(build: Build) -> None:
    texts = ["river stone", "River stone", "river stone", "cloud", "river stone"]
    kept = build(texts)
    assert (kept.corpus.documents, reasons(kept)) == (5, {})
    assert kept.report["documents"]["duplicate_texts"] == 2
    dropped = build(texts, duplicates="drop")
    assert (dropped.corpus.documents, reasons(dropped)) == (3, {"duplicate text": 2})
    first = dropped.report["documents"]["reasons"]["duplicate text"]["first"]
    assert first == ["source 1:3", "source 1:5"]
    (shard,) = dropped.corpus.shards()
    assert shard.documents()["id"].to_pylist() == ["1", "2", "4"]
    assert shard.texts([2, 0]) == ["cloud", "river stone"]


def test_duplicate_ids(build: Build) -> None:
    records = [
        {"id": "a", "text": "river"},
        {"id": "b", "text": "stone"},
        {"id": "a", "text": "cloud"},
        {"id": "c", "text": "1 2 3"},
        {"id": "c", "text": "copper"},
    ]
    workspace = build(records)
    assert reasons(workspace) == {"duplicate id": 1, "no words": 1}
    (shard,) = workspace.corpus.shards()
    assert shard.documents()["id"].to_pylist() == ["a", "b", "c"]
    assert workspace.corpus.lexicon["word"].to_pylist() == ["copper", "river", "stone"]


def test_strict_names_the_first_bad_document(build: Build) -> None:
    with pytest.raises(InputError, match="source 1:2: duplicate id"):
        build([{"id": 1, "text": "river"}, {"id": 1, "text": "stone"}], strict=True)
    with pytest.raises(InputError, match="source 1:2: no words"):
        build(["river", "1 2"], strict=True)


@pytest.mark.parametrize("option", [{}, {"duplicates": "drop"}])
def test_written_forms_of_dropped_documents_do_not_count(
    build: Build, option: dict[str, str]
) -> None:
    same = "drop" in option.values()
    records = [
        {"id": 1, "text": "river River"},
        {"id": 2, "text": "RIVER"},
        {"id": 3 if same else 2, "text": "RIVER" if same else "RIVER cloud"},
        {"id": 4, "text": "River stone"},
    ]
    workspace = build(records, **option)
    assert workspace.corpus.documents == 3
    forms = dict(
        zip(*(workspace.corpus.lexicon[c].to_pylist() for c in ("word", "surface")), strict=True)
    )
    assert forms == {"river": "River", "stone": "stone"}


def test_surface_never_comes_from_a_dropped_document(build: Build) -> None:
    records = [{"id": 1, "text": "apple pear"}, {"id": 1, "text": "APPLE APPLE"}]
    assert build(records).corpus.lexicon["surface"].to_pylist() == ["apple", "pear"]


def test_largest_share_is_reached_exactly(build: Build) -> None:
    """29 of 100 documents are a share of 0.29, which is allowed."""
    texts = ["river stone" if i < 29 else "stone cloud" for i in range(100)]
    workspace = build(texts, max_df=0.29)
    assert workspace.corpus.vocabulary["word"].to_pylist() == ["river"]


def test_stop_words_of_the_user_in_any_case(build: Build) -> None:
    workspace = build(["River stone cloud", "river cloud"], stopwords=["River", "CLOUD"])
    assert workspace.corpus.vocabulary["word"].to_pylist() == ["stone"]


def test_no_word_left(build: Build) -> None:
    with pytest.raises(InputError, match="no word is left for the model: 2 documents"):
        build(["the and", "of the"])
    with pytest.raises(InputError, match="no usable document: source 1:1: no words"):
        build(["1 2", "3 4"])


def test_tokenizer_that_finds_nothing(build: Build) -> None:
    with pytest.raises(InputError, match="no usable document: source 1:1: no words"):
        build(["river", "stone"], tokenizer=lambda _: [])


def test_tokenizer_with_odd_words(build: Build) -> None:
    words = ["", " ", "'S", "'s", "New York", "\ud800", "a\nb", "\u00ad", "x" * 100_000]
    workspace = build(["anything"], tokenizer=lambda _: [[], words, [" "], ["end"]])
    compare_words = {"'s", "new york", "?", "a\nb", "\u00ad", "x" * 100_000, "end"}
    found = set(workspace.corpus.lexicon["word"].to_pylist())
    assert found - {"'S"} == compare_words
    (shard,) = workspace.corpus.shards()
    assert (shard.tokens < 0).sum() == 1


def test_unknown_language_is_found_before_the_text_is_read(build: Build) -> None:
    taken = []

    def source() -> Iterator[str]:
        for text in ("river", "stone"):
            taken.append(text)
            yield text

    with pytest.raises(UsageError, match="language 'xx'"):
        build(source(), language="xx")
    assert taken == []


META = [
    {"text": "river", "date": "2020-05-01", "n": 1, "s": "x", "list": ["a", "b"], "mix": 1},
    {"text": "stone", "date": "2021-02", "n": "2.5", "s": 5, "list": "c", "mix": "2020-01-01"},
    {"text": "cloud", "date": "2022-01-01T10:00:00Z", "n": None, "s": True, "list": None},
    {"text": "copper", "date": "2023-02-30", "n": -3.0, "s": {"k": 1}, "list": [1, None]},
]


def test_metadata_of_each_type(build: Build) -> None:
    workspace = build(META, meta=["date", "n", "s", "list", "mix"])
    assert workspace.corpus.meta == {
        "date": "date",
        "n": "number",
        "s": "category",
        "list": "list",
        "mix": "category",
    }
    (shard,) = workspace.corpus.shards()
    table = shard.documents()
    dates = [dt.date(2020, 5, 1), dt.date(2021, 2, 1), dt.date(2022, 1, 1), None]
    assert table["meta.date"].to_pylist() == dates
    assert table["meta.n"].to_pylist() == [1.0, 2.5, None, -3.0]
    assert table["meta.s"].to_pylist() == ["x", "5", "true", '{"k":1}']
    assert table["meta.list"].to_pylist() == [["a", "b"], ["c"], None, ["1"]]
    assert table["meta.mix"].to_pylist() == ["1", "2020-01-01", None, None]
    misfits = {"date": 1, "n": 0, "s": 0, "list": 0, "mix": 0}
    assert workspace.report["metadata_misfits"] == misfits


def test_metadata_of_a_chosen_type(build: Build) -> None:
    workspace = build(META, meta=["n:category", "s:number", "date:list", "mix:date"])
    (shard,) = workspace.corpus.shards()
    table = shard.documents()
    assert table["meta.n"].to_pylist() == ["1", "2.5", None, "-3.0"]
    assert table["meta.s"].to_pylist() == [None, 5.0, None, None]
    assert table["meta.mix"].to_pylist() == [None, dt.date(2020, 1, 1), None, None]
    misfits = {"n": 0, "s": 3, "date": 0, "mix": 1}
    assert workspace.report["metadata_misfits"] == misfits


@pytest.mark.usefixtures("small_shards", "small_batches")
def test_metadata_goes_with_its_document(build: Build) -> None:
    records: list[Record] = [{**r, "n": i} for i, r in enumerate(random_records(4, size=50))]
    workspace = build(records, meta="n", duplicates="drop")
    for shard in workspace.corpus.shards():
        numbers = shard.documents()["meta.n"].to_pylist()
        texts = shard.texts(list(range(shard.size)))
        assert texts == [records[int(n)]["text"] for n in numbers]


@pytest.mark.parametrize(
    "value", [10**30, -(10**30), "a\ud800b", [[10**30]], {"k": "\ud800"}, {(1, 2): 3}], ids=repr
)
def test_odd_metadata_does_not_stop_a_build(build: Build, value: Any) -> None:
    workspace = build([{"text": "river", "m": value}, {"text": "stone", "m": "x"}], meta="m")
    assert workspace.report["documents"]["read"] == 2


@pytest.mark.parametrize(
    "line",
    [
        b'{"text": "river", "m": "\\ud800"}',
        b'{"text": "river", "m": ' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"text": "river", "m": 100000000000000000000000, "x": NaN}',
    ],
    ids=["surrogate", "deep", "large"],
)
def test_odd_metadata_in_json(build: Build, tmp_path: Path, line: bytes) -> None:
    (tmp_path / "a.jsonl").write_bytes(line + b'\n{"text": "stone", "m": "x"}\n')
    workspace = build(tmp_path / "a.jsonl", meta="m")
    assert workspace.report["documents"]["read"] == 2


def test_broken_utf8_in_the_metadata_of_a_csv_file(build: Build, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text,m\nriver,\xff\nstone,x\n")
    workspace = build(tmp_path / "a.csv", meta="m")
    assert workspace.report["documents"]["read"] == 2


def test_nothing_of_the_work_is_left(build: Build) -> None:
    workspace = build(random_records(2))
    assert sorted(path.name for path in workspace.path.iterdir()) == [
        "corpus",
        "manifest.json",
        "phrases",
        "report.json",
        "tree",
    ]
    tree = workspace.path / "tree"
    found = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file()}
    parts = ["fine.npy", "split.json"]
    parts += [f"0000/{name}.npy" for name in ("indices", "indptr", "values")]
    owners = {part.split for node in workspace.tree.nodes.values() for part in node.components}
    words = {path.name.partition("-")[0] for path in (tree / "words").glob("*.npy")}
    assert words == set(workspace.tree.nodes)
    assert found == {
        "revisions/00001.json",
        *(f"words/{path.name}" for path in (tree / "words").glob("*.npy")),
        *(f"splits/{owner}/{part}" for owner in owners for part in parts),
    }
    assert sorted(files(workspace)) == [
        "0000/counts.npy",
        "0000/documents.parquet",
        "0000/indices.npy",
        "0000/indptr.npy",
        "0000/texts.arrow",
        "0000/token_offsets.npy",
        "0000/tokens.npy",
        "lexicon.parquet",
        "pair_times.npy",
        "pairs.npy",
    ]
    assert workspace.manifest.corpus.settings.min_df == 1
