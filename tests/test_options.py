"""What the user may choose, and what is refused."""

from __future__ import annotations

import os
import re
from dataclasses import fields
from inspect import getsource, signature
from typing import Any

import pytest

from strod import UsageError
from strod.export import export
from strod.keywords import AddOptions, AssignOptions, BuildOptions, ExportOptions, VerbOptions
from strod.model.options import TreeOptions
from strod.options import LEAST_MEMORY, CorpusOptions, memory_size
from strod.phrases.options import PhraseOptions
from strod.text.forms import META_TYPES
from strod.text.records import Fields
from strod.workspace.undo import Changer


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("512MB", 512 << 20),
        ("2GB", 2 << 30),
        ("1.5g", 3 << 29),
        (" 4 GiB ", 4 << 30),
        ("1t", 1 << 40),
        ("1048576k", 1 << 30),
        ("1073741824", 1 << 30),
        ("1073741824b", 1 << 30),
        (1 << 30, 1 << 30),
    ],
)
def test_memory_sizes(text: str | int, expected: int) -> None:
    assert memory_size(text) == expected


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1 000MB", "2XB", "1.GB", "1e9", "nan", "2GBs"])
def test_no_memory_sizes(text: str) -> None:
    with pytest.raises(UsageError, match=r"memory .* is not a size: write 512MB or 2GB"):
        memory_size(text)


@pytest.mark.parametrize("text", ["511MB", "0", 1, "1k", "0.4GB"])
def test_too_little_memory(text: str | int) -> None:
    with pytest.raises(UsageError, match=r"memory .* is too little: at least 512MB"):
        memory_size(text)


@pytest.mark.parametrize(
    ("flag", "values"),
    [
        ("text_field", {"text_field": ()}),
        ("text_field", {"text_field": ("",)}),
        ("format", {"format": "xml"}),
        ("format", {"format": ""}),
        ("min_df", {"min_df": 0}),
        ("min_df", {"min_df": -1}),
        ("max_df", {"max_df": 0}),
        ("max_df", {"max_df": -0.5}),
        ("max_df", {"max_df": 1.01}),
        ("max_df", {"max_df": 5}),
        ("max_df", {"max_df": float("nan")}),
        ("max_vocabulary", {"max_vocabulary": 0}),
        ("duplicates", {"duplicates": "remove"}),
        ("workers", {"workers": 0}),
        ("workers", {"workers": -2}),
        ("memory", {"memory": LEAST_MEMORY - 1}),
        ("meta", {"meta": ("year", "year:number")}),
        ("meta", {"meta": ("",)}),
        ("meta", {"meta": (":date",)}),
    ],
)
def test_bad_values_name_the_flag(flag: str, values: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        CorpusOptions(**values)
    message = str(caught.value)
    assert message.startswith(flag)
    assert "\n" not in message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"min_df": 1, "max_df": 1.0, "max_vocabulary": 1, "workers": 1, "memory": LEAST_MEMORY},
        {"max_df": 1e-9},
        {"meta": tuple(f"f{i}:{kind}" for i, kind in enumerate(META_TYPES))},
        {"format": "parquet", "duplicates": "drop"},
    ],
    ids=str,
)
def test_values_at_the_limits_are_allowed(values: dict[str, Any]) -> None:
    chosen = CorpusOptions(**values)
    assert {name: getattr(chosen, name) for name in values} == values


def test_options_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        CorpusOptions().min_df = 3  # type: ignore[misc]


def test_metadata_types() -> None:
    chosen = CorpusOptions(meta=("year:number", "venue", "dc:title:category"))
    found = [tuple(field[:2]) for field in chosen.meta_types]
    assert found == [("year", "number"), ("venue", "auto"), ("dc:title", "category")]


def test_fields() -> None:
    assert CorpusOptions().fields == Fields()
    chosen = CorpusOptions(text_field=("a", "b"), id_field="key", meta=("year:date",))
    assert chosen.fields == Fields(text=("a", "b"), id="key", id_required=True, meta=("year",))
    # A field that is named must be there, even if it has the name of the default.
    assert CorpusOptions(id_field="id").fields.id_required


def test_settings_hold_what_the_corpus_depends_on() -> None:
    one = CorpusOptions(workers=1, memory=1 << 30, strict=True, stopwords=("b", "a", "b"))
    two = CorpusOptions(workers=7, memory=1 << 31, stopwords=("a", "b"))
    assert one.settings(1) == two.settings(1)
    assert one.settings(1).stopwords == ("a", "b")
    assert CorpusOptions(tokenizer=str.split).settings(1).tokenizer == "str.split"
    assert CorpusOptions(tokenizer="bigrams").settings(1).tokenizer == "bigrams"


@pytest.mark.parametrize(
    "values",
    [
        {"text_field": ("body",)},
        {"id_field": "key"},
        {"meta": ("year",)},
        {"language": "de"},
        {"stopwords": ("x",)},
        {"min_df": 3},
        {"max_df": 0.5},
        {"max_vocabulary": 10},
        {"numbers": True},
        {"stem": True},
        {"tokenizer": "bigrams"},
        {"duplicates": "drop"},
    ],
    ids=str,
)
def test_each_choice_shows_in_the_settings(values: dict[str, Any]) -> None:
    assert CorpusOptions(**values).settings != CorpusOptions().settings


def test_workers_are_the_cores_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert CorpusOptions().workers == 3


def keywords(kind: type) -> set[str]:
    return set(kind.__required_keys__ | kind.__optional_keys__)  # type: ignore[attr-defined]


def test_keywords_are_the_options() -> None:
    """What editors offer is what the functions take."""
    kinds = (CorpusOptions, PhraseOptions, TreeOptions)
    assert keywords(BuildOptions) == {one.name for kind in kinds for one in fields(kind)}
    taken = re.findall(r'how\.get\("(\w+)"', getsource(Changer.__init__))
    assert keywords(VerbOptions) == set(taken)
    assert keywords(ExportOptions) == set(signature(export).parameters) - {"workspace", "to", "out"}
    reading = keywords(AddOptions) & keywords(AssignOptions) - {"progress"}
    assert reading < {one.name for one in fields(CorpusOptions)}
    assert keywords(AddOptions) - reading == {"replace", "note", "dry_run", "progress"}
    assert keywords(AssignOptions) - reading == {"least", "progress", "tell", "top"}
