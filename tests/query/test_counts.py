"""Every number equals a recount in plain Python."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import pytest

import strod
from strod.errors import UsageError
from strod.query.entities import Entities
from tests.chance import long_but
from tests.conftest import strod as command
from tests.explorer.conftest import serving
from tests.planted_text import planted_texts
from tests.query.recount import Record, value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.query.conftest import Asked

CORPORA = long_but(range(5), range(30))
FIELDS = (
    ["when"], ["when:quarter"], ["when:month"], ["when:day"], ["price:25"], ["year"], ["venue"],
    ["people"], ["venue", "when"], ["people", "year"], ["people", "price:10", "venue"],
)  # fmt: skip


def after(year: int) -> Callable[[Record], bool]:
    def test(record: Record) -> bool:
        when = value(record, "when")
        return when is not None and when.year >= year

    return test


def of_some(record: Record) -> bool:
    return value(record, "venue") == "B b" or "Ada" in (value(record, "people") or ())


def dear(record: Record) -> bool:
    return value(record, "year") in (1996, 1999) and (value(record, "price") or -1.0) >= 0


WHERE: tuple[tuple[str | None, Callable[[Record], bool]], ...] = (
    (None, lambda _: True),
    ("when >= 1970", after(1970)),
    ("venue = 'B b' OR people = Ada", of_some),
    ("year IN (1996, 1999) AND NOT price < 0", dear),
    ("people IS NULL", lambda record: value(record, "people") is None),
)


@pytest.mark.parametrize("corpus", CORPORA)
def test_slices(drawn: Callable[[int], Asked], corpus: int) -> None:
    workspace, naive = drawn(corpus)
    for number, by in enumerate(FIELDS):
        where, test = WHERE[(number + corpus) % len(WHERE)]
        rows = workspace.slice(by, where=where).to_pylist()
        found = {
            (row["topic"], *(row[name] for name in by)): (
                row["documents"],
                row["share"],
                row["lift"],
            )
            for row in rows
        }
        wanted = naive.slice(by, test)
        assert found.keys() == wanted.keys()
        for key, numbers in found.items():
            assert numbers == pytest.approx(wanted[key])


@pytest.mark.parametrize("corpus", CORPORA)
def test_sums(drawn: Callable[[int], Asked], corpus: int) -> None:
    workspace, naive = drawn(corpus)
    tree = workspace.tree
    for field in ("when", "venue", "year", "price"):
        rows = workspace.slice(field).to_pylist()
        counts = {(row["topic"], row[field]): row["documents"] for row in rows}
        assert sum(n for (topic, _), n in counts.items() if topic == "o") == len(naive.ids)
        for (topic, one), count in counts.items():
            children = tree[topic].children
            below = sum(counts.get((child.path, one), 0) for child in children)
            assert below == count or not children


def matched(words: list[str], query: str) -> bool:
    """Whether a document of plain words is found by one, some, a phrase, or the begin of one."""
    if query.startswith('"'):
        phrase = query.strip('"').split()
        size = len(phrase)
        return any(words[i : i + size] == phrase for i in range(len(words)))
    parts = [part.split(" OR ") for part in query.split(" AND ")]
    return all(
        any(has(words, one.removeprefix("-")) != one.startswith("-") for one in part)
        for part in parts
    )


def has(words: list[str], one: str) -> bool:
    return any(word.startswith(one[:-1]) if one.endswith("*") else word == one for word in words)


@pytest.mark.parametrize("corpus", CORPORA)
def test_searches(drawn: Callable[[int], Asked], corpus: int) -> None:
    workspace, naive = drawn(corpus)
    words = {name: naive.records[name]["text"].split() for name in naive.ids}
    first = next(iter(words.values()))
    queries = [first[0], f'"{first[1]} {first[2]}"', f"{first[0]} OR {first[3]}", "riverf*"]
    queries += [f"{first[0]} AND {first[4]}", f"{first[0]} AND -{first[5]}", "nowhere"]
    usual = {path: sum(path in naive.above(one) for one in naive.ids) for path in workspace.tree}
    topics = [None, *list(workspace.tree)[1:]]
    for number, query in enumerate(queries):
        where, test = WHERE[(number + corpus) % len(WHERE)]
        topic = topics[number % len(topics)]
        meant = [
            one for one in naive.ids if test(naive.records[one]) and matched(words[one], query)
        ]
        hits = [one for one in meant if topic is None or topic in naive.above(one)]
        found = workspace.search(query, topic=topic, where=where, limit=0)
        assert found.total == len(hits)
        assert sorted(found.documents["id"].to_pylist()) == sorted(hits)
        assert found.documents["leaf"].to_pylist() == [
            naive.leaf[one] for one in found.documents["id"].to_pylist()
        ]
        here = {path: sum(path in naive.above(one) for one in hits) for path in workspace.tree}
        assert {row["path"]: row["hits"] for row in found.topics.to_pylist()} == {
            path: count for path, count in here.items() if count
        }
        for row in found.topics.to_pylist():
            lift = here[row["path"]] / len(hits) / (usual[row["path"]] / len(naive.ids))
            assert row["lift"] == pytest.approx(lift)
        page = workspace.search(query, topic=topic, where=where, limit=3, offset=2)
        assert page.documents.to_pylist() == found.documents.to_pylist()[2:5]
        assert (page.total, page.topics) == (found.total, found.topics)
        assert page.snippets == found.snippets[2:5]


@pytest.mark.parametrize("corpus", CORPORA)
def test_documents_of_topics(drawn: Callable[[int], Asked], corpus: int) -> None:
    workspace, naive = drawn(corpus)
    where, test = WHERE[1 + corpus % (len(WHERE) - 1)]
    for path in workspace.tree:
        held = {
            name: 1.0 if path == "o" else naive.topics[name].get(path, 0.0) for name in naive.ids
        }
        meant = [name for name in naive.ids if held[name] and test(naive.records[name])]
        found = workspace.documents(path, where=where, limit=0).to_pylist()
        assert sorted(row["id"] for row in found) == sorted(meant)
        assert [row["share"] for row in found] == sorted(
            (held[name] for name in meant), reverse=True
        )
        assert all(row["leaf"] == naive.leaf[row["id"]] for row in found)
        assert workspace.documents(path, where=where, limit=3, offset=2).to_pylist() == found[2:5]
        assert workspace.tree[path].documents == sum(path in naive.above(one) for one in naive.ids)


@pytest.mark.parametrize("corpus", CORPORA)
def test_entities(drawn: Callable[[int], Asked], corpus: int) -> None:
    workspace, naive = drawn(corpus)
    for field in ("people", "venue"):
        entities = Entities(workspace.snapshot.index, field)
        for path, topic in workspace.tree.items():
            parent = topic.parent.path if topic.parent else None
            some = naive.entities(path, parent, field)
            wanted = [one for one in some if one[1] > 0]  # others are no more frequent than above
            found = entities.best(topic, 0)
            assert {one.name: one.documents for one in found} == {one[0]: one[2] for one in wanted}
            assert [one.score for one in found] == pytest.approx([one[1] for one in wanted])
            assert workspace.entities(path, field, 2) == found[:2]


@pytest.mark.parametrize("corpus", CORPORA)
def test_topics_of_an_entity(drawn: Callable[[int], Asked], corpus: int) -> None:
    workspace, naive = drawn(corpus)
    for name in ("Ada", "李"):
        has = [one for one in naive.ids if name in (value(naive.records[one], "people") or ())]
        rows = workspace.entity("people", name).to_pylist()
        for row in rows:
            here = sum(row["path"] in naive.above(one) for one in has)
            usual = sum(row["path"] in naive.above(one) for one in naive.ids) / len(naive.ids)
            assert row["documents"] == here
            assert row["lift"] == pytest.approx(here / len(has) / usual)
        assert {row["path"] for row in rows} == {path for one in has for path in naive.above(one)}
        counts = [row["documents"] for row in rows]
        assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("corpus", CORPORA)
def test_series_of_trends(drawn: Callable[[int], Asked], corpus: int) -> None:
    workspace, naive = drawn(corpus)
    for field in ("when:year", "when:quarter", "year"):
        found = workspace.trends(field)
        wanted = naive.slice([field])
        totals = {key[1]: n for key, (n, _, _) in wanted.items() if key[0] == "o"}
        for one in found.rows:
            assert [bucket for bucket, _, _ in one.series] == sorted(filter(None, totals))
            for bucket, documents, share in one.series:
                assert documents == wanted.get((one.topic.path, bucket), (0,))[0]
                assert share == documents / totals[bucket]
            assert one.slope.low <= one.slope.slope <= one.slope.high
        slopes = [one.slope.slope for one in found.rows]
        assert slopes == sorted(slopes, reverse=True)


def test_bins_begin_where_they_say(tmp_path: Path) -> None:
    values = [0.1, 0.2, 0.3, 0.6, 0.7, -0.0, 0.0, 0.65, 1e300, -1e300, None]
    texts = planted_texts(len(values) * 8)
    records = [
        {"text": text, "x": values[n % len(values)], "topic": "t", "id": str(n)}
        for n, text in enumerate(texts)
    ]
    meta = {"x": "number", "topic": "category"}
    out = tmp_path / "w.strod"
    workspace = strod.build(records, out=out, meta=meta, children=2, height=1, min_df=1)
    small = "x < 2 AND x > -2"
    rows = workspace.slice("x:0.1", level=0, where=small).to_pylist()
    assert [row["x:0.1"] for row in rows] == [0, 0.1, 0.2, 0.3, 0.6, 0.7]
    assert [row["documents"] for row in rows] == [16, 8, 8, 8, 16, 8]
    wide = workspace.slice("x", level=0).to_pylist()
    assert sum(row["documents"] for row in wide) == len(records)
    with pytest.raises(UsageError, match="are too narrow for these numbers"):
        workspace.slice("x:1e-320")
    own = workspace.slice(["topic", *(f"x:0.{n}" for n in range(1, 9))], where=small)
    assert own.column_names[:2] == ["topic", "meta.topic"]
    assert {row["topic"] for row in own.to_pylist()} == {"o", "o/1", "o/2"}


def test_fields_may_be_called_as_columns_are(tmp_path: Path) -> None:
    """Those of an answer are called meta.NAME then, wherever one asks."""
    names = ["topic", "documents", "share", "lift"]
    records = [
        {"text": text, **{name: f"{name}{n % 3}" for name in names}}
        for n, text in enumerate(planted_texts(60))
    ]
    out = tmp_path / "w.strod"
    strod.build(records, out=out, meta=names, children=2, height=1, min_df=1)
    for name in names:
        for more in ([], ["--by", "share" if name == "topic" else "topic"]):
            shown = command("slice", out, "--by", name, *more, "--measure", "documents", "-q")
            assert shown.code == 0, shown.err
            assert shown.out.split()[:3] == [f"{name}{n}" for n in range(3)]
        drawing = tmp_path / f"{name}.svg"
        assert command("slice", out, "--by", name, "--plot", drawing, "-q").code == 0
        assert command("plot", out, "heatmap", "--by", name, "--out", drawing, "-q").code == 0
        assert all(f"{name}{n}" in drawing.read_text() for n in range(3))
    with serving(out) as client:
        found = client.json("slice", by=["topic", "lift"])
        assert found["columns"] == ["meta.topic", "meta.lift"]
        assert found["rows"][0].keys() >= set(found["columns"])


def test_a_document_without_a_known_word_counts_where_its_shares_lead(tmp_path: Path) -> None:
    """It has no leaf, but shares: so the children of every topic add up to it."""
    texts = [*planted_texts(120), "zyzzyva"]
    records = [{"id": f"d{n}", "text": text, "year": n % 3} for n, text in enumerate(texts)]
    options: dict[str, Any] = {"meta": {"year": "number"}, "children": 3, "height": 1, "min_df": 2}
    workspace = strod.build(records, out=tmp_path / "w.strod", **options)
    hits = workspace.search("zyzzyva")
    assert hits.documents["leaf"].to_pylist() == [None]
    assert {row["id"]: row["leaf"] for row in workspace.assign()}["d120"] is None
    [(path, count)] = [(r["path"], r["hits"]) for r in hits.topics.to_pylist() if r["path"] != "o"]
    assert count == 1
    rows = workspace.slice("year").to_pylist()
    for topic in workspace.tree.values():
        assert sum(r["documents"] for r in rows if r["topic"] == topic.path) == topic.documents
    assert sum(topic.documents for topic in workspace.tree["o"].children) == len(texts)
    assert path in [topic.path for topic in workspace.tree["o"].children]


def test_all_placements(drawn: Callable[[int], Asked]) -> None:
    workspace, naive = drawn(1)
    rows = workspace.placements().to_pylist()
    found: dict[str, dict[str, float]] = {name: {} for name in naive.ids}
    for row in rows:
        found[row["id"]][row["topic"]] = row["share"]
    assert found == {name: pytest.approx(topics) for name, topics in naive.topics.items()}
    topics = workspace.topics_table().to_pylist()
    assert [row["path"] for row in topics] == list(workspace.tree)
    assert [row["documents"] for row in topics] == [t.documents for t in workspace.tree.values()]


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@pytest.mark.parametrize("sign", OPERATORS)
def test_comparisons(drawn: Callable[[int], Asked], sign: str) -> None:
    workspace, naive = drawn(2)
    test = OPERATORS[sign]

    def meant(where: str) -> set[str]:
        table = workspace.documents("o", where=where, limit=0)
        return set(table["id"].to_pylist())

    def expected(field: str, key: Callable[[Any], Any], wanted: Any) -> set[str]:
        values = {name: value(naive.records[name], field) for name in naive.ids}
        return {name for name, one in values.items() if one is not None and test(key(one), wanted)}

    assert meant(f"price {sign} 7") == expected("price", float, 7.0)
    assert meant(f"price {sign} -3.0e0") == expected("price", float, -3.0)
    assert meant(f"when {sign} 1975") == expected("when", lambda one: one.year, 1975)
    month = expected("when", lambda one: (one.year, one.month), (1971, 6))
    assert meant(f"when {sign} '1971-06'") == month
    assert meant(f"when {sign} 1971-06-09") == expected(
        "when", lambda o: o.isoformat(), "1971-06-09"
    )
