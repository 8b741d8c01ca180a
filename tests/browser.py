"""A small client for Chromium's DevTools protocol, over a pipe.

Chromium reads commands from descriptor 3 and writes answers and events to 4: JSON, each message
ended by a NUL byte. Nothing listens on a port, and nothing but the standard library is needed.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome")
NEEDED = "STROD_NEED_BROWSER"  # if set, a missing browser is a failure
PATIENCE = 30.0  # seconds for one answer
FLAGS = [
    "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run",
    "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--disable-default-apps", "--mute-audio",
    "--force-color-profile=srgb",
]  # fmt: skip
KEYS = {
    "Enter": ("\r", "Enter", 13), "ArrowLeft": ("", "ArrowLeft", 37),
    "ArrowRight": ("", "ArrowRight", 39), "Tab": ("", "Tab", 9), "Escape": ("", "Escape", 27),
}  # fmt: skip


class BrowserError(Exception):
    """The browser said no, or nothing."""


class Chromium:
    """A browser process and the pipe to it."""

    def __init__(self, program: str, folder: Path) -> None:
        self._number = 0
        self._rest = b""
        self._answers: dict[int, dict[str, Any]] = {}
        self.listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}
        to_read, self._out = _pipe()
        self._in, to_write = _pipe()
        log = os.open(folder / "chromium.log", os.O_WRONLY | os.O_CREAT, 0o600)
        null = os.open(os.devnull, os.O_RDONLY)
        plan = [(null, 0), (log, 1), (log, 2), (to_read, 3), (to_write, 4)]
        actions = [(os.POSIX_SPAWN_DUP2, ours, theirs) for ours, theirs in plan]
        arguments = [program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        environment = os.environ | {"HOME": str(folder)}
        self.pid = os.posix_spawn(
            program, arguments, environment, file_actions=actions, setpgroup=0
        )
        for descriptor in (to_read, to_write, log, null):
            os.close(descriptor)

    def send(self, method: str, session: str = "", **parameters: Any) -> int:
        """Give a command; its answer has this number."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        return self._number

    def ask(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Give a command and wait for its answer."""
        number = self.send(method, session, **parameters)
        self.wait(lambda: number in self._answers, method)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def wait(self, ready: Callable[[], bool], what: str) -> None:
        """Take in messages until something is the case."""
        end = time.monotonic() + PATIENCE
        while not ready():
            if time.monotonic() > end:
                raise BrowserError(f"{what}: nothing came in {PATIENCE:.0f} s")
            self._take(0.1)

    def _take(self, seconds: float) -> None:
        waiting = select.poll()  # unlike select, for any number of open files
        waiting.register(self._in, select.POLLIN)
        if not waiting.poll(1000 * seconds):
            return
        data = os.read(self._in, 1 << 20)
        if not data:
            raise BrowserError("the browser has ended")
        *messages, self._rest = (self._rest + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                hear = self.listeners.get(message.get("sessionId", ""))
                if hear:
                    hear(message["method"], message["params"])

    def close(self) -> None:
        """End the process, and what it started."""
        with contextlib.suppress(OSError):  # it may have ended by itself
            self.send("Browser.close")
        end = time.monotonic() + 5
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            if time.monotonic() > end:
                os.killpg(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                break
            time.sleep(0.02)
        os.close(self._in)
        os.close(self._out)


def _pipe() -> tuple[int, int]:
    """Two ends with numbers that do not get into the way of 0 to 4."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


@dataclass
class Browser:
    """One page, with storage of its own.

    Attributes
    ----------
    requests : list of str
        Address of everything that any document asked for, in order; those that a policy stopped
        too.
    problems : list of str
        Errors of scripts, and what the browser wrote on its console as an error.
    downloads : Path
        Where files go that a page saves.
    """

    chromium: Chromium
    downloads: Path
    requests: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    session: str = ""
    _context: str = ""
    _loaded: bool = False
    _saved: list[str] = field(default_factory=list)

    def start(self) -> None:
        """Make the page and listen to it."""
        ask = self.chromium.ask
        self._context = ask("Target.createBrowserContext")["browserContextId"]
        target = ask("Target.createTarget", url="about:blank", browserContextId=self._context)
        attached = ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        self.chromium.listeners = {self.session: self._hear, "": self._hear}
        self.downloads.mkdir()
        ask(
            "Browser.setDownloadBehavior", behavior="allow", browserContextId=self._context,
            downloadPath=str(self.downloads), eventsEnabled=True,
        )  # fmt: skip
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def stop(self) -> None:
        """Forget the page and what it stored."""
        self.chromium.listeners = {}
        self.chromium.ask("Target.disposeBrowserContext", browserContextId=self._context)

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Give a command to the page."""
        return self.chromium.ask(method, self.session, **parameters)

    def _hear(self, method: str, told: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.problems.append(details.get("exception", details).get("description", "exception"))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.problems.append(told["entry"]["text"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Page.javascriptDialogOpening":
            self.chromium.send("Page.handleJavaScriptDialog", self.session, accept=True)
        elif method == "Browser.downloadProgress" and told["state"] == "completed":
            self._saved.append(told["guid"])

    def open(self, file: Path) -> None:
        """Open a file and wait until it is loaded."""
        self._go(lambda: self.ask("Page.navigate", url=file.resolve().as_uri()))

    def reload(self) -> None:
        """Load the page again."""
        self._go(lambda: self.ask("Page.reload"))

    def _go(self, begin: Callable[[], object]) -> None:
        self._loaded = False
        begin()
        self.chromium.wait(lambda: self._loaded, "load")

    def evaluate(self, script: str) -> Any:
        """Value of an expression in the page."""
        found = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise BrowserError(str(found["exceptionDetails"].get("exception", found)))
        return found["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, each a sign or one of `KEYS`."""
        for key in keys:
            text, code, number = KEYS.get(key, (key, "", ord(key[0].upper())))
            about = {"key": key, "code": code, "windowsVirtualKeyCode": number}
            self.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **about)
            self.ask("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        """Write into what has the focus."""
        self.ask("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click into the middle of an element that can be seen."""
        place = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "if (!e) return null; e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const r = e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2;"
            "return e.contains(document.elementFromPoint(x, y)) ? {x, y} : null; })()"
        )
        if place is None:
            raise BrowserError(f"{selector}: is not there, or hidden")
        about = {**place, "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, **about)

    def seen(self, selector: str) -> bool:
        """Whether an element is there and can be seen."""
        script = f"document.querySelector({json.dumps(selector)})?.checkVisibility() ?? false"
        return bool(self.evaluate(script))

    def text(self, selector: str) -> str:
        """Text of an element."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def downloaded(self, number: int = 1) -> list[Path]:
        """The files that were saved, when there are so many."""
        self.chromium.wait(lambda: len(self._saved) >= number, "download")
        return sorted(self.downloads.iterdir(), key=lambda path: path.stat().st_mtime_ns)

    def screen(self, width: int, height: int, scheme: str = "light", scale: float = 1.0) -> None:
        """Size of the window and the colour scheme that the reader prefers."""
        phone = width < 600
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=scale, mobile=phone,
        )  # fmt: skip
        wanted = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.ask("Emulation.setEmulatedMedia", features=wanted)

    def screenshot(self, path: Path) -> None:
        """Write what is seen as PNG."""
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))


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


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """A browser for all tests."""
    running = Chromium(find_browser(), tmp_path_factory.mktemp("chromium"))
    try:
        yield running
    finally:
        running.close()


@pytest.fixture
def browser(chromium: Chromium, tmp_path: Path) -> Iterator[Browser]:
    """A page with storage of its own."""
    page = Browser(chromium, tmp_path / "downloads")
    page.start()
    yield page
    page.stop()


def _main() -> None:
    """A picture of a page: ``python -m tests.browser PAGE PNG [--size 1280x720] [KEY]...``.

    A KEY is one of `KEYS`, a sign, or a text to write.
    """
    parser = argparse.ArgumentParser(description=_main.__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("png", type=Path)
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--scheme", default="light")
    chosen = parser.parse_intermixed_args()
    width, _, height = chosen.size.partition("x")
    with TemporaryDirectory() as folder:
        running = Chromium(find_browser(), Path(folder))
        page = Browser(running, Path(folder) / "downloads")
        page.start()
        page.screen(int(width), int(height), chosen.scheme)
        page.open(chosen.page)
        for key in chosen.keys:
            page.press(key) if key in KEYS or len(key) == 1 else page.type(key)
        page.screenshot(chosen.png)
        running.close()


if __name__ == "__main__":
    _main()
