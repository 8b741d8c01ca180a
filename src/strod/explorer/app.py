"""The application: guards every request, checks it, lets a thread answer it."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from anyio import CapacityLimiter, fail_after, to_thread
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route as Address

from strod.errors import DamagedError, StrodError, UsageError
from strod.explorer.about import Download
from strod.explorer.answers import Cache, Content, refusal, respond, tag_of
from strod.explorer.errors import RefusedError, TooLargeError, status_of
from strod.explorer.jobs import Job
from strod.explorer.openapi import described
from strod.explorer.parameters import body_values, query_values
from strod.explorer.routes import ROUTES
from strod.explorer.security import HEADERS, SAFE
from strod.explorer.statics import Statics

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from strod.explorer.routes import Route
    from strod.explorer.security import Guard
    from strod.explorer.state import Explorer

__all__ = ["make_app"]

LARGEST = 1 << 20  # bytes of a body
BODY_SECONDS = 10.0
READERS, WAITERS = 8, 64  # requests that are answered, and that wait for a job, at once
WAIT_SECONDS = 25.0  # that a request waits for its job
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
LOGIN = "strod: open the link that strod explore has printed; it has a token that is needed once."
_log = logging.getLogger("strod.explorer")


class _Answer(NamedTuple):
    """What a thread has found: content, nothing new, or work under way."""

    content: Content | Job | None
    tag: str = ""


def make_app(explorer: Explorer, guard: Guard) -> ASGIApp:
    """The application of one workspace."""
    answering = _Answering(explorer)
    statics = Statics()

    def page(request: Request) -> Response:
        return statics.page(request)

    document = Content.of(described(ROUTES))
    addresses = [
        Address(_pattern(route.path), partial(answering.answer, route), methods=[route.method])
        for route in ROUTES
    ]
    addresses.append(Address("/api/openapi.json", lambda request: respond(request, document)))
    addresses += [
        Address("/api/{rest:path}", partial(_no_such, list(addresses)), methods=METHODS),
        Address("/static/{name:path}", statics.file),
        Address("/{rest:path}", page),
    ]
    app = Starlette(routes=addresses, exception_handlers={HTTPException: _refused})
    return _Guarded(app, guard)


def _pattern(path: str) -> str:
    """A path of the table as Starlette writes it; that of a topic has slashes."""
    return path.replace("{path}", "{path:path}")


def _no_such(known: list[Address], request: Request) -> Response:
    """What no route answers: the address is none, or there is another method for it."""
    path = request.url.path
    there = [one.methods or () for one in known if one.path_regex.match(path)]
    if not there:
        return refusal(f"{path}: no such address; see /api/openapi.json", 404)
    allowed = sorted({method for some in there for method in some})
    raise HTTPException(405, headers={"allow": ", ".join(allowed)})


def _refused(_: Request, error: Exception) -> Response:
    """What Starlette itself refuses: a method, an address."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    response = refusal("not by this method" if status == 405 else "cannot be answered", status)
    if isinstance(error, HTTPException) and error.headers:
        response.headers.update(error.headers)
    return response


