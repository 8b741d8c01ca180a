"""What verbs say beforehand is what they do: on the command line and in Python."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import strod
from strod.values.topic import ROOT
from strod.workspace.workspace import Workspace
from tests.conftest import strod as run
from tests.planted_text import planted_texts
from tests.revise.seen import check_tree, files_of, topics_of

if TYPE_CHECKING:
    from pathlib import Path


def said(*arguments: object) -> list[str]:
    """Lines of a command that went well."""
    outcome = run(*arguments, "-q")
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.splitlines()


def parsed(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads("\n".join(said(*arguments, "--json")))
    return found


VERBS = [
    ["expand", "o/1", "--children", "2"],
    ["expand", "o/1", "--children", "2", "--fresh"],
    ["expand", "o", "--children", "2"],
    ["collapse", "o/2"],
    ["merge", "o/1", "o/3"],
    ["merge", "o/1/1", "o/2/1"],
    ["remove", "o/1/1"],
    ["remove", "o/2"],
    ["remove", "o/1/1", "--into", "o/1/2"],
    ["remove", "o/1/1", "--into", "o"],
    ["move", "o/1/1", "o/2"],
    ["move", "o/1/1", "o/2/2"],
    ["rename", "o/1", "name"],
    ["pin", "o/1"],
]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: "_".join(verb).replace("/", ""))
def test_what_is_previewed_is_applied(workspace: Workspace, verb: list[str]) -> None:
    """The same ids and numbers, which are those of the tree afterwards; and back again."""
    before, files = topics_of(workspace.tree), files_of(workspace)
    command = [verb[0], workspace.path, *verb[1:]]
    planned = parsed(*command, "--dry-run")
    assert files_of(workspace) == files
    done = parsed(*command)
    assert (planned.pop("applied"), done.pop("applied")) == (False, True)
    assert planned == done
    after = topics_of(workspace.refresh().tree)
    assert {one["id"] for one in done["new"]} == set(after) - set(before)
    members = {one["id"] for joined in done["joined"] for one in joined["of"]}
    lost = {one["id"] for one in done["lost"]}
    assert lost == set(before) - set(after) - members
    assert set(before) - set(after) <= lost | members
    for one in (*done["new"], *done["joined"]):
        assert one["weight"] == after[one["id"]].numbers.weight
        assert one["path"] == after[one["id"]].path
    other = {
        name: (before[name].numbers.weight, after[name].numbers.weight)
        for name in before.keys() & after.keys()
        if before[name].numbers.weight != after[name].numbers.weight
    }
    assert {one["id"]: (one["before"], one["after"]) for one in done["weights"]} == other
    check_tree(workspace)
    back = parsed("undo", workspace.path)
    assert {one["id"]: (one["after"], one["before"]) for one in back["weights"]} == other
    assert {one["id"] for one in back["lost"]} <= {one["id"] for one in done["new"]}
    assert topics_of(workspace.refresh().tree) == before


def test_in_python_too(workspace: Workspace) -> None:
    planned = workspace.remove("o/1/1", dry_run=True)
    done = workspace.remove("o/1/1")
    assert planned.as_dictionary() == done.as_dictionary()
    assert json.loads(json.dumps(done.as_dictionary())) == done.as_dictionary()
    for name, (before, after) in done.weights.items():
        assert before < after == workspace.tree[name].weight
    [(parent, (none, rest))] = done.rests.items()
    assert (workspace.tree[parent].path, none) == ("o/1", 0.0)
    assert rest == workspace.tree["o/1"].rest > 0


# -- warnings ----------------------------------------------------------------------------


def test_warnings(workspace: Workspace) -> None:
    tree = workspace.tree
    small, large = tree["o/1/3"], tree["o/1/1"]
    said("rename", workspace.path, small.id, "River elm")
    found = parsed("remove", workspace.path, large.id, "--into", small.id, "--dry-run")
    kinds = {(one["kind"], one["topic"]) for one in found["warnings"]}
    assert ("doubles", small.id) in kinds
    texts = [one["text"] for one in found["warnings"]]
    assert any(re.fullmatch(r"o/1/3 \(River elm\) more than doubles: .*% -> .*%", t) for t in texts)
    lines = said("remove", workspace.path, large.id, "--into", small.id, "--dry-run")
    assert [line.removeprefix("warning: ") for line in lines if "warning: " in line] == texts


def test_a_topic_that_takes_its_parent_over(workspace: Workspace) -> None:
    first, second, third = (child.id for child in workspace.tree["o/1"].children)
    workspace.move(first, "o/2")
    change = workspace.move(second, "o/2", dry_run=True)
    assert ("large", third) in {(one.kind, one.topic) for one in change.warnings}
    assert ("halves", workspace.tree["o/1"].id) in {(w.kind, w.topic) for w in change.warnings}


def test_few_documents_are_told(workspace: Workspace) -> None:
    change = workspace.expand("o/1", 6, force=True, dry_run=True)
    small = [one for one in change.warnings if one.kind == "small"]
    assert small
    for one in small:
        assert change.effective[one.topic] < 20
        assert re.search(r" has \d+ effective documents only$", one.text)
    assert {one.topic for one in small} == {n for n in change.added if change.effective[n] < 20}


def test_effective_documents(workspace: Workspace) -> None:
    change = workspace.merge("o/1", "o/2")
    shares = workspace.tree.shares()
    assert set(change.effective) == set(shares) - {"o"}  # which no verb counts again
    for name, found in change.effective.items():
        assert found == pytest.approx(shares[name].sum() ** 2 / (shares[name] ** 2).sum())


def test_a_name_that_no_longer_fits(workspace: Workspace) -> None:
    """It was given for the phrases that the topic had; one that still has them fits."""
    workspace.rename("o/1/2", "mine")
    workspace.rename("o/3", "yours")
    change = workspace.move("o/3", "o/1/2", dry_run=True)
    told = {one.topic: one.text for one in change.warnings if one.kind == "name"}
    assert list(told) == [workspace.tree["o/1/2"].id]
    assert "o/1/2 (mine) no longer fits its name: it says " in told[workspace.tree["o/1/2"].id]


# -- remove ------------------------------------------------------------------------------


def themes() -> list[str]:
    """Of 80 documents each: the first theme has words of the second and of the third in turn."""
    random = np.random.default_rng(3)
    texts = []
    for number in range(240):
        theme = "abc"[number % 3]
        link = {"b": "ab", "c": "ac"}.get(theme, ("ab", "ac")[number % 2])
        own = random.choice([f"{theme}word{i}" for i in range(12)], 18)
        texts.append(" ".join([*own, *random.choice([f"{link}link{i}" for i in range(12)], 6)]))
    rare = random.permutation(np.repeat(np.arange(1500), 3)).reshape(300, 15)
    return texts + [" ".join(f"rare{i}" for i in row) for row in rare]


def test_every_document_goes_where_it_fits(tmp_path: Path) -> None:
    workspace = strod.build(themes(), out=tmp_path / "m.strod", children=4, height=1, workers=1)
    leaves = [row["leaf"] for row in workspace.assign()]
    gone, second, third = (max(set(leaves[n:240:3]), key=leaves[n:240:3].count) for n in range(3))
    assert len({gone, second, third}) == 3
    lines = said("remove", workspace.path, gone)
    assert lines[0].startswith(f"remove {gone}: ")
    workspace.refresh()
    now = [row["leaf"] for row in workspace.assign()]
    assert now[0:240:6].count(second) == now[3:240:6].count(third) == 40
    for old, new in zip(leaves, now, strict=True):
        assert old in (gone, new)
    check_tree(workspace)


def test_what_nobody_explains_stays_with_the_parent(workspace: Workspace) -> None:
    """Its siblings have no word in common with it."""
    said("remove", workspace.path, "o/1")
    topics = json.loads(run("show", workspace.path, "--json").out)["topics"]
    assert topics[0]["rest"] > 0.25
    below = sum(one["weight"] for one in topics if one["level"] == 1)
    assert below + topics[0]["rest"] == pytest.approx(1, abs=1e-6)
    assert all(one["rest"] == 0 for one in topics[1:])
    shown = run("show", workspace.path).out.splitlines()
    assert shown[1].endswith(f"({100 * topics[0]['rest']:.1f}% in no child)")
    leaves = [row["leaf"] for row in Workspace(workspace.path).assign()]
    assert leaves.count(ROOT) > 40
    assert workspace.check() == []


def test_new_documents_go_the_same_way(workspace: Workspace) -> None:
    """Also those that are in no child: shares of the same texts are the same, and `add` knows."""
    workspace.remove("o/1")
    workspace.remove("o/2/1")
    shards = workspace.corpus.shards()
    texts = [text for shard in shards for text in shard.texts(list(range(shard.size)))]
    old = [{k: row[k] for k in ("leaf", "topics")} for row in workspace.assign()]
    new = [{k: row[k] for k in ("leaf", "topics")} for row in workspace.assign(texts)]
    assert new == old
    workspace.add(planted_texts(40, seed=5))
    assert workspace.check() == []
    shares = workspace.tree.shares()
    for topic in workspace.tree.values():
        if topic.children:
            parts = [shares[child.id] for child in topic.children]
            parts += [rest for name, rest in shares.rests.items() if name == topic.id]
            below = np.sum(parts, axis=0)
            np.testing.assert_allclose(below, shares[topic.id], atol=1e-5)


def test_children_of_a_removed_topic_are_named(workspace: Workspace) -> None:
    labels = {path: workspace.tree[path].label for path in ("o/2/1", "o/2/2", "o/2/3")}
    lines = said("remove", workspace.path, "o/2", "--dry-run")
    [lost] = [line for line in lines if line.startswith("lost below: ")]
    assert all(f"{path} ({label})" in lost for path, label in labels.items())


def test_all_into_one_topic(workspace: Workspace) -> None:
    """A leaf, a topic with children, one of another parent, and the parent itself."""
    tree, weight = workspace.tree, workspace.tree["o/1/1"].weight
    for path in ("o/1/2", "o/2", "o/3/1"):
        said("remove", workspace.path, "o/1/1", "--into", path)
        now = workspace.refresh().tree
        assert now[path].weight == pytest.approx(tree[path].weight + weight)
        check_tree(workspace)
        said("undo", workspace.path)
    lines = said("remove", workspace.path, "o/1/1", "--into", "o/1")
    told = f"o/1 ({tree['o/1'].label}): {100 * weight:.1f}% in none of its children"
    assert told in lines
    assert workspace.refresh().tree["o/1"].rest == pytest.approx(weight)
    check_tree(workspace)


def test_what_was_removed_can_be_had_again(workspace: Workspace) -> None:
    """To split the parent into as many as before gives back what it was decomposed into."""
    before = {topic.id: topic for topic in workspace.tree["o/1"].children}
    workspace.remove("o/1/1")
    workspace.expand("o/1", 3)
    after = {topic.id: topic for topic in workspace.tree["o/1"].children}
    assert before.keys() == after.keys()
    for name, topic in before.items():
        assert np.array_equal(topic.distribution, after[name].distribution)
        assert topic.weight == pytest.approx(after[name].weight, abs=1e-6)
    assert workspace.tree["o/1"].rest == 0
    check_tree(workspace)


# -- expand ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def high(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three levels; nobody changes this one."""
    target = tmp_path_factory.mktemp("high") / "h.strod"
    strod.build(planted_texts(600), out=target, children=3, height=1, workers=1)
    workspace = Workspace(target)
    for path in ("o/1", "o/2", "o/3"):
        workspace.expand(path, 3)
    for path in ("o/1/1", "o/2/1"):
        workspace.move("o/3/1" if path == "o/1/1" else "o/3/2", path)
    return target


