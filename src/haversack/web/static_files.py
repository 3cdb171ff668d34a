"""The page's own files, read once; nothing else in the package can be reached through them."""

import gzip
import hashlib
import os
import re
from functools import cache

from haversack.values import record
from haversack.web.exchange import Answer, Exchange, Headers

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")
KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}  # fmt: skip


@record
class StaticFile:
    """A file of the page, also compressed, with its ETag."""

    content: bytes
    compressed: bytes
    kind: str
    tag: str


SCRIPT = "page.js"
_IMPORT = re.compile(r'import \{(.+)\} from "\./(\w+)\.js";')
_EXPORT = re.compile(r"export ((?:async )?(?:const|function|class)) (\w+)")

_TEXT = re.compile(r'("(?:[^"\\]|\\.)*")')
_SPACES = re.compile(r" *(=>|[{}()\[\];,=<>?:&|!*]) *")
_SLASH = re.compile(r'(?<!")/(?!")')
"""A slash may be a division or a regular expression: the text after it is not changed."""


@cache
def files() -> dict[str, StaticFile]:
    """The files of the page, by name; its modules are one of them."""
    found = {SCRIPT: _static(_joined("app"), ".js")}
    for name in sorted(os.listdir(FOLDER)):
        ending = os.path.splitext(name)[1]
        if ending in KINDS and ending != ".js":
            with open(os.path.join(FOLDER, name), "rb") as file:
                found[name] = _static(file.read(), ending)
    return found


def _static(content: bytes, ending: str) -> StaticFile:
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    return StaticFile(content, gzip.compress(content, 9, mtime=0), KINDS[ending], tag)


def _joined(first: str) -> bytes:
    """A module and all it imports as one script, each in a scope of its own: one request instead of a dozen."""
    written: dict[str, str] = {}

    def add(name: str) -> None:
        if name in written:
            return
        lines, exported = [], []
        with open(os.path.join(FOLDER, f"{name}.js"), encoding="utf-8") as file:
            source = [line.strip() for line in file]
        for line in source:
            if imported := _IMPORT.fullmatch(line):
                add(imported[2])
                lines.append(f"const {{{imported[1].replace(' as ', ': ')}}} = {imported[2]}_js;")
            elif line and not line.startswith("//"):  # browsers need no indentation and comments
                exported += [found[2] for found in [_EXPORT.match(line)] if found]
                lines.append(_tight(_EXPORT.sub(r"\1 \2", line, count=1)))
        body = "\n".join(lines)
        written[name] = f"const {name}_js = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"

    add(first)
    return "\n".join(written.values()).encode()


def _tight(line: str) -> str:
    """A line without spaces around punctuation; unchanged where the spaces may have a meaning."""
    if "`" in line or "'" in line or _SLASH.search(line):
        return line
    return "".join(
        _SPACES.sub(r"\1", part) if number % 2 == 0 else part for number, part in enumerate(_TEXT.split(line))
    )


def sent(exchange: Exchange, name: str) -> Answer:
    """A file of the page, or 304 when the browser's copy is current."""
    file = files()[name]
    headers: Headers = (("etag", file.tag), ("cache-control", "no-cache"), ("vary", "accept-encoding"))
    if file.tag in exchange.headers.get("if-none-match", ""):
        return Answer(304, b"", file.kind, headers, may_be_cached=True)
    if "gzip" in exchange.headers.get("accept-encoding", ""):
        headers += (("content-encoding", "gzip"),)
        return Answer(200, file.compressed, file.kind, headers, may_be_cached=True)
    return Answer(200, file.content, file.kind, headers, may_be_cached=True)
