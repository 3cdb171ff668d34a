"""The page's own files, read once; nothing else in the package can be reached through them."""

import gzip
import hashlib
import os
from functools import cache

from haversack.values import record
from haversack.web.exchange import Answer, Exchange, Headers

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "page")
KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}  # fmt: skip


@record
class StaticFile:
    """A file of the page, also compressed, with the tag by which a browser knows that it has it."""

    content: bytes
    compressed: bytes
    kind: str
    tag: str


@cache
def files() -> dict[str, StaticFile]:
    """The files of the page, by name."""
    found = {}
    for name in sorted(os.listdir(FOLDER)):
        kind = KINDS.get(os.path.splitext(name)[1])
        if kind:
            with open(os.path.join(FOLDER, name), "rb") as file:
                content = file.read()
            if name.endswith(".js"):
                content = _without_margins(content)
            tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
            found[name] = StaticFile(content, gzip.compress(content, 9, mtime=0), kind, tag)
    return found


def _without_margins(source: bytes) -> bytes:
    """A script without indentation and lines of comment, which only its authors need."""
    lines = (line.strip() for line in source.splitlines())
    return b"\n".join(line for line in lines if line and not line.startswith(b"//"))


def sent(exchange: Exchange, name: str) -> Answer:
    """A file of the page, or the word that the browser's copy is still right."""
    file = files()[name]
    headers: Headers = (("etag", file.tag), ("cache-control", "no-cache"), ("vary", "accept-encoding"))
    if file.tag in exchange.headers.get("if-none-match", ""):
        return Answer(304, b"", file.kind, headers, may_be_cached=True)
    if "gzip" in exchange.headers.get("accept-encoding", ""):
        headers += (("content-encoding", "gzip"),)
        return Answer(200, file.compressed, file.kind, headers, may_be_cached=True)
    return Answer(200, file.content, file.kind, headers, may_be_cached=True)
