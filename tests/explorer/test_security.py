"""Only this machine's user gets in, only from the page itself, and nothing is half sent."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import httpx
import pytest

from strod.errors import UsageError
from strod.explorer import connections
from strod.explorer.parameters import LONG
from strod.explorer.routes import ROUTES
from strod.explorer.security import HEADERS
from strod.explorer.server import Settings
from strod.store.manifest import NAME
from tests.conftest import command, strod
from tests.explorer.conftest import TOKEN, serving

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.explorer.conftest import Client

OTHERS = (
    "evil.com",
    "127.0.0.1.nip.io",
    "localhost.evil.com",
    "evil.com:8765",
    "0.0.0.0",
    "2130706433",
    "0x7f000001",
    "127.1",
    "localhost.",
    "[::2]",
    "192.168.1.4",
    "user@localhost",
    "localhost,evil.com",
    "localhost/",
    "",
)
PATHS = sorted({one.path.replace("{path}", "o").replace("{number}", "1") for one in ROUTES})
UNSAFE = [(one.method, one.path) for one in ROUTES if one.method != "GET"]


def bare(client: Client) -> httpx.Client:
    """A client that does not know the token."""
    return httpx.Client(base_url=client.base_url, trust_env=False, timeout=300)


@pytest.mark.parametrize("host", OTHERS)
def test_a_host_that_is_not_this_machine_is_refused(reader: Client, host: str) -> None:
    for path in (*PATHS, "/", "/static/app.js", "/anything"):
        assert reader.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:9", "127.0.0.9"]
)
def test_names_of_this_machine_are_taken(reader: Client, host: str) -> None:
    assert reader.get("/api/workspace", headers={"host": host}).status_code == 200


def test_two_hosts_and_none_are_refused(reader: Client) -> None:
    def asked(lines: bytes) -> bytes:
        url = reader.base_url
        with socket.create_connection((url.host, url.port)) as to, to.makefile("rwb") as stream:
            head = b"GET /api/workspace HTTP/1.0\r\nAuthorization: Bearer %b\r\n"
            stream.write(head % TOKEN.encode() + lines + b"\r\n")
            stream.flush()
            return stream.readline()

    assert b" 40" in asked(b"")
    assert b" 40" in asked(b"Host: localhost\r\nHost: evil.com\r\n")
    assert b" 200 " in asked(b"Host: localhost\r\n")


@pytest.mark.parametrize("path", [*PATHS, "/", "/topic/o/1", "/api/openapi.json", "/api/nothing"])
def test_nobody_gets_in_without_the_token(reader: Client, path: str) -> None:
    cookie = f"strod_{reader.base_url.port}"
    wrong: list[Mapping[str, str]] = [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer"},
        {"cookie": f"{cookie}=wrong"},
        {"cookie": f"strod_1={TOKEN}"},
    ]
    with bare(reader) as stranger:
        for headers in wrong:
            assert stranger.get(path, headers=dict(headers)).status_code == 401
        assert stranger.get("/", params={"token": "wrong"}).status_code == 401


def test_the_link_gives_a_cookie_and_hides_the_token(reader: Client) -> None:
    with bare(reader) as browser:
        answer = browser.get("/", params={"token": TOKEN})
        assert answer.status_code == 303
        assert answer.headers["location"] == "/"
        held = answer.headers["set-cookie"].lower()
        assert all(word in held for word in ("httponly", "samesite=strict", "path=/"))
        assert browser.get("/").status_code == 200
        assert browser.get("/api/workspace").status_code == 200
        assert TOKEN not in browser.get("/api/workspace").text


SITES = (None, "same-origin", "none", "same-site", "cross-site")
ORIGINS = (None, "own", "http://evil.com", "null", "http://localhost.evil.com:1", "nonsense")


@pytest.mark.parametrize(("method", "path"), UNSAFE)
@pytest.mark.parametrize("bearer", [True, False])
def test_only_our_own_page_writes(reader: Client, method: str, path: str, bearer: bool) -> None:
    own = str(reader.base_url).rstrip("/")
    held = {"authorization": f"Bearer {TOKEN}"}
    cookie = {"cookie": f"strod_{reader.base_url.port}={TOKEN}"}
    with bare(reader) as browser:
        for site in SITES:
            for origin in ORIGINS:
                headers = dict(held if bearer else cookie)
                if site is not None:
                    headers["sec-fetch-site"] = site
                if origin is not None:
                    headers["origin"] = own if origin == "own" else origin
                good = site in (None, "same-origin", "none") and origin in (None, "own")
                good = good and (bearer or site is not None or origin is not None)
                # What gets through is refused for what it says: no such job, no JSON.
                answer = browser.request(method, path, headers=headers, content=b"[")
                assert answer.status_code == ((404 if "jobs" in path else 400) if good else 403)


def test_other_pages_read_nothing(reader: Client) -> None:
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "http://evil.com"}):
        assert reader.get("/api/tree", headers=headers).status_code == 403
    assert reader.get("/api/tree", headers={"sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize("path", [*PATHS, "/", "/static/app.js", "/api/nothing", "/x?y=<script>"])
def test_every_answer_tells_the_browser_what_it_may(reader: Client, path: str) -> None:
    with bare(reader) as stranger:
        answers = [reader.get(path), stranger.get(path), reader.get(path, headers={"host": "x"})]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers


def test_methods_that_are_not_there(reader: Client) -> None:
    for path in PATHS:
        there = {one.method for one in ROUTES if one.path.partition("{")[0] in path}
        for method in {"PUT", "PATCH", "POST", "DELETE", "OPTIONS", "TRACE"} - there:
            answer = reader.request(method, path)
            assert answer.status_code == 405, (method, path)
            assert "error" in answer.json()
    assert reader.get("/api/preview").status_code == 405
    assert reader.head("/api/workspace").status_code == 200


def test_what_is_too_long_or_no_json(reader: Client) -> None:
    def posted(content: bytes, kind: str = "application/json") -> int:
        headers = {"content-type": kind}
        return reader.post("/api/preview", content=content, headers=headers).status_code

    assert posted(b"[" * (1 << 20)) == 400
    assert posted(b" " * (1 + (1 << 20))) == 413
    assert posted(b"{") == 400
    assert posted(b"[]") == 400
    assert posted(b'{"verb": "pin"}', "text/plain") == 400
    assert reader.get("/api/search", params={"q": "x" * (LONG + 1)}).status_code == 400
    assert reader.get("/api/topic/" + "x" * 5000).status_code == 400
    assert reader.get("/api/tree?depth=-1").status_code == 400
    assert reader.get("/api/tree?unknown=1").status_code == 400
    assert reader.get("/api/tree?depth=1&depth=2").status_code == 400


@pytest.mark.parametrize(
    "name", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "/etc/passwd", "..\\app.py", "a%00b"]
)
def test_nothing_but_the_files_of_the_page(reader: Client, name: str) -> None:
    answer = reader.get("/static/" + name)
    assert answer.status_code in (200, 404)
    assert b"Starlette" not in answer.content
    assert b"root:" not in answer.content


def test_read_only(path: Path) -> None:
    before = (path / NAME).read_bytes()
    with serving(path, read_only=True) as client:
        assert client.json("workspace")["read_only"] is True
        for method, address in UNSAFE:
            assert client.request(method, address, json={}).status_code == 403
        assert client.json("tree")["revision"] == 1
    assert (path / NAME).read_bytes() == before


def test_others_are_let_in_only_if_that_is_meant() -> None:
    with pytest.raises(UsageError, match="read_only"):
        Settings(host="0.0.0.0")
    with pytest.raises(UsageError, match="read_only"):
        Settings(host="192.168.1.4")
    with pytest.raises(UsageError, match="token"):
        Settings(token="short")
    with pytest.raises(UsageError, match="token"):
        Settings(token="with a space in it")
    Settings(host="0.0.0.0", read_only=True)
    Settings(host="0.0.0.0", token="long-enough")
    Settings(host="::1")


def test_the_command_refuses_in_one_line(path: Path) -> None:
    done = strod("explore", path, "--host", "0.0.0.0", "--no-browser")
    assert done.code == 2
    assert "--read-only" in done.err
    assert done.err.count("\n") == 1
    done = strod("explore", path.parent / "none.strod", "--no-browser")
    assert done.code == 2
    assert done.err.count("\n") == 1


def test_a_missing_package_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "strod.explorer.server")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = strod("explore", path, "--no-browser")
    assert done.code == 2
    assert "pip install 'starlette" in done.err
    assert done.err.count("\n") == 1


def test_a_port_that_is_taken_is_said_to_be(reader: Client, path: Path) -> None:
    arguments = ["explore", path, "--no-browser", "--port", reader.base_url.port]
    # In a process of its own: a browser of other tests has a loop that runs in this one.
    done = subprocess.run(command(*arguments), check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--port" in done.stderr
    assert done.stderr.count("\n") == 1


def half_sent(client: Client, head: bytes = b"GET / HTTP/1.1\r\nHost: loc") -> socket.socket:
    """A request that does not come to its end."""
    there = socket.create_connection((client.base_url.host, client.base_url.port), timeout=300)
    there.sendall(head)
    return there


def test_requests_that_do_not_end_are_ended(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.2)
    monkeypatch.setattr(connections, "BODIES", 0.2)
    whole = f"GET /api/workspace HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
    with serving(path) as client, ExitStack() as stack:
        some = [stack.enter_context(half_sent(client)) for _ in range(3)]
        some.append(stack.enter_context(half_sent(client, b"")))
        second = stack.enter_context(half_sent(client, f"{whole}\r\n".encode()))
        assert second.recv(12) == b"HTTP/1.1 200"
        second.sendall(b"GET / HT")  # a whole request, then half of one
        body = f"{whole}Content-Length: 90\r\n\r\n"
        some.append(stack.enter_context(half_sent(client, body.encode())))
        for one in [*some, second]:
            while one.recv(1 << 16):
                pass
        assert client.get("/api/workspace").status_code == 200


def test_too_many_connections_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST", 3)
    with serving(path) as client:
        with ExitStack() as stack:
            for _ in range(3):
                stack.enter_context(half_sent(client))
            answer = client.get("/api/workspace")
            assert (answer.status_code, answer.headers["connection"]) == (503, "close")
            assert answer.json() == {"error": "too many connections; try again in a moment"}
            assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        while (status := client.get("/api/workspace").status_code) == 503:
            pass  # until the server has seen that they are gone
        assert status == 200
