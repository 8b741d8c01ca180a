"""Every format holds every topic, and readers of the format agree."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import pytest
from markdown_it import MarkdownIt
from rdflib import RDF, Graph, Literal, URIRef
from rdflib.namespace import DCTERMS, SKOS

from strod.errors import UsageError
from strod.export import export, tree_html
from strod.export.names import name_of
from strod.export.samples import LENGTH, _beginning, samples
from strod.progress import Silent
from strod.store.schema import replace
from strod.wording import line, plain
from strod.workspace.placements import assign_corpus
from tests.conftest import strod
from tests.export.conftest import NAMES, SCRIPT

if TYPE_CHECKING:
    from pathlib import Path

    from strod.workspace.workspace import Workspace


def text_of(workspace: Workspace, to: str, **options: Any) -> str:
    text = export(workspace, to, **options)
    assert text is not None
    return text


def table(path: Path) -> list[dict[str, str]]:
    data = path.read_bytes()
    assert data.endswith(b"\r\n")
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True))


def test_json_is_what_show_prints(nasty: Workspace) -> None:
    assert text_of(nasty, "json") == strod("show", nasty.path, "--json").out
    few = json.loads(text_of(nasty, "json", phrases=2))
    assert max(len(topic["phrases"]) for topic in few["topics"]) <= 2


def test_tables_of_topics_and_phrases(nasty: Workspace, tmp_path: Path) -> None:
    export(nasty, "csv", tmp_path / "t", phrases=3)
    rows = {row["path"]: row for row in table(tmp_path / "t" / "topics.csv")}
    assert set(rows) == set(nasty.tree)
    for path, row in rows.items():
        topic = nasty.tree[path]
        assert (row["id"], int(row["level"]), row["sha256"]) == (
            topic.id, topic.level, topic.sha256,
        )  # fmt: skip
        assert (float(row["weight"]), int(row["documents"])) == (topic.weight, topic.documents)
        assert row["parent"] == (topic.parent.id if topic.parent else "")
        assert row["phrases"] == "; ".join(text for text, _ in topic.phrases[:3])
    assert rows["o/1"]["label"] == "'" + NAMES["o/1"]
    assert rows["o/2"]["label"] == NAMES["o/2"]
    assert rows["o/3"]["label"] == "'" + NAMES["o/3"]
    phrases = table(tmp_path / "t" / "phrases.csv")
    expected = [
        (path, str(rank), text, score)
        for path in rows
        for rank, (text, score) in enumerate(nasty.tree[path].phrases[:3], start=1)
    ]
    found = [(r["path"], r["rank"], r["phrase"], float(r["score"])) for r in phrases]
    assert found == expected


def test_table_of_documents(nasty: Workspace, tmp_path: Path) -> None:
    export(nasty, "csv", tmp_path / "t")
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in table(tmp_path / "t" / "documents.csv"):
        assert row["topic"] == nasty.tree[row["path"]].id
        found[row["id"], row["leaf"]][row["path"]] = float(row["share"])
    expected = {("'" + row["id"], row["leaf"]): row["topics"] for row in assign_corpus(nasty)}
    assert found == expected


def test_no_document_is_lost_without_topics(flat: Workspace, tmp_path: Path) -> None:
    export(flat, "csv", tmp_path / "t")
    rows = table(tmp_path / "t" / "documents.csv")
    assert [(row["leaf"], row["path"], float(row["share"])) for row in rows] == [("o", "o", 1)] * 3


@pytest.mark.parametrize("text", ["=1", "+1", "-x", "@f", "\tx", "\rx"])
def test_formulas_areharmless(text: str) -> None:
    from strod.export.tables import harmless  # noqa: PLC0415

    assert harmless(text) == "'" + text
    assert harmless("a" + text) == "a" + text
    assert (harmless(-1.5), harmless(-2)) == (-1.5, -2)


def test_markdown_is_an_outline(nasty: Workspace) -> None:
    text = text_of(nasty, "markdown")
    items, depth, levels, strong = [], 0, [], []
    for token in MarkdownIt().parse(text):
        depth += (token.type == "bullet_list_open") - (token.type == "bullet_list_close")
        if token.type == "inline" and depth:
            children = token.children or []
            kinds = {child.type for child in children}
            assert kinds <= {"text", "text_special", "strong_open", "strong_close"}, kinds
            inside = "".join(child.content for child in children)
            items.append(inside)
            levels.append(depth - 1)
            strong.append(sum(child.type == "strong_open" for child in children))
    topics = [nasty.tree[path] for path in sorted(nasty.tree)]
    assert levels == [topic.level for topic in topics]
    assert strong == [1] * len(topics)
    for item, topic in zip(items, topics, strict=True):
        name = line(" ".join(name_of(topic).split()))
        assert item.startswith(f"{name} ({topic.path}, {100 * topic.weight:.1f}%)")
    assert len(text_of(nasty, "markdown", phrases=1)) < len(text)


def test_words_stand_in_where_there_are_no_phrases(flat: Workspace) -> None:
    assert not flat.tree.root.phrases
    words = ", ".join(word for word, _ in flat.tree.root.top(10))
    assert words
    assert text_of(flat, "markdown").endswith(f"(o, 100.0%): {words}\n")


def test_networkx_reads_the_graph(nasty: Workspace, tmp_path: Path) -> None:
    export(nasty, "graphml", tmp_path / "g.graphml")
    graph = nx.read_graphml(tmp_path / "g.graphml")
    assert graph.is_directed()
    assert set(graph) == {topic.id for topic in nasty.tree.values()}
    edges = {(t.parent.id, t.id) for t in nasty.tree.values() if t.parent}
    assert set(graph.edges) == edges
    for topic in nasty.tree.values():
        assert graph.nodes[topic.id] == {
            "label": plain(name_of(topic)), "path": topic.path, "level": topic.level,
            "weight": topic.weight, "documents": topic.documents,
            "phrases": "; ".join(text for text, _ in topic.phrases) or None,
        }  # fmt: skip


def test_rdflib_reads_the_concepts(nasty: Workspace) -> None:
    graph = Graph().parse(data=text_of(nasty, "skos"), format="turtle")
    names = {t.id: URIRef(f"urn:strod:topic:{t.id}") for t in nasty.tree.values()}
    scheme = URIRef("urn:strod:topic:scheme")
    assert set(graph.subjects(RDF.type, SKOS.Concept)) == set(names.values())
    assert list(graph.subjects(RDF.type, SKOS.ConceptScheme)) == [scheme]
    assert graph.value(scheme, DCTERMS.title) == Literal("na<s>ty &")
    assert list(graph.objects(scheme, SKOS.hasTopConcept)) == [names["o"]]
    assert list(graph.subjects(SKOS.topConceptOf, scheme)) == [names["o"]]
    for topic in nasty.tree.values():
        concept = names[topic.id]
        above = [names[topic.parent.id]] if topic.parent else []
        assert list(graph.objects(concept, SKOS.broader)) == above
        assert set(graph.objects(concept, SKOS.narrower)) == {names[c.id] for c in topic.children}
        assert list(graph.objects(concept, SKOS.inScheme)) == [scheme]
        assert list(graph.objects(concept, SKOS.notation)) == [Literal(topic.path)]
        preferred = list(graph.objects(concept, SKOS.prefLabel))
        assert preferred == [Literal(name_of(topic), lang="en")]
        others = set(graph.objects(concept, SKOS.hiddenLabel))
        phrases = {Literal(text, lang="en") for text, _ in topic.phrases}
        assert others == phrases - set(preferred)


def test_preferred_and_alternative_labels_are_disjoint(planted: Workspace) -> None:
    planted.rename("o/1", planted.tree["o/1"].top(1)[0][0])
    planted.refresh()
    topic = planted.tree["o/1"]
    assert topic.label
    topic.phrases[:0] = [(topic.label, 1.0), ("other", 0.5), ("other", 0.4)]
    graph = Graph().parse(data=text_of(planted, "skos", base="https://x.org/t#"), format="turtle")
    concept = URIRef(f"https://x.org/t#{topic.id}")
    others = list(graph.objects(concept, SKOS.hiddenLabel))
    assert Literal(topic.label, lang="en") not in others
    assert Literal("other", lang="en") in others


def test_a_corpus_without_language_has_labels_without_one(planted: Workspace) -> None:
    settings = replace(planted.manifest.corpus.settings, language="none")
    corpus = replace(planted.manifest.corpus, settings=settings)
    planted.snapshot.manifest = replace(planted.manifest, corpus=corpus)
    graph = Graph().parse(data=text_of(planted, "skos"), format="turtle")
    labels = {str(label): label.language for label in graph.objects(None, SKOS.prefLabel)}  # type: ignore[attr-defined]
    assert labels.pop("everything") == "en"
    assert set(labels.values()) == {None}


@pytest.mark.parametrize("base", ["topics", "", "https://x.org/a b", 'urn:x:"', "urn:x:<>"])
def test_a_base_that_is_no_uri(flat: Workspace, base: str) -> None:
    with pytest.raises(UsageError, match="is no URI"):
        export(flat, "skos", base=base)


class Page(HTMLParser):
    """What a browser would see: elements, what they load, text."""

    VOID = ("meta", "input", "br", "link")

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: dict[str, list[str]] = defaultdict(list)
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words[self.open[-1] if self.open else ""].append(data)

    def count(self, tag: str, name: str | None = None) -> int:
        return sum(t == tag and name in (None, a.get("class")) for t, a in self.found)


def test_page_is_one_file_andharmless(nasty: Workspace) -> None:
    text = text_of(nasty, "html")
    page = Page(text)
    policies = [a["content"] for _, a in page.found if "http-equiv" in a]
    assert [str(policy).partition(";")[0] for policy in policies] == ["default-src 'none'"]
    assert page.count("script") == 1
    assert page.count("style") == 1
    assert {tag for tag, _ in page.found} & {"link", "img", "iframe", "object", "b-x"} == set()
    attributes = {name for _, about in page.found for name in about}
    assert attributes & {"src", "href", "style", "action", "onclick", "onload"} == set()
    code = "".join(page.words["script"] + page.words["style"])
    assert not any(word in code for word in ("http", "url(", "@import", "fetch", "innerHTML"))
    assert "".join(page.words["title"]) == "na<s>ty &: topics"
    assert text.count("<script>") == 1


def test_page_has_every_topic_with_its_phrases_words_and_documents(nasty: Workspace) -> None:
    page = Page(text_of(nasty, "html"))
    assert page.count("li", "topic") == len(nasty.tree)
    assert page.count("details", "documents") == len(nasty.tree) - 1
    spans, items = page.words["span"], page.words["li"]
    for topic in nasty.tree.values():
        assert topic.path in spans
        assert plain(name_of(topic)) in spans
        assert f"{100 * topic.weight:.1f}%" in spans
        assert {text for text, _ in topic.phrases[:10]} <= set(items)
        assert {word for word, _ in topic.top(12)} <= set(page.words["bdi"])
    shown = samples(nasty, 5, Silent())
    assert len(shown) == len(nasty.tree) - 1
    for one in (one for some in shown.values() for one in some):
        assert one.text.startswith(SCRIPT)
        assert one.text in spans
        assert one.id in page.words["code"]
    without = Page(text_of(nasty, "html", documents=0, phrases=1))
    assert without.count("details", "documents") == 0
    assert without.count("li") == len(nasty.tree) + sum(
        bool(topic.phrases) for topic in nasty.tree.values()
    )


def test_page_of_a_tree_without_topics(flat: Workspace) -> None:
    page = Page(text_of(flat, "html"))
    assert page.count("li") == 1
    assert {"lang": "", "class": "tree", "role": "list"} in [about for _, about in page.found]


def test_samples_have_the_largest_shares(nasty: Workspace) -> None:
    shares = nasty.tree.shares()
    rows = [shard.counts for shard in nasty.corpus.shards()]
    words = np.concatenate([np.diff(counts.indptr) for counts in rows])
    ids = [one for shard in nasty.corpus.shards() for one in shard.ids]
    for name, found in samples(nasty, 7, Silent()).items():
        share = shares[name].round(6)
        order = sorted(range(len(ids)), key=lambda i: (-share[i], -words[i], i))[:7]
        assert [(one.id, one.share) for one in found] == [(ids[i], share[i]) for i in order]


def test_samples_of_several_shards(nasty: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = samples(nasty, 4, Silent())
    segment = nasty.corpus.segment("0000")
    monkeypatch.setattr(segment, "about", replace(segment.about, boundaries=(0, 1, 100, 103, 300)))
    assert sum(1 for _ in nasty.corpus.shards()) == 4
    assert samples(nasty, 4, Silent()) == expected


def test_the_beginning_of_a_text() -> None:
    assert _beginning(" a\n\n b\t") == "a b"
    long = _beginning("word " * 100)
    assert long.endswith("word…")
    assert len(long) <= LENGTH + 1
    assert _beginning("x" * 1000) == "x" * LENGTH + "…"


def test_notebooks_get_a_small_tree(nasty: Workspace, flat: Workspace) -> None:
    page = Page(tree_html(nasty.tree))
    assert {tag for tag, _ in page.found} == {
        "div", "details", "summary", "code", "strong", "span",
    }  # fmt: skip
    assert page.words["code"] == sorted(nasty.tree)
    assert [a for tag, a in page.found if tag == "details" and "open" in a] == [
        {"style": "margin:.1em 0 .1em 1.2em", "open": None}
    ]
    assert plain(NAMES["o/1"]) in page.words["strong"]
    assert Page(tree_html(flat.tree)).words["code"] == ["o"]
