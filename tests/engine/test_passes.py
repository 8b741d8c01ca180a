"""Passes are tasks: small when they are sent, and the same bytes in other processes."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import pkgutil
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import strod
from strod import passes
from strod.corpus import segment
from strod.corpus.reader import ShardRef
from strod.engine.processes import Processes
from strod.engine.protocol import check_task
from strod.engine.threads import Serial, Threads
from strod.errors import DamagedError
from strod.evaluate.run import evaluate
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strod.engine.protocol import Engine

SHAPE: dict[str, Any] = {"height": 2, "children": 3, "lookahead": False, "workers": 2}


def all_tasks() -> dict[str, Callable[..., Any]]:
    """Public functions of the passes whose first argument is an item: a reference, a sample."""
    found: dict[str, Callable[..., Any]] = {}
    modules = [one.name for one in pkgutil.iter_modules(passes.__path__, "strod.passes.")]
    for module in (
        *modules,
        "strod.phrases.cut",
        "strod.phrases.chains",
        "strod.phrases.counts",
        "strod.corpus.segment",
        "strod.evaluate.windows",
        "strod.evaluate.copies",
    ):
        for name, value in vars(importlib.import_module(module)).items():
            if inspect.isfunction(value) and value.__module__ == module:
                first = next(iter(inspect.signature(value).parameters), "")
                if first in ("ref", "sample", "marked", "plan") and not name.startswith("_"):
                    found[f"{module}.{name}"] = value
    return found


def digests(path: Path) -> dict[str, str]:
    manifest = strod.open(path).manifest
    return {name: record.sha256 for name, record in manifest.parts.items()}


def test_there_are_tasks_and_each_has_a_name() -> None:
    found = all_tasks()
    assert len(found) >= 15
    for task in found.values():
        check_task(task)
        assert pickle.loads(pickle.dumps(task)) is task
        assert task.__closure__ is None


def asked(tree: ast.Module) -> Iterator[ast.expr]:
    """What engines are asked to do in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            whose = ast.unparse(node.func.value).removesuffix("()")
            if node.func.attr in ("map", "fold") and whose.endswith("engine"):
                yield node.args[0]


