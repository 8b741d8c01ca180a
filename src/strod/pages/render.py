"""Filling in templates: text is escaped, and a page runs no script but its own."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from strod.wording import counted, percent, plain, referenced

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["page", "part"]


def page(name: str, /, **values: Any) -> str:
    """A whole page, in one file that asks nobody for anything.

    Parameters
    ----------
    name : str
        Of its template, which extends ``base.html``, and of its style and script.
    **values
        What the template names; one that is missing is an error.
    """
    style, script = _text("base.css") + _text(f"{name}.css"), _text(f"{name}.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return part(name, style=style, script=script, policy=policy, **values)


def part(name: str, /, **values: Any) -> str:
    """What a template gives, as it is."""
    return referenced(_environment().get_template(f"{name}.html").render(values))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - for pages only

    made = Environment(
        loader=PackageLoader("strod.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_holdable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"counted": counted, "percent": percent}
    return made


def _holdable(value: Any) -> Any:
    """Text without what markup cannot hold; what is markup already stays as it is."""
    return plain(value) if type(value) is str else value


def _text(name: str) -> str:
    return (files("strod.pages") / "templates" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """What a policy knows a style or script by."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
