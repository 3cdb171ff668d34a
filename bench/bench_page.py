"""The page in a real browser: from a key to the meter among 10,000 memories, and how soon the page is there.

Beside it a bare page of the same kind (one document, one style sheet, one script) from a server of Python's own, by
turns. Needs Chromium and Playwright; without them it says so and measures nothing. `--quick` for a short look.
"""

import argparse
import os
import shutil
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.bench_http import Server, claim, ours, started
from bench.bench_scale import Language, fill
from haversack.app import open_caller
from haversack.config import Config

KEY_GAP_MS = 130
"""Somebody who types fast: some seven keys a second."""
WATCH = """
() => {
  window.spans = [];
  let since = 0;
  document.querySelector("#query").addEventListener("input", () => { since = performance.now(); }, true);
  new MutationObserver(() => {
    if (since) window.spans.push(performance.now() - since);
    since = 0;
  }).observe(document.querySelector(".meter .figure"), { childList: true, characterData: true, subtree: true });
}
"""
READY = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
BARE = {
    "index.html": "<!doctype html><html lang=en><link rel=stylesheet href=/style.css><script type=module src=/app.js>"
    "</script><title>Bare</title><h1>Bare</h1><main></main></html>",
    "style.css": "body { font: 15px system-ui }",
    "app.js": "document.querySelector('main').textContent = 'ready';",
}


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        return


def browser_path() -> str:
    """Where Chromium is, or nothing."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return os.environ.get("HAVERSACK_CHROMIUM") or next(filter(None, map(shutil.which, names)), "")


def sign_in(context: Any, server: Server) -> None:
    """Give a context of the browser the cookie of the page."""
    headers = {"authorization": server.headers["authorization"], "content-type": "application/json"}
    reply = context.request.post(f"http://127.0.0.1:{server.port}/session", headers=headers, data="{}")
    assert reply.status == 204


def keystrokes(page: Any, language: Language, words: int) -> list[float]:
    """Milliseconds from each key to the figure it brought, while questions are typed."""
    page.evaluate(WATCH)
    query = page.locator("#query")
    for _ in range(words):
        query.fill("")
        query.press_sequentially(" ".join(language.draw(3)), delay=KEY_GAP_MS)
    page.wait_for_timeout(500)
    spans: list[float] = page.evaluate("window.spans")
    return sorted(spans)


def ready(browser: Any, address: str, server: Server | None) -> float:
    """Milliseconds from the beginning of a visit to the end of loading, nothing kept from before."""
    context = browser.new_context()
    try:
        if server is not None:
            sign_in(context, server)
        page = context.new_page()
        page.goto(address, wait_until="load")
        page.wait_for_function(f"({READY})() > 0")
        return float(page.evaluate(READY))
    finally:
        context.close()


def measure(playwright: Any, server: Server, bare: int, quick: bool) -> None:
    """Type, visit by turns, and claim."""
    browser = playwright.chromium.launch(executable_path=browser_path())
    home = f"http://127.0.0.1:{server.port}/"
    context = browser.new_context()
    sign_in(context, server)
    page = context.new_page()
    page.goto(home)
    page.wait_for_selector(".meter .figure:not(:text('–'))")
    spans = keystrokes(page, Language(5), 2 if quick else 12)
    late = spans[min(len(spans) - 1, int(len(spans) * 0.95))]
    print(
        f"{len(spans)} keys: median {median(spans):.0f} ms, 95 % within {late:.0f} ms, the slowest {spans[-1]:.0f} ms"
    )
    context.close()
    took: dict[str, list[float]] = {"page": [], "bare": []}
    for _ in range(3 if quick else 15):
        took["page"].append(ready(browser, home, server))
        took["bare"].append(ready(browser, f"http://127.0.0.1:{bare}/", None))
    browser.close()
    print(f"page loaded after {median(took['page']):.0f} ms, a bare one after {median(took['bare']):.0f} ms")
    claim("keystroke to meter, 95 %", late, 100, "ms")
    claim("page ready beside a bare page", median(took["page"]) / median(took["bare"]), 1.5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("no Playwright: nothing was measured")
        return 0
    if not browser_path():
        print("no Chromium (HAVERSACK_CHROMIUM names one): nothing was measured")
        return 0
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
        for name, text in BARE.items():
            (Path(folder) / name).write_text(text)
        other = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
        threading.Thread(target=other.serve_forever, daemon=True).start()
        plain = apsw.Connection(":memory:")
        plain.execute("CREATE VIRTUAL TABLE t USING fts5 (title, content)")
        fill(open_caller(Config(home=home), directory=home), plain, Language(), 1_000 if quick else 10_000, set())
        command, port, token = ours(home)
        with started(command, port, home, token) as (server, _), sync_playwright() as playwright:
            measure(playwright, server, other.server_port, quick)
        other.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
