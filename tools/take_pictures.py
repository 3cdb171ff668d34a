"""Takes the pictures of the page for the documentation, with a sample store and the system's Chromium."""

import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import sync_playwright

from tests.conftest import Clock
from tests.http.browsing import chromium, visiting
from tests.http.sample import fill
from tests.http.serving import serving

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
VIEWS = {
    "memory": "memory?q=how did we do the jwt auth&n=300&level=auto&id=2",
    "pack": "pack?n=420",
    "timeline": "timeline?id=5",
    "ledger": "ledger",
    "review": "review?tab=changed",
    "figures": "figures",
}


def main() -> int:
    """Write one picture per view, light and dark by turns, and one at phone width."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    with tempfile.TemporaryDirectory() as home, serving(home, now=clock) as served, sync_playwright() as playwright:
        fill(served.app, clock)
        browser = playwright.chromium.launch(executable_path=chromium())
        for number, (name, address) in enumerate(VIEWS.items()):
            theme = "dark" if number % 2 else "light"
            with visiting(browser, served, color_scheme=theme) as visitor:
                visitor.sign_in(address)
                visitor.page.wait_for_timeout(400)
                _take(visitor.page, name)
        with visiting(browser, served, viewport={"width": 320, "height": 720}) as visitor:
            visitor.sign_in(VIEWS["pack"])
            visitor.page.wait_for_timeout(400)
            _take(visitor.page, "phone")
        browser.close()
    return 0


def _take(page: Any, name: str) -> None:
    path = FOLDER / f"{name}.png"
    page.screenshot(path=str(path))
    from PIL import Image  # a palette is enough for a page, and a third of the size

    with Image.open(path) as taken:
        taken.convert("RGB").quantize(128).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
