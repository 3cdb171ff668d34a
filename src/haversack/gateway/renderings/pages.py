"""HTML as its headings, text, links and table rows."""

from html.parser import HTMLParser

from haversack.gateway.renderings.rendering import Rendering
from haversack.patterns import pattern

_MARKUP = pattern(r"(?i)<(?:!doctype html|html|head|body|div|table|p|ul|h[1-6])[\s>]")
_SPACE = pattern(r"[ \t\r\n\f\v\u00a0]+")
_SILENT = frozenset(("script", "style", "svg", "noscript", "template", "head"))
_LINES = frozenset(
    (
        "p", "div", "section", "article", "header", "footer", "nav", "main", "aside", "ul", "ol", "table", "tr", "br",
        "hr", "pre", "blockquote", "form", "dl", "dt", "dd", "figure", "figcaption", "li", "h1", "h2", "h3", "h4", "h5",
        "h6", "option", "title",
    )
)  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)} | {"title": "# "}


class _Reader(HTMLParser):
    """Collects lines of text while tags go by."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line = ""
        self._silent: list[str] = []
        self._links: list[tuple[str, int]] = []
        self._cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT and not (tag == "head" and self._silent):
            self._silent.append(tag)
        if tag == "title" and self._silent == ["head"]:
            self._silent = []
        if self._silent:
            return
        if tag in _LINES:
            self.end_line()
            self._line = _HEADINGS.get(tag, "- " if tag == "li" else "")
            self._cells = 0
        elif tag in ("td", "th"):
            self._line += " | " if self._cells else ""
            self._cells += 1
        elif tag == "a":
            self._links.append((dict(attrs).get("href") or "", len(self._line)))
        elif tag == "img" and (words := dict(attrs).get("alt")):
            self._line += f" [{words}]"

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            del self._silent[self._silent.index(tag) :]
            return
        if self._silent:
            return
        if tag == "a" and self._links:
            href, start = self._links.pop()
            words = self._line[start:].strip()
            if href and words and not href.startswith(("#", "javascript:")):
                self._line = f"{self._line[:start]}[{words}]({href})"
        elif tag in _LINES:
            self.end_line()
            if tag == "title":
                self._silent = ["head"]

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._line += _SPACE.sub(" ", data)

    def end_line(self) -> None:
        line = _SPACE.sub(" ", self._line).strip()
        if line.strip("#-| "):
            self.lines.append(line)
        self._line = ""
        self._links = []


def page(text: str) -> Rendering | None:
    """An HTML text without its markup; None for other markup."""
    if not _MARKUP.search(text[:4_000]):
        return None
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_line()
    made = "\n".join(reader.lines)
    if len(made) >= len(text):
        return None
    return Rendering("HTML as headings, text, links and table rows", made)