def heights(workspace: Workspace) -> int:
    return max(topic.level for topic in workspace.tree.values())


def test_a_subtree_keeps_its_height(high: Path) -> None:
    workspace = Workspace(high)
    assert heights(workspace) == 3
    joined = workspace.expand("o", 2, dry_run=True)
    assert max(node.level for node in joined.nodes.values()) == 3
    assert len(joined.joined) == 1
    assert len(joined.removed) == 2
    anew = workspace.expand("o", 2, fresh=True, dry_run=True)
    assert max(node.level for node in anew.nodes.values()) >= 2
    flat = workspace.expand("o", 2, 1, dry_run=True)
    assert max(node.level for node in flat.nodes.values()) == 1
    assert set(flat.joined) == set(joined.joined)
    deep = workspace.expand("o", 2, 2, dry_run=True)
    assert max(node.level for node in deep.nodes.values()) == 2


def test_children_that_come_out_again_keep_what_is_below(workspace: Workspace) -> None:
    """A root cut into as many as it has is what it was."""
    before = topics_of(workspace.tree)
    workspace.expand("o", 3)
    assert topics_of(workspace.tree) == before
    change = workspace.expand("o", 3, 1)
    assert (change.added, change.changed, len(change.removed)) == ([], [], 9)


def test_children_of_several_decompositions_are_joined(workspace: Workspace) -> None:
    """By how they share documents: the leaf that was moved in has nothing to do with others."""
    stranger = workspace.tree["o/2/1"].id
    workspace.move(stranger, "o/1")
    change = workspace.expand("o/1", 2)
    [members] = change.joined.values()
    assert len(members) == 3
    assert stranger not in members
    check_tree(workspace)


