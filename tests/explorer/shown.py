"""A workspace that is shown in the browser, by a server in a process of its own."""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.conftest import command
from tests.planted_text import planted_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

META = ["date", "group"]
WAIT = 300.0  # seconds after which a test fails that waits in vain


def records(documents: int) -> list[dict[str, object]]:
    """Planted texts, each with a date and a group."""
    return [
        {"id": f"d{n}", "text": text, "date": f"{2010 + n % 10}-03-01", "group": "abc"[n % 3]}
        for n, text in enumerate(planted_texts(documents))
    ]


@contextmanager
def shown(workspace: Path, *options: str) -> Iterator[str]:
    """The link of a server that shows a workspace, until the block ends."""
    arguments = command("explore", workspace, "--no-browser", "--port", 0, *options)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        found = re.search(r"http://\S+", line)
        try:
            assert found is not None, line
            yield found[0]
        finally:
            server.terminate()
            server.communicate(timeout=WAIT)


def settled(page: Page) -> str:
    """What a view says once everything that it asked for has come."""
    page.wait_for_selector("main h1")
    page.wait_for_function(
        "() => !document.querySelector('.waiting, [aria-busy=true], .running, progress')"
    )
    return page.inner_text("main")
