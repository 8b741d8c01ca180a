"""Who may ask, from where, and what every answer says to the browser.

The server listens on this machine, but pages of others run in the same browser: they can send
requests here, and a name that they own may be made to lead here. So the name that was asked for
must be one of this machine, whoever asks must know the token, and what changes something must come
from our own page.
"""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["HEADERS", "SAFE", "Guard", "host_of", "is_loopback"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
SAFE = ("GET", "HEAD")
OWN = ("same-origin", "none")  # where a request may come from, as the browser says
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.IGNORECASE)


def host_of(header: str) -> str:
    """The name of a Host header, without its port; empty if it is none."""
    found = _HOST.fullmatch(header)
    return found["name"].lower() if found else ""


def is_loopback(name: str) -> bool:
    """Whether a name means this machine and no other can get there."""
    if name == "localhost":
        return True
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Guard:
    """The rules of one server.

    Attributes
    ----------
    token : str
        Whoever knows it may ask.
    host : str
        What the server listens on.
    cookie : str
        Name of the cookie that holds the token.
    """

    token: str = field(repr=False)
    host: str = "127.0.0.1"
    cookie: str = "strod"

    def at(self, request: Request) -> Guard:
        """The rules where a request came in: browsers do not keep cookies apart by port."""
        _, port = request.scope.get("server") or ("", 0)
        return replace(self, cookie=f"strod_{port}")

    def knows_host(self, request: Request) -> bool:
        """Whether the name that was asked for is one of this machine.

        A name of somebody else may lead here (DNS rebinding), an address cannot.
        """
        given = request.headers.getlist("host")
        name = host_of(given[0]) if len(given) == 1 else ""
        if is_loopback(name) or (name and name == self.host.lower()):
            return True
        everywhere = not is_loopback(self.host)
        return everywhere and (_is_address(name) or (name == platform.node().lower() != ""))

    def is_token(self, text: str) -> bool:
        """Whether a text is the token; takes as long for any other one."""
        return compare_digest(text.encode(), self.token.encode())

    def bears_token(self, request: Request) -> bool:
        """Whether a program says the token."""
        scheme, _, text = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self.is_token(text.strip())

    def knows_token(self, request: Request) -> bool:
        """Whether a program says the token, or a browser holds it."""
        held = request.cookies.get(self.cookie, "")
        return self.bears_token(request) or self.is_token(held)

    def is_own(self, request: Request) -> bool:
        """Whether a request comes from our own page, or from a program with the token."""
        site, origin = (request.headers.get(name) for name in ("sec-fetch-site", "origin"))
        if site is not None and site not in OWN:
            return False
        if origin is not None:
            return origin.lower() == f"{request.url.scheme}://{request.headers['host']}".lower()
        return site is not None or request.method in SAFE or self.bears_token(request)