def test_more_than_the_evidence_carries(workspace: Workspace) -> None:
    outcome = run("expand", workspace.path, "o/1", "--children", 50)
    found = re.search(
        r"it has (\d+) effective documents.*give --children (\d+) or less", outcome.err
    )
    assert found is not None
    most = int(found[2])
    assert most == int(found[1]) // 10
    assert "--force" in outcome.err
    said("expand", workspace.path, "o/1", "--children", most + 1, "--force", "--dry-run")
    said("expand", workspace.path, "o/1", "--children", most)


def test_a_pin_that_decides_is_named(workspace: Workspace) -> None:
    label = workspace.tree["o/1/2"].label
    said("pin", workspace.path, "o/1/2")
    lines = said("expand", workspace.path, "o/1", "--children", 3, "--fresh", "--dry-run")
    assert f"pinned, and so as before: o/1/2 ({label})" in lines
    outcome = run("expand", workspace.path, "o/1", "--children", 2)
    assert f"--children must be 3 or more beside the pinned o/1/2 ({label})" in outcome.err


def test_pinned_children_of_a_high_subtree_stay(high: Path) -> None:
    workspace = Workspace(high)
    name = workspace.tree["o/1"].id
    workspace.pin(name)
    try:
        before = topics_of(workspace.tree)
        change = workspace.expand("o", 3, fresh=True, dry_run=True)
        assert list(change.pinned) == [name]
        kept = {name, *change.nodes[name].children}
        assert kept <= set(before)
        levels = {node.level for one, node in change.nodes.items() if one not in kept}
        assert 2 in levels
    finally:
        workspace.undo()


