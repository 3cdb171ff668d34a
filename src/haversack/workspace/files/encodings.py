"""Text in files: encodings, binary content, and lines too long to show in full."""

import codecs
import os
import time
from collections.abc import Iterator

from haversack.cancellation import check
from haversack.errors import ToolFailed
from haversack.values import record

LINE_CAP = 1_000
"""Characters of one line that are shown."""
SNIFFED = 8_000
"""Bytes at the start of a file that decide whether it is binary: one NUL among them, as git has it."""
BLOCK = 1 << 20

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_UTF32_BOMS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
# Windows-1252 leaves five bytes without a meaning; they stand for themselves, so that any bytes can be read.
_WESTERN = "".join(
    bytes([byte]).decode("cp1252") if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(byte) for byte in range(256)
)


@record
class Line:
    """A line, or the part of it that is shown: `text` begins `start` characters into a line of `length` characters."""

    number: int
    text: str
    length: int
    start: int = 0

    @property
    def is_cut(self) -> bool:
        return len(self.text) < self.length


@record
class Sniffed:
    """The facts from a file's first bytes: its encoding if marked, the length of the mark, whether it is binary."""

    encoding: str
    mark: int
    is_binary: bool


def sniff(beginning: bytes) -> Sniffed:
    """The encoding and kind of a file, from its first bytes."""
    if not beginning.startswith(_UTF32_BOMS):
        for mark, encoding in _BOMS:
            if beginning.startswith(mark):
                return Sniffed(encoding, len(mark), False)
    return Sniffed("", 0, b"\0" in beginning[:SNIFFED])


def decode_line(raw: bytes) -> str:
    """A line as text: UTF-8 when it is that, else Windows-1252."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return codecs.charmap_decode(raw, "strict", _WESTERN)[0]


def cut_line(number: int, text: str, *, match_at: int = 0) -> Line:
    """A line that can be shown: at most LINE_CAP characters, around the match when it lies further on."""
    if len(text) <= LINE_CAP:
        return Line(number, text, len(text))
    start = 0 if match_at < LINE_CAP * 3 // 4 else min(match_at - LINE_CAP // 4, len(text) - LINE_CAP)
    return Line(number, text[start : start + LINE_CAP], len(text), start)


def blocks_of(descriptor: int, seconds: float) -> Iterator[bytes]:
    """The bytes of an open file; reading for longer than `seconds` is an error."""
    deadline = time.monotonic() + seconds
    while block := os.read(descriptor, BLOCK):
        yield block
        check()
        if time.monotonic() > deadline:
            raise ToolFailed(
                f"the file could not be read within {seconds:g} seconds", hint="raise workspace.timeout_seconds"
            )


def as_utf8(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Blocks of UTF-16 as UTF-8; others as they are."""
    if not encoding.startswith("utf-16"):
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", True).encode()
