"""Pages in the system's Chromium, by Playwright; a browser is never downloaded."""

from __future__ import annotations

import argparse
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser as Chromium
    from playwright.sync_api import ConsoleMessage, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
NEEDED = "STROD_NEED_BROWSER"  # if set, a missing browser is a failure
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"]
PHONE = 600  # windows narrower than this are those of phones
PATIENCE = 120_000  # milliseconds after which a test fails that waits in vain: machines may stall

expect.set_options(timeout=PATIENCE)

# Answers that come late, what a view asks for later than the tree: what is done meanwhile counts.
LATE = """(() => {
  const ask = window.fetch;
  const wait = (path) => (/[/]api[/](workspace|tree)/.test(path) ? MOST / 2 : MOST);
  window.fetch = (path, ...rest) =>
    new Promise((go) => setTimeout(go, wait(String(path)))).then(() => ask(path, ...rest));
})()"""

# Relative luminance and contrast as WCAG 2 defines them.
CONTRASTS = """(selector) => {
  const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const numbers = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll(selector)]
    .filter((e) => e.checkVisibility())
    .map((e) => [light(numbers(getComputedStyle(e).color)), light(ground(e))].sort((a, b) => b - a))
    .map(([a, b]) => (a + 0.05) / (b + 0.05));
}"""


@dataclass
class Browser:
    """A page with storage of its own.

    Attributes
    ----------
    page : Page
        Of Playwright.
    requests : list of str
        Address of everything that any document asked for, in order; those that a policy stopped
        too.
    problems : list of str
        Errors of scripts, and what the browser wrote on its console as an error.
    """

    page: Page
    requests: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("dialog", lambda dialog: dialog.accept())

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(message.text)

    def open(self, file: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.page.goto(file.resolve().as_uri())

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def download(self, selector: str) -> tuple[str, Path]:
        """Click what saves a file; the name that it gets, and where it is."""
        with self.page.expect_download() as found:
            self.page.click(selector)
        return found.value.suggested_filename, found.value.path()

    def contrast(self, selector: str) -> float:
        """The least contrast of a text that is seen to what is behind it."""
        found: list[float] = self.page.evaluate(CONTRASTS, selector)
        return min(found)


def find_browser() -> str:
    """The browser on this machine; the test is skipped, or fails, if there is none."""
    for name in NAMES:
        program = shutil.which(name)
        if program:
            return program
    reason = f"no browser: none of {', '.join(NAMES)} is on PATH"
    print(reason)
    if os.environ.get(NEEDED):
        pytest.fail(f"{reason}, and {NEEDED} is set", pytrace=False)
    pytest.skip(reason)


@contextmanager
def running() -> Iterator[Chromium]:
    """The browser, until the block ends."""
    program = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(
    chromium: Chromium,
    width: int = 1280,
    height: int = 720,
    scheme: Literal["light", "dark"] = "light",
    late: int = 0,
) -> Iterator[Browser]:
    """A page in a window of this size, for a reader who prefers this colour scheme.

    Answers of a server come up to ``late`` milliseconds later.
    """
    context = chromium.new_context(
        viewport={"width": width, "height": height},
        is_mobile=width < PHONE,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    if late:
        context.add_init_script(LATE.replace("MOST", str(late)))
    yield Browser(context.new_page())
    context.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """A browser for all tests."""
    with running() as browser:
        yield browser


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Browser]:
    """A page with storage of its own."""
    with opened(chromium) as page:
        yield page


def _main() -> None:
    """A picture of a page: ``python -m tests.browser PAGE PNG [--size 1280x720] [KEY]...``.

    A KEY has one of Playwright's names, is a sign, or a text to write.
    """
    parser = argparse.ArgumentParser(description=_main.__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("png", type=Path)
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--scheme", default="light")
    chosen = parser.parse_intermixed_args()
    width, height = map(int, chosen.size.split("x"))
    with running() as chromium, opened(chromium, width, height, chosen.scheme) as browser:
        browser.open(chosen.page)
        for key in chosen.keys:
            special = key in {"Enter", "Escape", "Tab"} or key.startswith("Arrow") or len(key) == 1
            browser.press(key) if special else browser.page.keyboard.insert_text(key)
        browser.page.screenshot(path=chosen.png)


if __name__ == "__main__":
    _main()
