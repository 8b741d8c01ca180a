"""Pictures of the explorer for the documentation: ``python benchmarks/screenshots.py W.strod``.

Any workspace with a date and some metadata will do; it is only read. Needs chromium, by Playwright.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from PIL import Image
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).parents[1] / "docs/images"
COLOURS = 128  # enough for flat colours and letters; a third of the bytes
BROWSER = "/usr/bin/chromium"


class Window(NamedTuple):
    """How wide, how high, and in which colours."""

    width: int
    height: int
    scheme: Literal["light", "dark"]


DESKTOP, DARK, PHONE = (
    Window(1280, 800, "light"),
    Window(1280, 800, "dark"),
    Window(390, 844, "light"),
)
VIEWS = {
    "overview": "/",
    "topic": "/topic/o/1",
    "documents": "/documents?topic=o/1",
    "document": "/document/0",
    "search": "/search?q={query}",
    "slices": "/slices?where={where}&measure=lift",
    "revise": "/revise?verb=expand&topics=o/1/1&children=3&preview=1",
    "compare": "/compare?a=o/1&b=o/2",
    "history": "/history",
    "report": "/report",
}


@contextmanager
def served(workspace: Path) -> Iterator[str]:
    """The link of a server, until the block ends."""
    command = [
        sys.executable,
        "-m",
        "strod",
        "explore",
        workspace.name,
        "--no-browser",
        "--port",
        "0",
    ]
    with subprocess.Popen(
        command, cwd=workspace.parent, stdout=subprocess.PIPE, text=True
    ) as server:
        line = server.stdout.readline() if server.stdout else ""
        found = re.search(r"http://\S+", line)
        try:
            if found is None:
                raise SystemExit(f"{workspace}: cannot be shown")
            yield found[0]
        finally:
            server.terminate()


def pictures(chromium: Browser, link: str, window: Window, given: argparse.Namespace) -> None:
    """Every view in one window."""
    context = chromium.new_context(
        viewport={"width": window.width, "height": window.height},
        color_scheme=window.scheme,
        is_mobile=window is PHONE,
        has_touch=window is PHONE,
    )
    page = context.new_page()
    page.goto(link)
    base = link.partition("/?")[0]
    for name, path in VIEWS.items():
        page.goto(base + path.format(query=given.query, where=given.where))
        settle(page)
        kind = {DESKTOP: "", DARK: "-dark", PHONE: "-phone"}[window]
        with Image.open(BytesIO(page.screenshot())) as picture:
            picture.convert("RGB").quantize(COLOURS).save(
                IMAGES / f"explore-{name}{kind}.png", optimize=True
            )
    context.close()


def settle(page: Page) -> None:
    """Wait until all that was asked for is there."""
    page.wait_for_selector("main h1")
    page.wait_for_function("() => !document.querySelector('.waiting, [aria-busy=true], progress')")


def main() -> None:
    """Make all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--query", default="neural network", help="what is searched for")
    parser.add_argument("--where", default="date >= 2015", help="what is sliced")
    given = parser.parse_args()
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as playwright, served(given.workspace) as link:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        for window in (DESKTOP, DARK, PHONE):
            pictures(chromium, link, window, given)


if __name__ == "__main__":
    main()