# -- move, merge -------------------------------------------------------------------------


def test_a_leaf_becomes_a_parent(workspace: Workspace) -> None:
    leaf, moved = workspace.tree["o/2/2"], workspace.tree["o/1/1"]
    lines = said("move", workspace.path, "o/1/1", "o/2/2")
    tree = workspace.refresh().tree
    assert tree["o/2/2"].id == leaf.id
    assert [child.id == moved.id for child in tree["o/2/2"].children].count(True) == 1
    [own] = [child for child in tree["o/2/2"].children if child.id != moved.id]
    assert np.array_equal(own.distribution, leaf.distribution)
    assert (own.weight, own.documents > 0) == (leaf.weight, True)
    assert any(line.startswith(f"{own.path} ") for line in lines)
    check_tree(workspace)


def test_topics_of_two_parents_become_one(workspace: Workspace) -> None:
    first, second = workspace.tree["o/1/1"], workspace.tree["o/3/2"]
    lines = said("merge", workspace.path, "o/1/1", "o/3/2")
    tree = workspace.refresh().tree
    [whole] = [topic for topic in tree.values() if topic.path == "o/1/4"]
    assert whole.weight == pytest.approx(first.weight + second.weight)
    parts = [line for line in lines if line.startswith("o/1/4 = ")]
    assert len(parts) == 1
    for topic in (first, second):
        assert f"{topic.label} ({topic.path}, {100 * topic.weight:.1f}%)" in parts[0]
    assert len(tree["o/3"].children) == 2
    check_tree(workspace)


# -- show --------------------------------------------------------------------------------


def test_all_phrases_are_shown(workspace: Workspace) -> None:
    said("rename", workspace.path, "o/1", "Clouds")
    topic = workspace.refresh().tree["o/1"]
    every = workspace.all_phrases("o/1")
    assert every[: len(topic.phrases)] == topic.phrases
    assert len(every) > len(topic.phrases) == 20
    texts, scores = zip(*every, strict=True)
    assert len(set(texts)) == len(texts)
    assert list(scores) == pytest.approx(sorted(scores, reverse=True), rel=1e-12)  # ties
    line = run("show", workspace.path, "o/1", "--phrases", 0, "--depth", 0).out.splitlines()[1]
    assert line.split("  ", 1)[1] == "Clouds: " + ", ".join(texts)
    shown = json.loads(run("show", workspace.path, "o/1", "--phrases", 25, "--json").out)
    assert [text for text, _ in shown["topics"][0]["phrases"]] == list(texts[:25])
    assert len(workspace.all_phrases("o")) > 20


def test_topics_are_counted_one_way(workspace: Workspace) -> None:
    """The root, which is everything, is not counted."""
    assert "12 topics" in run("show", workspace.path).out.splitlines()[0]
    assert "12 topics" in repr(workspace)
    assert "12 topics" in repr(workspace.tree)
    assert said("pin", workspace.path, "o/1")[1].startswith("11 other topics compared")
    assert "12 topics" in run("export", workspace.path, "--to", "markdown").out
