"""The browser client sees what pages do wrong: tests that rely on it can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser import NAMES, NEEDED, BrowserError, find_browser

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser import Browser

NOWHERE = "http://127.0.0.1:9/x.png"  # nobody listens there
POLICY = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"


@pytest.mark.parametrize("policy", ["", POLICY])
def test_requests_are_seen(browser: Browser, tmp_path: Path, policy: str) -> None:
    file = tmp_path / "x.html"
    file.write_text(f"<!DOCTYPE html>{policy}<img src='{NOWHERE}'>")
    browser.open(file)
    assert NOWHERE in browser.requests  # also if the policy stops it
    assert browser.problems


def test_errors_are_seen(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    file.write_text("<!DOCTYPE html><button hidden>x</button><script>missing()</script>")
    browser.open(file)
    assert any("missing is not defined" in problem for problem in browser.problems)
    assert not browser.seen("button")
    for selector in ("button", "#none"):
        with pytest.raises(BrowserError, match="is not there, or hidden"):
            browser.click(selector)
    with pytest.raises(BrowserError, match="ReferenceError"):
        browser.evaluate("missing()")


@pytest.mark.parametrize(("needed", "outcome"), [("", pytest.skip), ("1", pytest.fail)])
def test_no_browser(monkeypatch: pytest.MonkeyPatch, needed: str, outcome: object) -> None:
    """Skipped on a machine of one's own, a failure where a browser must be."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv(NEEDED, needed)
    raised = outcome.Exception  # type: ignore[attr-defined]
    with pytest.raises(raised, match=f"none of {NAMES[0]}"):
        find_browser()
