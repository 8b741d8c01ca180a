"""A server over a small workspace, and a client that knows the token."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import strod
from strod.explorer.app import make_app
from strod.explorer.security import Guard
from strod.explorer.server import Server
from strod.explorer.state import Explorer
from tests.query.recount import META, drawn_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOKEN = "a-token-of-the-tests"


class Client(httpx.Client):
    """Knows the token; `get_json` and `post_json` fail on what is not 200."""

    explorer: Explorer

    def json(self, path: str, **query: Any) -> Any:
        answer = self.get(f"/api/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def posted(self, path: str, status: int = 200, **body: Any) -> Any:
        answer = self.post(f"/api/{path}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def applied(self, verb: str, *topics: str, **more: Any) -> Any:
        """Preview and apply."""
        plan = self.posted("preview", verb=verb, topics=list(topics), **more)
        return self.posted("apply", plan=plan["plan"])


@contextmanager
def serving(path: Path, *, read_only: bool = False) -> Iterator[Client]:
    """A server of a workspace, in a thread of its own, at a port that is free."""
    ports: Queue[int] = Queue()
    explorer = Explorer(path, read_only=read_only)
    server = Server(make_app(explorer, Guard(TOKEN)), "127.0.0.1", 0, ports.put)
    explorer.end = server.end
    thread = Thread(target=server.run)
    thread.start()
    headers = {"authorization": f"Bearer {TOKEN}"}
    base = f"http://127.0.0.1:{ports.get(timeout=300)}"
    try:
        with Client(base_url=base, headers=headers, timeout=300, trust_env=False) as client:
            client.explorer = explorer
            yield client
    finally:
        server.end()
        thread.join()
        explorer.close()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that nobody changes: three topics of three each."""
    target = tmp_path_factory.mktemp("explored") / "w.strod"
    strod.build(drawn_records(250, 5), out=target, meta=META, children=3, height=2)
    return target


@pytest.fixture(scope="session")
def reader(built: Path) -> Iterator[Client]:
    """A server that nobody writes to, though anybody might."""
    with serving(built) as client:
        yield client


@pytest.fixture
def path(built: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    left = shutil.ignore_patterns("index")
    return shutil.copytree(built, tmp_path / "w.strod", ignore=left)


@pytest.fixture
def client(path: Path) -> Iterator[Client]:
    """A server of a copy."""
    with serving(path) as client:
        yield client
