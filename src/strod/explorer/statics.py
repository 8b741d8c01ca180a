"""The page and its files: read once, known by what is in them."""

from __future__ import annotations

import mimetypes
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.responses import Response

from strod.explorer.answers import Content, refusal, respond, tag_of

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["Statics"]

FOREVER = "public, max-age=31536000, immutable"
INDEX = "index.html"
NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>strod</title>
<p>The page was not built; every answer is there as JSON:
<a href="/api/workspace">/api/workspace</a>, <a href="/api/openapi.json">/api/openapi.json</a>.
</html>
"""
_KINDS = {".js": "text/javascript; charset=utf-8", ".html": "text/html; charset=utf-8"}


class Statics:
    """The files of the page.

    A file may be asked for by its name or, for ever, by its name with a digest of its content;
    the page names them so.
    """

    def __init__(self) -> None:
        found = _files()
        self._files: dict[str, Content] = {}
        page = found.pop(INDEX, NOT_BUILT.encode()).decode()
        for name, body in found.items():
            stem, dot, ending = name.rpartition(".")
            digested = f"{stem}.{sha256(body).hexdigest()[:12]}{dot}{ending}"
            kind = _kind(name)
            self._files[name] = Content(body, kind)
            self._files[digested] = Content(body, kind, {"cache-control": FOREVER})
            page = page.replace(f"/static/{name}", f"/static/{digested}")
        self._page = Content(page.encode(), _KINDS[".html"])

    def page(self, request: Request) -> Response:
        """The page; what it shows stands in its address."""
        return _sent(request, self._page)

    def file(self, request: Request) -> Response:
        """A file of the page."""
        found = self._files.get(request.path_params["name"])
        return refusal("no such file", 404) if found is None else _sent(request, found)


def _sent(request: Request, content: Content) -> Response:
    tag = tag_of(content.body)
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers={"etag": tag})
    return respond(request, content, tag=tag)


def _files() -> dict[str, bytes]:
    folder = files("strod.explorer") / "static"
    there = folder.iterdir() if folder.is_dir() else ()
    return {one.name: one.read_bytes() for one in there if one.is_file() and one.name[0] != "."}


def _kind(name: str) -> str:
    ending = f".{name.rpartition('.')[2]}"
    return _KINDS.get(ending) or mimetypes.guess_type(name)[0] or "application/octet-stream"