class _Guarded:
    """Lets nobody in who must not, and says on every answer what a browser may do with it."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app, self._guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        inner: ASGIApp = self._refusal(Request(scope)) or self._app
        await inner(scope, receive, marked)

    def _refusal(self, request: Request) -> Response | None:
        guard, path = self._guard.at(request), request.url.path
        if not guard.knows_host(request):
            return refusal("the name of the host is none of this machine", 403)
        if not guard.is_own(request) and (request.method not in SAFE or path.startswith("/api")):
            return refusal("comes from another page", 403)
        if path.startswith("/static/"):
            return None
        if path == "/" and "token" in request.query_params:
            return _login(guard, request.query_params["token"])
        return None if guard.knows_token(request) else _unknown(path)


def _login(guard: Guard, token: str) -> Response:
    """Put the token where no page, log or history shows it."""
    if not guard.is_token(token):
        return _unknown("/")
    response = RedirectResponse("/", 303, {"cache-control": "no-store"})
    response.set_cookie(guard.cookie, token, httponly=True, samesite="strict", path="/")
    return response


def _unknown(path: str) -> Response:
    if path.startswith("/api"):
        response = refusal("the token is missing or wrong", 401)
    else:
        response = Response(LOGIN, 401, {"cache-control": "no-store"}, "text/plain")
    response.headers["www-authenticate"] = "Bearer"
    return response


class _Answering:
    """Checks what a request carries, and has a thread answer it in time."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer, self._cache = explorer, Cache()
        self._limits: dict[str, CapacityLimiter] = {}

    async def answer(self, route: Route, request: Request) -> Response:
        """Answer one request; whatever goes wrong is said in a line."""
        try:
            return await self._answered(route, request)
        except StrodError as error:
            return self._failure(error)
        except TimeoutError:
            return refusal("takes too long; ask for less, or again in a moment", 503)
        except ClientDisconnect:
            return refusal("went away", 400)
        except Exception:  # noqa: BLE001 - nobody shall see what went wrong but who runs it
            _log.exception("%s failed", route.path)
            return refusal("something went wrong; the terminal says what", 500)

    async def _answered(self, route: Route, request: Request) -> Response:
        if route.writes and self._explorer.read_only:
            raise RefusedError("nothing may be changed here: it was started with --read-only")
        given = query_values(route.query, request.query_params.multi_items())
        given |= query_values(route.steps, list(request.path_params.items()))
        if route.body is not None:
            given |= body_values(route.body, await _body(request))
        known = request.headers.get("if-none-match", "")
        wait = bool(given.pop("wait", 1))
        with fail_after(route.seconds):
            found = await self._in_thread("read", READERS, self._found, route, given, known)
        if isinstance(found.content, Job):
            return await self._followed(request, found.content, wait=wait)
        if found.content is None:
            return Response(status_code=304, headers={"etag": found.tag})
        return respond(request, found.content, tag=found.tag)

    async def _in_thread(self, kind: str, most: int, act: Callable[..., Any], *given: Any) -> Any:
        limit = self._limits.setdefault(kind, CapacityLimiter(most))
        return await to_thread.run_sync(act, *given, abandon_on_cancel=True, limiter=limit)

    def _found(self, route: Route, given: dict[str, Any], known: str) -> _Answer:
        """What a route answers, all of it from one revision."""
        if not route.whole:
            found = route.act(self._explorer, given)
            return _Answer(found if isinstance(found, Job) else Content.of(found))
        view = self._explorer.view()
        tag = tag_of(view.etag, route.path, sorted(given.items()))
        if tag in known:
            return _Answer(None, tag)
        try:
            return _Answer(self._cache.made(tag, lambda: _content(route.act(view, given))), tag)
        except DamagedError:
            if self._explorer.view() is view:
                raise
        return self._found(route, given, known)  # its files were compacted away meanwhile

    async def _followed(self, request: Request, job: Job, *, wait: bool) -> Response:
        """The result of a job, or where to ask for it."""
        ended = wait and await self._in_thread("wait", WAITERS, job.wait, WAIT_SECONDS)
        if not ended:
            return respond(request, Content.of({"job": job.id}), 202)
        if job.error is not None:
            return self._failure(job.error)
        if job.state == "cancelled":
            return refusal("was cancelled", 409, revision=self._explorer.view().snapshot.revision)
        return respond(request, Content.of(job.result))

    def _failure(self, error: StrodError) -> Response:
        status, more = status_of(error), {}
        if status == 409:
            more["revision"] = self._explorer.view().snapshot.revision
        return refusal(str(error), status, **more)


def _content(found: Any) -> Content:
    """What a route gave, as bytes."""
    if not isinstance(found, Download):
        return Content.of(found)
    name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in found.name)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Content(found.content, found.kind, headers)


async def _body(request: Request) -> object:
    """The body as JSON, if it is not too long and does not take too long."""
    parts, size = [], 0
    with fail_after(BODY_SECONDS):
        async for part in request.stream():
            size += len(part)
            if size > LARGEST:
                raise TooLargeError(f"the body is longer than {LARGEST:,} bytes")
            parts.append(part)
    if not size:
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UsageError("the body must be application/json")
    try:
        found: object = orjson.loads(b"".join(parts))
    except ValueError as error:
        raise UsageError(f"the body is no JSON: {error}") from error
    return found
