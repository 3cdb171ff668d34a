"""One pass over the bytes of a file of any size: its lines counted, those of a range kept."""

import codecs
from collections.abc import Iterator

from haversack.values import record
from haversack.workspace.files.encodings import LINE_CAP, decode_line

KEPT = 4_000_000
"""Bytes of text one reading holds; what follows is read by asking for the lines after its last."""

_CONTINUATION = bytes(range(0x80, 0xC0))
_LINE_COST = 64
"""Bytes that a kept line is reckoned to take beside its text, so that a file of empty lines ends too."""


@record
class KeptLine:
    """The beginning of a line, and the length of all of it in characters."""

    text: str
    length: int


class LineScan:
    """Counts every line of a file, keeps lines `start` to `end`, and tells whether all of the file is UTF-8.

    Of each line as much is kept as can be shown. When `start` is `end`, up to KEPT bytes of that one line are, from
    `column` on. `is_whole` is false when KEPT was reached before the end of the range.
    """

    def __init__(self, start: int, end: int | None, column: int = 1) -> None:
        self._start = start
        self._end = end
        self._column = column
        self._wanted = KEPT if start == end else LINE_CAP * 4
        self._kept = 0
        self._line = _LineUnderWay(self._wanted, column)
        self.total = 0
        self.lines: list[KeptLine] = []
        self.is_utf8 = True
        self.is_whole = True

    def run(self, blocks: Iterator[bytes]) -> None:
        """Scan the whole file."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        last = b"\n"
        try:
            for block in blocks:
                self._take(block)
                last = block[-1:] or last
                decoder.decode(block)
            decoder.decode(b"", True)
        except UnicodeDecodeError:
            self.is_utf8 = False
            for block in blocks:
                self._take(block)
                last = block[-1:] or last
        if last != b"\n":
            self._end_line()

    def _in_range(self) -> bool:
        number = self.total + 1
        return self.is_whole and number >= self._start and (self._end is None or number <= self._end)

    def _take(self, block: bytes) -> None:
        at = 0
        newlines = block.count(b"\n")
        if self.total + newlines + 1 < self._start:
            self.total += newlines
            return
        while self.total + 1 < self._start:
            at = block.index(b"\n", at) + 1
            self.total += 1
        while self._in_range():
            newline = block.find(b"\n", at)
            self._line.add(block[at:] if newline < 0 else block[at:newline])
            if newline < 0:
                return
            self._end_line()
            at = newline + 1
            if self._column == 1 and self._in_range():
                at = self._take_whole_lines(block, at)
        self.total += block.count(b"\n", at)

    def _take_whole_lines(self, block: bytes, start: int) -> int:
        """Keep the lines that are complete in one block and can be shown in full; the position of the first other."""
        at = start
        most = None if self._end is None else self._end - self.total
        for raw in block[start : block.rfind(b"\n") + 1].split(b"\n")[:-1]:
            if (most is not None and most <= 0) or len(raw) > LINE_CAP or self._kept > KEPT:
                break
            text = decode_line(raw.removesuffix(b"\r"))
            self.lines.append(KeptLine(text, len(text)))
            self._kept += len(raw) + _LINE_COST
            self.total += 1
            at += len(raw) + 1
            most = None if most is None else most - 1
        return at

    def _end_line(self) -> None:
        if self._in_range():
            kept = self._line.finished()
            self._line = _LineUnderWay(self._wanted, self._column)
            self._kept += len(kept.text) + _LINE_COST
            if self._kept <= KEPT or not self.lines:
                self.lines.append(kept)
            else:
                self.is_whole = False
        self.total += 1


class _LineUnderWay:
    """A line that arrives in pieces: its requested part, its size and its characters so far."""

    def __init__(self, wanted: int, column: int) -> None:
        self._wanted = wanted
        self._column = column
        self._head = bytearray()
        self._skipped = 0
        self._size = 0
        self._characters = 0
        self._ends_in_return = False

    def add(self, piece: bytes) -> None:
        characters = len(piece) if piece.isascii() else len(piece.translate(None, _CONTINUATION))
        if not self._head and self._characters + characters < self._column:
            self._skipped = self._characters + characters
        elif len(self._head) < self._wanted:
            self._head += piece[: self._wanted - len(self._head)]
        self._size += len(piece)
        self._characters += characters
        self._ends_in_return = piece.endswith(b"\r") if piece else self._ends_in_return

    def finished(self) -> KeptLine:
        raw = bytes(self._head)
        is_complete = len(raw) == self._size
        if self._skipped:
            raw = raw.lstrip(_CONTINUATION)
        text = decode_line(raw if is_complete else _whole_characters(raw))
        is_western = len(text) == len(raw) and not raw.isascii()
        length = self._size if is_western else self._characters
        if self._ends_in_return:
            length -= 1
            text = text[:-1] if text.endswith("\r") else text
        return KeptLine(text[self._column - 1 - self._skipped :], length)


def _whole_characters(raw: bytes) -> bytes:
    """Bytes without a character that was cut at their end."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return raw[: error.start]
    return raw
