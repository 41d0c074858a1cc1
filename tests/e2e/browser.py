"""Chromium as a person uses it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Request, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
# Long enough for a machine that runs many tests side by side.
TIMEOUT_MS = 30_000


def require_chromium() -> None:
    """Report a test as not run where there is no browser; in CI that is a failure."""
    if CHROMIUM.exists():
        return
    reason = f"{CHROMIUM} is missing: apt install chromium"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
# Any: playwright's own keywords of a new context.
def browsing(address: str, **context: Any) -> Iterator[BrowserContext]:
    """Yield a browser of one person; whatever a page complains of fails the test.

    The database is out of reach meanwhile: playwright's loop runs in this thread.
    """
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        try:
            person = browser.new_context(base_url=address, **context)
            person.set_default_timeout(TIMEOUT_MS)
            expect.set_options(timeout=TIMEOUT_MS)
            person.on("weberror", lambda error: complaints.append(str(error.error)))
            person.on("console", lambda said: _note(complaints, said.type, said.text))
            person.on("request", lambda asked: _check(complaints, asked.url, address))
            requests = _Requests()
            requests.follow(person)
            try:
                yield person
            except BaseException as error:
                error.add_note(f"The page complained: {complaints}. {requests}")
                raise
        finally:
            browser.close()
    assert not complaints


@dataclass
class _Requests:
    """What a browser asked for and was not answered, for whoever reads why a test failed."""

    waiting: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def follow(self, person: BrowserContext) -> None:
        person.on("request", lambda request: self.waiting.append(request.url))
        person.on("requestfinished", self._answered)
        person.on("requestfailed", self._failed)

    def _answered(self, request: Request) -> None:
        if request.url in self.waiting:
            self.waiting.remove(request.url)

    def _failed(self, request: Request) -> None:
        self._answered(request)
        self.failed.append(f"{request.url}: {request.failure}")


def _note(complaints: list[str], kind: str, text: str) -> None:
    # A server that restarts is what some tests are about.
    if kind == "error" and "WebSocket connection" not in text:
        complaints.append(text)


def _check(complaints: list[str], url: str, address: str) -> None:
    if not url.startswith((address, "data:", "blob:")):
        complaints.append(f"outside request: {url}")


def say(page: Page, text: str) -> None:
    """Write a message and send it as most people do."""
    page.locator("#message").fill(text)
    page.keyboard.press("Enter")


def wait_for_end(page: Page) -> None:
    """Wait until no answer is being written."""
    page.locator('.turn:not([data-state="queued"]):not([data-state="running"])').last.wait_for()
    page.locator("#stop").wait_for(state="hidden")
