"""Previews, their application, jobs, and others who change the workspace at once."""

from __future__ import annotations

import errno
import json
import os
import shutil
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from strod.errors import StaleError, StrodError, UsageError
from strod.explorer import plans
from strod.explorer.jobs import WAITING, Job
from strod.store import change
from strod.store.change import Prepared
from strod.store.manifest import NAME
from strod.workspace.workspace import Workspace
from tests.conftest import contents, names, strod
from tests.explorer.conftest import serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.explorer.conftest import Client

VERBS: dict[str, dict[str, Any]] = {
    "expand": {"topics": ["o/1"], "children": 2, "fresh": True},
    "collapse": {"topics": ["o/3"]},
    "merge": {"topics": ["o/1/1", "o/1/2"]},
    "move": {"topics": ["o/1/1"], "target": "o/2"},
    "remove": {"topics": ["o/1/1"]},
    "rename": {"topics": ["o/1"], "label": "a <b>name</b>"},
    "pin": {"topics": ["o/2"]},
}


def acts(workspace: Workspace, verb: str, given: dict[str, Any]) -> Any:
    more = {name: value for name, value in given.items() if name != "topics"}
    return getattr(workspace, verb)(*given["topics"], **more)


def without_times(folder: Path) -> dict[str, bytes]:
    """All files but those that say when something was changed."""
    found = contents(folder)
    return {
        name: body
        for name, body in found.items()
        if name != NAME and "revisions" not in name and not name.startswith("index")
    }


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_previewed_is_what_is_applied(
    client: Client, path: Path, built: Path, tmp_path: Path, verb: str
) -> None:
    before = contents(path)
    plan = client.posted("preview", verb=verb, **VERBS[verb])
    assert plan["revision"] == 1
    left = {name: body for name, body in contents(path).items() if not name.startswith("index/")}
    assert left == {n: b for n, b in before.items() if not n.startswith("index/")}
    done = client.posted("apply", plan=plan["plan"], note="why not")
    assert done["change"] == plan["change"]
    assert done["revision"] == 2 == client.json("workspace")["revision"]
    other = Workspace(shutil.copytree(built, tmp_path / "other.strod"))
    change = acts(other, verb, VERBS[verb]).as_dictionary()
    told = json.loads(json.dumps(done["change"]))
    for one in told["new"]:
        for extra in ("parent", "documents"):
            del one[extra]
    assert told == json.loads(json.dumps(change))
    assert without_times(path) == without_times(other.path)
    assert Workspace(path).check() == []
    assert Workspace(path).history()[-1]["note"] == "why not"
    assert client.json("tree")["topics"]["id"] == [one.id for one in other.tree.values()]


def test_new_topics_have_phrases_and_parents(client: Client) -> None:
    plan = client.posted("preview", verb="expand", topics=["o/1"], children=2, fresh=True)
    assert len(plan["change"]["new"]) >= 1
    for one in plan["change"]["new"]:
        assert one["parent"] == "o/1"
        assert one["phrases"]
    assert plan["command"].endswith("w.strod o/1 --children 2 --fresh")


def test_undo_and_redo(client: Client) -> None:
    first = client.json("tree")
    client.applied("rename", "o/1", label="x y")
    assert client.json("workspace")["undo"] is True
    renamed = client.json("tree")
    client.applied("undo")
    assert client.json("tree")["topics"] == first["topics"]
    assert client.json("workspace")["redo"] is True
    client.applied("redo")
    assert client.json("tree") == renamed
    client.posted("preview", status=400, verb="redo")


def test_the_second_of_two_is_told_and_nothing_is_lost(client: Client, path: Path) -> None:
    one = client.posted("preview", verb="rename", topics=["o/1"], label="first")
    two = client.posted("preview", verb="rename", topics=["o/2"], label="second")
    client.posted("apply", plan=one["plan"])
    told = client.posted("apply", status=409, plan=two["plan"])
    assert told["revision"] == 2
    assert [one["what"] for one in Workspace(path).history()] == ["build", "rename o/1 'first'"]


