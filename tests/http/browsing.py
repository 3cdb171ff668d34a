"""The system's Chromium, driven by Playwright; every page it opens must stay at home and stay silent."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from haversack.web.identity import Identity
from tests.http.serving import Served


def chromium() -> str:
    """The path of the browser; without one the test is skipped, or fails where a browser is required."""
    found = os.environ.get("HAVERSACK_CHROMIUM") or next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
    )
    reason = "" if found else "no Chromium: install it, or name one in HAVERSACK_CHROMIUM"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        reason = "no Playwright: pip install playwright"
    if reason and os.environ.get("CI_BROWSER") == "required":
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    return found


class Visitor:
    """A page of the browser with what it did that it should not have done."""

    def __init__(self, page: Any, served: Served) -> None:
        self.page = page
        self.served = served
        self.trouble: list[str] = []
        page.on("console", lambda message: self._heard(message))
        page.on("pageerror", lambda error: self.trouble.append(f"error: {error}"))
        page.on("request", lambda request: self._asked(request.url))

    def _heard(self, message: Any) -> None:
        # A refused request is a line of the browser's own; whether it should have been refused is the test's matter.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.trouble.append(f"{message.type}: {message.text}")

    def _asked(self, url: str) -> None:
        if not url.startswith((self.served.url, "blob:" + self.served.url, "data:")):
            self.trouble.append(f"request to {url}")

    def sign_in(self, view: str = "") -> None:
        """Open the page with a fresh code, then a view."""
        code = self.served.server.door.sign_in.code(Identity("page", "page", "admin"))
        self.page.goto(f"{self.served.url}/#k={code}")
        self.page.wait_for_selector(".meter .figure:not(:text('–'))")
        if view:
            self.open(view)

    def open(self, view: str) -> None:
        """Go to a view by its address, and wait until it shows something."""
        self.page.evaluate("address => { location.hash = address }", f"#/{view}")
        name = view.partition("?")[0]
        self.page.wait_for_selector(f"#views a[data-view={name}][aria-current]")
        self.page.wait_for_selector("main[aria-busy=false]")


@contextmanager
def visiting(browser: Any, served: Served, **options: Any) -> Iterator[Visitor]:
    """A context of its own; at its end nothing may have gone wrong in it."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=served.url)
    context.set_default_timeout(15_000)
    visitor = Visitor(context.new_page(), served)
    try:
        yield visitor
        assert not visitor.trouble, visitor.trouble
    finally:
        context.close()