def test_no_closure_is_handed_to_an_engine() -> None:
    found = 0
    for path in Path(strod.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        known = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
        known |= {
            name.name
            for one in tree.body
            if isinstance(one, ast.ImportFrom)
            and str(one.module).startswith(("strod.passes", "strod.phrases."))
            for name in one.names
        }
        for task in asked(tree):
            found += 1
            assert isinstance(task, ast.Name), f"{path}: {ast.unparse(task)}"
            assert task.id in known, f"{path}: {task.id}"
    assert found >= 15
    bad = ast.parse("engine.map(lambda x: x, [])")
    assert isinstance(next(asked(bad)), ast.Lambda)


class Sending(Serial):
    """Sends everything to itself; knows which tasks were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.largest: dict[str, int] = {}

    def map(self, task: Any, items: Any, *values: Any) -> Iterator[Any]:
        self.seen.add(f"{task.__module__}.{task.__qualname__}")
        for item in items:
            sent = pickle.dumps(item)
            if isinstance(item, ShardRef):
                assert len(sent) < 400
            given = pickle.loads(pickle.dumps((item, values)))
            (result,) = super().map(task, [given[0]], *given[1])
            yield pickle.loads(pickle.dumps(result))


def build(path: Path, **options: Any) -> Path:
    passage = " large scale hidden markov model"  # of some documents, so that chains are long
    planted = enumerate(planted_texts(400))
    texts = [{"id": f"d{i}", "text": text + passage * (i % 5 == 0)} for i, text in planted]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment, "SHARD_DOCUMENTS", 90)  # sums of several shards have an order
        workspace = strod.build(texts, out=path, **SHAPE | options)
    assert len(workspace.corpus.refs()) == 5
    return path


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("threads") / "w.strod")


def test_every_task_and_all_it_takes_and_gives_can_be_sent(
    expected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sending = Sending()
    for module in (
        "corpus.build",
        "workspace.build",
        "workspace.revise",
        "workspace.add",
        "evaluate.run",
    ):
        monkeypatch.setattr(f"strod.{module}.make_engine", lambda *_: sending)
    path = build(tmp_path / "w.strod")
    assert digests(path) == digests(expected)
    workspace = strod.open(path)
    workspace.expand("o/1", 2, fresh=True)
    workspace.remove("o/2/1")
    workspace.move("o/2/2", "o/1")
    workspace.expand("o/1", 2)  # joins what comes from several decompositions
    workspace.expand("o", 4)  # asks how many documents there are
    workspace.add([{"id": "new", "text": text} for text in planted_texts(1)])
    report = evaluate(workspace, top=3).as_dictionary()
    monkeypatch.undo()
    assert evaluate(strod.open(path), top=3, workers=2).as_dictionary() == report
    estimated = {"strod.passes.place.infer"}  # of the estimator, below
    grown = {"strod.passes.fit.stray"}  # takes documents of two fields: tests/drift
    assert sending.seen >= set(all_tasks()) - estimated - grown


def test_what_the_estimator_sends() -> None:
    estimator = pytest.importorskip("strod.estimator")
    model = estimator.TopicHierarchy(height=1, children=3).fit(planted_texts(200))
    again = pickle.loads(pickle.dumps(model))
    texts = planted_texts(20)
    assert again.transform(texts).tobytes() == model.transform(texts).tobytes()


def test_processes_give_the_same_bytes(expected: Path, tmp_path: Path) -> None:
    """A whole build, a topic that is split again, and one that is removed."""
    path = build(tmp_path / "w.strod", engine="processes")
    assert digests(path) == digests(expected)
    copy = tmp_path / "copy.strod"
    shutil.copytree(expected, copy)
    for one, engine in ((path, "processes"), (copy, "local")):
        strod.open(one).expand("o/1", 2, fresh=True, workers=2, engine=engine)
        strod.open(one).remove("o/2", workers=2, engine=engine)
    dated = dict.fromkeys(["tree/revisions/00002.json", "tree/revisions/00003.json"], "")
    assert digests(path) | dated == digests(copy) | dated


def test_a_reference_opens_what_it_was_made_of(expected: Path) -> None:
    corpus = strod.open(expected).corpus
    refs, shards = corpus.refs(), list(corpus.shards())
    counts = [shard.counts.toarray() for shard in shards]
    ids = [shard.ids for shard in shards]
    sent = pickle.dumps(refs)
    assert len(sent) < 400 * len(refs)
    del corpus, shards
    for ref, table, names in zip(pickle.loads(sent), counts, ids, strict=True):
        assert (ref.open().counts.toarray() == table).all()
        assert ref.open().ids == names
        assert ref.opened() is ref.opened()


def test_a_reference_to_other_documents_is_refused(expected: Path) -> None:
    (ref, *_) = strod.open(expected).corpus.refs()
    stale = ShardRef(ref.url, ref.segment, "0" * 64, ref.first, ref.begin, ref.end)
    with pytest.raises(DamagedError, match="is no longer what it was"):
        stale.open()


def test_a_record_that_somebody_left_in_a_workspace_is_not_believed(
    expected: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "w.strod"
    shutil.copytree(expected, copy)
    (copy / "draft.json").write_text("{}")
    (ref, *_) = strod.open(copy).corpus.refs()
    fresh = pickle.loads(pickle.dumps(ref))
    assert fresh.opened().files.digests


@pytest.mark.parametrize("kind", [Threads, Processes])
def test_nothing_of_a_draft_is_left(tmp_path: Path, kind: type[Engine]) -> None:
    name = "processes" if kind is Processes else "local"
    path = build(tmp_path / "w.strod", height=0, engine=name)
    assert not (path / "draft.json").exists()
    assert strod.open(path).check() == []
