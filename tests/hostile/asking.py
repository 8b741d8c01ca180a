"""The explorer over a workspace, asked for every address, without a socket."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from strod.errors import StrodError
from strod.explorer.app import make_app
from strod.explorer.routes import ROUTES
from strod.explorer.security import Guard
from strod.explorer.state import Explorer
from tests.conftest import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp, Message

    from strod.explorer.routes import Route

__all__ = ["explored"]

TOKEN = "a-token-of-the-tests"
VALUES: dict[str, Any] = {
    "path": "o/1", "number": 1, "id": "none", "q": "riveroaka OR c:x", "query": "riveroaka",
    "topic": "o/1", "where": "n >= 3", "by": "c", "name": "x", "a": "o/1", "b": "o/2", "to": "json",
    "verb": "rename", "topics": ["o/1"], "label": "mine", "plan": "none", "wait": 1,
}  # fmt: skip
FIELDS = {"/api/trends": "d", "/api/entity": "c"}
UNSOUND, FAILED = 503, 500


def explored(workspace: Path) -> Outcome:
    """Ask all routes but the one that ends the server; 1 if some say that something is damaged."""
    try:
        explorer = Explorer(workspace)
    except StrodError as error:
        return Outcome(error.exit_code, "", f"strod: {error}")
    try:
        app = make_app(explorer, Guard(TOKEN))
        with ThreadPoolExecutor(1) as pool:  # a browser's loop may be running in this thread
            return _summed(pool.submit(lambda: asyncio.run(_answers(app))).result())
    finally:
        explorer.close()


async def _answers(app: ASGIApp) -> list[tuple[str, int, str]]:
    routes = [one for one in ROUTES if not one.path.endswith("shutdown")]
    return [(route.path, *await _answer(app, route)) for route in routes]


def _summed(answers: list[tuple[str, int, str]]) -> Outcome:
    failed = [path for path, status, _ in answers if status == FAILED]
    assert not failed, f"the explorer failed at {failed}"
    damaged = [text for _, status, text in answers if status == UNSOUND]
    return Outcome(1, "", f"strod: {damaged[0]}") if damaged else Outcome(0, "", "")


def _values(route: Route) -> dict[str, Any]:
    named = {one.name for one in (*route.query, *(route.body or ()))}
    found = {name: value for name, value in VALUES.items() if name in named}
    return found | ({"field": FIELDS[route.path]} if route.path in FIELDS else {})


async def _answer(app: ASGIApp, route: Route) -> tuple[int, str]:
    """Status and text of an answer."""
    got: list[Message] = []
    body = json.dumps(_values(route)).encode() if route.body is not None else b""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        got.append(message)

    path = route.path.format(**VALUES)
    headers = {"host": "127.0.0.1", "authorization": f"Bearer {TOKEN}"}
    headers |= {"content-type": "application/json"} if body else {}
    await app(
        {
            "type": "http",
            "method": route.method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"" if body else urlencode(_values(route)).encode(),
            "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
            "scheme": "http",
            "server": ("127.0.0.1", 80),
        },
        receive,
        send,
    )
    return int(got[0]["status"]), b"".join(one.get("body", b"") for one in got).decode()