def test_the_command_line_at_once(client: Client, path: Path) -> None:
    plan = client.posted("preview", verb="merge", topics=["o/1/1", "o/1/2"])
    assert strod("rename", path, "o/3", "by hand").code == 0
    assert client.json("topic/o/3")["label"] == "by hand"
    assert client.posted("apply", status=409, plan=plan["plan"])["revision"] == 2
    again = client.posted("preview", verb="merge", topics=["o/1/1", "o/1/2"])
    assert again["revision"] == 2
    assert client.posted("apply", plan=again["plan"])["revision"] == 3
    assert client.json("topic/o/3")["label"] == "by hand"
    assert Workspace(path).check() == []


def test_a_plan_that_is_not_kept_any_more_is_computed_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "KEPT", 1)
    one = client.posted("preview", verb="merge", topics=["o/1/1", "o/1/2"])
    client.posted("preview", verb="pin", topics=["o/1"])
    assert client.posted("apply", plan=one["plan"])["change"] == one["change"]
    client.posted("apply", status=404, plan=one["plan"])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"verb": "merge", "topics": ["o/1"]}, 400),
        ({"verb": "pin", "topics": []}, 400),
        ({"verb": "pin", "topics": ["o/9"]}, 404),
        ({"verb": "pin", "topics": ["o/1"], "label": "x"}, 400),
        ({"verb": "rename", "topics": ["o/1"]}, 400),
        ({"verb": "rename", "topics": ["o/1"], "label": "o/2"}, 400),
        ({"verb": "move", "topics": ["o/1"]}, 400),
        ({"verb": "expand", "topics": ["o/1"], "children": 1}, 400),
        ({"verb": "expand", "topics": ["o/1"], "children": "many"}, 400),
        ({"verb": "fly", "topics": ["o/1"]}, 400),
        ({"verb": "undo"}, 400),
        ({"verb": "pin", "topics": ["o/1"], "note": 7}, 400),
        ({"verb": "pin", "topics": "o/1"}, 400),
        ({}, 400),
    ],
)
def test_what_makes_no_sense_is_refused(reader: Client, body: dict[str, Any], status: int) -> None:
    assert "\n" not in reader.posted("preview", status, **body)["error"]


def test_a_job_is_followed(client: Client) -> None:
    body = {"verb": "merge", "topics": ["o/1/1", "o/1/2"]}
    answer = client.post("/api/preview?wait=0", json=body)
    assert answer.status_code == 202
    job = answer.json()["job"]
    assert client.explorer.jobs.find(job).wait(300)
    told = client.json(f"jobs/{job}")
    assert (told["id"], told["state"]) == (job, "done")
    plan = told["result"]["plan"]
    assert client.posted("apply", plan=plan)["revision"] == 2
    assert client.get("/api/jobs/none").status_code == 404


def held_up(client: Client) -> tuple[Job, Event]:
    """A job that waits to be let go, so that others have to wait."""
    begun, free = Event(), Event()

    def work(progress: Any) -> dict[str, Any]:
        begun.set()
        assert free.wait(300)
        progress.advance(1)
        return {}

    job = client.explorer.jobs.start(work)
    assert begun.wait(300)
    return job, free


def test_jobs_are_cancelled_before_and_while_they_run(client: Client, path: Path) -> None:
    before = contents(path)
    first, free = held_up(client)
    body = {"verb": "expand", "topics": ["o/1"], "children": 2, "fresh": True}
    waiting = client.post("/api/preview?wait=0", json=body).json()["job"]
    for name in (first.id, waiting):
        assert client.delete(f"/api/jobs/{name}").json()["state"] == "running"
    free.set()
    for name in (first.id, waiting):
        assert client.explorer.jobs.find(name).wait(300)
        assert client.json(f"jobs/{name}")["state"] == "cancelled"
    assert contents(path) == before
    client.applied("pin", "o/1")


