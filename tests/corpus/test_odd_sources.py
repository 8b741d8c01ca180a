"""Sources as people have them: mixed ids, broken rows, misleading names, long documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strod
from strod.corpus import lexicon, metadata, segment
from strod.corpus.metadata import column, field_type, kind
from strod.errors import InputError, UsageError
from strod.text.reference import tokens

if TYPE_CHECKING:
    from pathlib import Path


def ids(workspace: strod.Workspace) -> list[str]:
    return [i for shard in workspace.corpus.shards() for i in shard.documents()["id"].to_pylist()]


def test_a_number_that_strod_gave_is_no_duplicate(tmp_path: Path) -> None:
    records: list[Any] = [{"text": "river"}, {"text": "stone", "id": 1}, {"text": "cloud"}]
    workspace = strod.build(records, out=tmp_path / "w.strod")
    assert ids(workspace) == ["#1", "1", "#3"]
    assert workspace.report["documents"]["rejected"] == 0


def test_one_broken_string_costs_one_row(tmp_path: Path) -> None:
    texts = pa.array([b"river", b"st\xffne", b"cloud"], type=pa.binary())
    broken = pa.StringArray.from_buffers(3, texts.buffers()[1], texts.buffers()[2])
    table = pa.table({"text": broken, "when": pa.array([10**15] * 3, type=pa.timestamp("s"))})
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", table):
        workspace = strod.build(source, out=tmp_path / "w.strod", overwrite=True, meta="when")
        documents = workspace.report["documents"]
        assert (documents["kept"], list(documents["reasons"])) == (2, ["broken UTF-8"])


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    (tmp_path / "a.csv").write_text("text,text\nriver,stone\n")
    for source in (table, tmp_path / "a.csv"):
        with pytest.raises(InputError, match="duplicate key"):
            strod.build(source, out=tmp_path / "w.strod")


def test_a_mistyped_text_field(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'abstrat'"):
        strod.build([{"title": "a b"}], out=tmp_path / "w", text_field=["title", "abstrat"])


def test_a_metadata_field_that_is_empty_everywhere_is_reported(tmp_path: Path) -> None:
    records = [{"text": "river", "y": 1, "dc:t": None}]
    workspace = strod.build(records, out=tmp_path / "w", meta=["y", "dc:t"])
    assert workspace.report["metadata_missing"] == ["dc:t"]


def test_a_source_without_words_is_useless(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="source 2:1: no words"):
        strod.build(["river stone"], ["12 34"], out=tmp_path / "w.strod")


def test_a_list_of_files_is_not_a_list_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("river")
    for source in ([path], [str(path)]):
        with pytest.raises(UsageError, match=r"build\(\*files\)"):
            strod.build(source, out=tmp_path / "w.strod")


def test_a_workspace_is_not_a_source(tmp_path: Path) -> None:
    strod.build(["river"], out=tmp_path / "w.strod")
    with pytest.raises(InputError, match="workspace"):
        strod.build(tmp_path / "w.strod", out=tmp_path / "v.strod")


@pytest.mark.parametrize("data", [b"%PDF-1.4 x", b"PK\x03\x04 word", b"\x89PNG x"])
def test_a_file_that_is_not_text(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(InputError, match="not a text file"):
        strod.build(tmp_path / "a", out=tmp_path / "w.strod")


@pytest.mark.parametrize("tokenizer", [str.split, lambda _: [[1, 2]]])
def test_a_tokenizer_that_gives_words_is_told(tmp_path: Path, tokenizer: Any) -> None:
    with pytest.raises(UsageError, match=r"\[words\]"):
        strod.build(["river stone"], out=tmp_path / "w.strod", tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("tokenizer", "why"),
    [
        (len, "TypeError: 'int' object is not iterable"),
        (lambda _: [1], "TypeError"),
        (lambda text: [[text["no"]]], "TypeError"),
        (lambda text: [[{}[text]]], "KeyError"),
        (lambda _: None, "NoneType"),
    ],
)
def test_a_tokenizer_that_fails_is_told(tmp_path: Path, tokenizer: Any, why: str) -> None:
    with pytest.raises(UsageError, match=r"the tokenizer failed .* at 'river stone'") as error:
        strod.build(["river stone"], out=tmp_path / "w.strod", tokenizer=tokenizer)
    assert why in str(error.value)
    assert not (tmp_path / "w.strod").exists()


def test_a_module_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_tokenizer.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="cannot be loaded: division by zero"):
        strod.build(["river"], out=tmp_path / "w.strod", tokenizer="broken_tokenizer:cut")


def test_unknown_options_are_named(tmp_path: Path) -> None:
    wrong: dict[str, Any] = {"min_dff": 2}  # a type checker would tell
    with pytest.raises(UsageError, match="min_df"):
        strod.build(["river"], out=tmp_path / "w.strod", **wrong)


def test_runs_do_not_change_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"river stone w{i % 7} " * (i % 5 + 1) for i in range(40)]
    records = [{"text": t, "m": f"x{i}"} for i, t in enumerate(texts)]
    options: dict[str, Any] = {"duplicates": "drop", "meta": "m"}
    whole = strod.build(records, out=tmp_path / "a.strod", **options)
    monkeypatch.setattr(segment, "RUN_TOKENS", 7)
    monkeypatch.setattr(lexicon, "RUN_TOKENS", 11)
    runs = strod.build(records, out=tmp_path / "b.strod", **options)
    assert runs.corpus.sha256 == whole.corpus.sha256
    monkeypatch.setattr(segment, "SHARD_META", 20)
    shards = list(strod.build(records, out=tmp_path / "c.strod", **options).corpus.shards())
    assert len(shards) > len(list(whole.corpus.shards()))
    assert sum(shard.size for shard in shards) == whole.corpus.documents


def test_latex_accents_are_composed_for_display(tmp_path: Path) -> None:
    texts = [r"Schr\"odinger", r"Schr{\"o}dinger", "schrödinger"]
    table = strod.build(texts, out=tmp_path / "w.strod").corpus.lexicon
    assert table.select(["word", "surface"]).to_pylist() == [
        {"word": "schrödinger", "surface": "Schrödinger"}
    ]


@pytest.mark.parametrize(
    ("values", "name", "expected"),
    [
        ([["a", "b"], "xyz"], "list", [["a", "b"], ["xyz"]]),
        (["xyz"], "list", [["xyz"]]),
        ([2001, "1999"], "date", ["2001-01-01", "1999-01-01"]),
        (["1e999"], "number", [None]),
    ],
)
def test_values_of_odd_metadata(values: list[Any], name: str, expected: list[Any]) -> None:
    found = column(values, name)[0].to_pylist()
    assert [str(v) if name == "date" else v for v in found] == expected


@pytest.mark.parametrize("value", ["1234-56", "007", "0000-01-01", "1e999"])
def test_codes_are_categories(value: str) -> None:
    assert field_type({kind(value)}) == "category"


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.sampled_from(
        ["", "a", "xyz", "1.5", "007", "2020-01-02", "2020-02-30", "0000-01-01", "NaN"]
    ),
    st.lists(st.sampled_from(["a", "", "bc"]), max_size=3),
)


@given(st.lists(VALUES, max_size=5), st.sampled_from(["number", "date", "category", "list"]))
def test_columns_do_not_depend_on_neighbours(values: list[Any], name: str) -> None:
    """The quick way gives what value by value gives."""
    quick = metadata._plain_column(values, name)
    if quick is not None:
        cast = [metadata._cast(value, name) for value in values]
        assert quick.to_pylist() == pa.array(cast, type=quick.type).to_pylist()


def test_many_addresses_are_read_in_time() -> None:
    """Each look back ends at the space before the address."""
    assert tokens("user@example.com " * 20_000 + "end") == ["end"]
