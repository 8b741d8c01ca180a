"""Answers as bytes: JSON, packed where that is taken, known again by their ETags."""

from __future__ import annotations

import gzip
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

import orjson
from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

__all__ = ["Cache", "Content", "refusal", "respond", "tag_of"]

JSON = "application/json"
SMALL, LARGEST = 1000, 2_000_000  # bytes that are not worth packing, or keeping
ROOM = 32_000_000  # bytes that are kept
LEVEL = 5


@dataclass
class Content:
    """What is answered.

    Attributes
    ----------
    body : bytes
        As it is.
    kind : str
        Its media type.
    headers : mapping of str
        More that is said of it.
    """

    body: bytes
    kind: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    _packed: bytes | None = None

    @classmethod
    def of(cls, value: Any) -> Content:
        """A value as JSON."""
        return cls(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY))

    @property
    def packed(self) -> bytes:
        """Packed, once."""
        if self._packed is None:
            self._packed = gzip.compress(self.body, LEVEL, mtime=0)
        return self._packed


class Cache:
    """The last answers by what they answer."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[str, Content] = OrderedDict()
        self._size = 0

    def made(self, key: str, make: Callable[[], Content]) -> Content:
        """The answer of a key, made if it is not there."""
        found = self._known.get(key)
        if found is not None:
            return found
        found = make()
        if len(found.body) <= LARGEST:
            self._keep(key, found)
        return found

    def _keep(self, key: str, content: Content) -> None:
        with self._lock:
            if key not in self._known:
                self._known[key] = content
                self._size += len(content.body)
            while self._size > ROOM:
                _, old = self._known.popitem(last=False)
                self._size -= len(old.body)


def tag_of(*parts: object) -> str:
    """ETag of what is made of some parts; a weak one, since it may be packed or not."""
    return f'W/"{sha256(repr(parts).encode()).hexdigest()[:32]}"'


def respond(request: Request, content: Content, status: int = 200, tag: str = "") -> Response:
    """Send an answer, packed if that is taken and worth it."""
    headers = {"cache-control": "private, no-cache", "vary": "accept-encoding, cookie"}
    headers |= content.headers
    if tag:
        headers["etag"] = tag
    body = content.body
    if len(body) > SMALL and "gzip" in request.headers.get("accept-encoding", ""):
        body = content.packed
        headers["content-encoding"] = "gzip"
    return Response(body, status, headers, content.kind)


def refusal(message: str, status: int, **more: Any) -> Response:
    """Say in a line why not."""
    content = Content.of({"error": " ".join(message.split()), **more})
    return Response(content.body, status, {"cache-control": "no-store"}, JSON)