def test_a_verb_stops_where_it_next_tells_how_far_it_is(path: Path) -> None:
    def work(progress: Any) -> dict[str, Any]:
        progress.stage("before", 1, "")
        job.cancel()
        Workspace(path).expand("o/1", 2, fresh=True, progress=progress)
        raise AssertionError("it was not stopped")

    before = contents(path)
    job = Job(work)
    job.run()
    assert job.state == "cancelled"
    assert contents(path) == before
    assert names(path.parent) == ["w.strod"]


def test_too_many_wait(client: Client) -> None:
    _, free = held_up(client)
    body = {"verb": "pin", "topics": ["o/1"]}
    answers = [client.post("/api/preview?wait=0", json=body).status_code for _ in range(WAITING)]
    free.set()
    assert answers == [202] * (WAITING - 1) + [429]


def test_the_end(path: Path) -> None:
    with serving(path) as client:
        assert client.posted("shutdown") == {"ending": True}


def test_files_of_plans_are_gone_with_the_server(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(aside))
    with serving(path) as client:
        client.posted("preview", verb="expand", topics=["o/1"], children=2, fresh=True)
        assert names(aside) != []
    assert names(aside) == []


# -- the same in Python ------------------------------------------------------------------


def test_a_change_is_prepared_in_python(path: Path) -> None:
    workspace = Workspace(path)
    with Prepared() as kept:
        change = workspace.merge("o/1/1", "o/1/2", dry_run=True, prepared=kept)
        assert workspace.refresh().revision == 1
        kept.apply("because")
        assert workspace.snapshot.revision == 2
        assert list(workspace.tree.nodes) == list(change.nodes)
        assert workspace.history()[-1]["note"] == "because"
        with pytest.raises(UsageError, match="nothing is prepared"):
            kept.apply()
    with pytest.raises(UsageError, match="dry_run"):
        workspace.pin("o/1", prepared=Prepared())


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_fails_half_way_is_previewed_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(path)
    with Prepared() as kept:
        workspace.merge("o/1/1", "o/1/2", dry_run=True, prepared=kept)
        with monkeypatch.context() as patch:
            patch.setattr(change, "sync_tree", full)
            with pytest.raises(StrodError, match=r"the disk is full .*; preview it again"):
                kept.apply()
        with pytest.raises(UsageError, match="nothing is prepared; preview it first"):
            kept.apply()
        workspace.merge("o/1/1", "o/1/2", dry_run=True, prepared=kept)
        kept.apply()
    assert workspace.refresh().revision == 2
    assert workspace.check() == []


def test_a_plan_that_failed_half_way_is_applied_again(
    client: Client, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = client.posted("preview", verb="merge", topics=["o/1/1", "o/1/2"])
    with monkeypatch.context() as patch:
        patch.setattr(change, "sync_tree", full)
        told = client.posted("apply", status=503, plan=plan["plan"])
    assert "the disk is full" in told["error"]
    assert client.posted("apply", plan=plan["plan"])["change"] == plan["change"]
    assert Workspace(path).check() == []


@pytest.mark.parametrize("act", [Workspace.undo, lambda w, **how: w.pin("o/1", **how)])
def test_what_was_prepared_for_another_revision_is_refused(
    path: Path, act: Callable[..., Any]
) -> None:
    workspace = Workspace(path)
    workspace.rename("o/2", "a name")
    with Prepared() as kept:
        act(workspace, dry_run=True, prepared=kept)
        Workspace(path).rename("o/2", "another name")
        before = contents(path)
        with pytest.raises(StaleError, match="changed since"):
            kept.apply()
    assert contents(path) == before
    assert names(path.parent) == ["w.strod"]


def test_a_refused_verb_prepares_nothing(path: Path) -> None:
    with Prepared() as kept:
        with pytest.raises(UsageError):
            Workspace(path).merge("o/1/1", "o/1/1", dry_run=True, prepared=kept)
        with pytest.raises(UsageError, match="nothing is prepared"):
            kept.apply()
