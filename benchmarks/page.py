"""The explorer's page in a browser: bytes, requests, time to the first view and after a key.

Give it a workspace, which is only read, while nothing else runs::

    strod build arxiv_abstracts_150k.jsonl.gz --children 10 --height 3 --out wide.strod
    python -m benchmarks.page wide.strod

Budgets, for 1,111 topics, stand beside the figures; what is over one is marked and makes the exit
code 1. Times are medians, and the 95th of a hundred, of a browser without a screen.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from tests.browser import opened, running

from benchmarks.screenshots import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Response

BUDGETS = {
    "first view, KB": 130.0,
    "first view, requests": 5.0,
    "requests off the machine": 0.0,
    "first paint, ms": 300.0,
    "first view, ms": 300.0,
    "layout shift": 0.0,
    "key to paint, ms, median": 50.0,
    "key to paint, ms, p95": 100.0,
    "click to paint, ms, p95": 100.0,
    "longest task, ms": 100.0,
}
KEYS = 100
READY = "() => document.querySelectorAll('[role=treeitem]').length > 10"
WATCH = """
window.shifts = 0; window.tasks = [0];
new PerformanceObserver((l) => l.getEntries().forEach((e) => { window.shifts += e.value; }))
  .observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((l) => l.getEntries().forEach((e) => { window.tasks.push(e.duration); }))
  .observe({ type: "longtask", buffered: true });
const seen = () => document.querySelectorAll('[role=treeitem]').length > 10
  ? requestAnimationFrame(() => { window.viewed ??= performance.now(); })
  : requestAnimationFrame(seen);
requestAnimationFrame(seen);
"""
# From the event, through whatever it causes, to the frame after the next one.
TIMED = """(act) => new Promise((done) => {
  const from = performance.now();
  (act === "click" ? window.rows[window.at++ % window.rows.length].click()
    : document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { key: act, bubbles: true, cancelable: true })));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - from)));
})"""


def _weight(response: Response) -> int:
    """Bytes of an answer as they are sent."""
    sizes = response.request.sizes()
    return int(sizes["responseBodySize"])


def _first_view(page: Page, link: str) -> dict[str, float]:
    """The overview, loaded with an empty cache from a warm server; links lead on to it."""
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 - it is marked
    page.goto(link)
    page.wait_for_function(READY)
    page.wait_for_function("() => window.viewed !== undefined")
    host = urlsplit(link).netloc
    return {
        "first view, KB": sum(map(_weight, answers)) / 1000,
        "first view, requests": sum(one.ok and not one.url.endswith(".svg") for one in answers),
        "requests off the machine": sum(urlsplit(one.url).netloc != host for one in answers),
        "first paint, ms": page.evaluate("performance.getEntriesByType('paint').at(-1).startTime"),
        "first view, ms": page.evaluate("window.viewed"),
    }


def _typed(page: Page) -> dict[str, float]:
    """Walking through the tree by keys and by clicks."""
    page.focus("[role=treeitem][tabindex='0']")
    page.evaluate("window.tasks = [0]")
    keys = [page.evaluate(TIMED, "ArrowDown") for _ in range(KEYS)]
    page.evaluate("window.at = 0; window.rows = [...document.querySelectorAll('[role=treeitem]')]")
    clicks = [page.evaluate(TIMED, "click") for _ in range(30)]
    return {
        "key to paint, ms, median": float(np.median(keys)),
        "key to paint, ms, p95": float(np.percentile(keys, 95)),
        "click to paint, ms, p95": float(np.percentile(clicks, 95)),
        "longest task, ms": page.evaluate("Math.max(...window.tasks)"),
    }


def _measured(chromium: Browser, link: str) -> dict[str, float]:
    """One visit, with nothing kept from another."""
    with opened(chromium) as browser:
        page = browser.page
        page.add_init_script(WATCH)
        found = _first_view(page, link)
        found["layout shift"] = round(page.evaluate("window.shifts"), 4)
        return found | _typed(page)


def _medians(all_found: list[dict[str, float]]) -> dict[str, Any]:
    return {what: float(np.median([one[what] for one in all_found])) for what in BUDGETS}


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with served(arguments.workspace) as link, running() as chromium:
        _measured(chromium, link)  # warms the server
        found = _medians([_measured(chromium, link) for _ in range(arguments.rounds)])
    for what, value in found.items():
        over = "" if value <= BUDGETS[what] else "  over"
        print(f"{what:<28}{value:9.1f}   budget {BUDGETS[what]:6.0f}{over}")
    sys.exit(any(value > BUDGETS[what] for what, value in found.items()))


if __name__ == "__main__":
    main()
