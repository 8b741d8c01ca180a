"""The browser sees what pages do wrong: tests that rely on it can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Error
from playwright.sync_api import TimeoutError as Late

from tests.browser import NAMES, NEEDED, find_browser

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser import Browser

NOWHERE = "http://127.0.0.1:9/x.png"  # nobody listens there
POLICY = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"


@pytest.mark.parametrize("policy", ["", POLICY])
def test_requests_are_seen(browser: Browser, tmp_path: Path, policy: str) -> None:
    file = tmp_path / "x.html"
    file.write_text(f"<!DOCTYPE html>{policy}<img src='{NOWHERE}'>")
    with browser.page.expect_console_message():
        browser.open(file)
    assert NOWHERE in browser.requests  # also if the policy stops it
    assert browser.problems


def test_errors_are_seen(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "x.html"
    file.write_text("<!DOCTYPE html><button hidden>x</button><script>missing()</script>")
    browser.open(file)
    assert any("missing is not defined" in problem for problem in browser.problems)
    assert not browser.page.is_visible("button")
    for selector in ("button", "#none"):
        with pytest.raises(Late):
            browser.page.click(selector, timeout=100)
    with pytest.raises(Error, match="ReferenceError"):
        browser.page.evaluate("missing()")


@pytest.mark.parametrize(("needed", "outcome"), [("", pytest.skip), ("1", pytest.fail)])
def test_no_browser(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    needed: str,
    outcome: object,
) -> None:
    """Skipped on a machine of one's own, a failure where a browser must be."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv(NEEDED, needed)
    raised = outcome.Exception  # type: ignore[attr-defined]
    with pytest.raises(raised, match=f"none of {NAMES[0]}"):
        find_browser()
    assert f"none of {NAMES[0]}" in capsys.readouterr().out
