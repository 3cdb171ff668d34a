"""Lines read from a descriptor as the bytes they are; one over the limit is handed on in chunks."""

import os
from collections.abc import Iterator

CHUNK = 1 << 16
LARGE_CHUNK = 1 << 20


class LongLine:
    """A line over the limit: its chunks can be taken once, the first of them being already read."""

    def __init__(self, lines: "RawLines") -> None:
        self._lines = lines

    def chunks(self) -> Iterator[bytes]:
        """The line in order, with its line end unless the stream ended before."""
        return self._lines.rest_of_line()


class RawLines:
    """The lines of a descriptor, each with its line end; what follows the last line end comes as a line too."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._held = bytearray()
        self._ended = False

    def __iter__(self) -> Iterator[bytes | LongLine]:
        while True:
            # Mostly there is exactly one line to read, which need not be copied.
            if not self._held and (chunk := self._taken(CHUNK)):
                if chunk.find(b"\n") == len(chunk) - 1:
                    yield chunk
                    continue
                self._held += chunk
            searched = 0
            while (end := self._held.find(b"\n", searched)) < 0 and len(self._held) <= self._limit:
                searched = len(self._held)
                if not self._read():
                    break
            if end >= 0:
                line = bytes(self._held[: end + 1])
                del self._held[: end + 1]
                yield line
            elif len(self._held) > self._limit:
                yield LongLine(self)
            else:
                if self._held:
                    yield bytes(self._held)
                return

    def rest_of_line(self) -> Iterator[bytes]:
        """The chunks up to the next line end."""
        while True:
            end = self._held.find(b"\n")
            if end >= 0:
                yield bytes(self._held[: end + 1])
                del self._held[: end + 1]
                return
            # Handed on in pieces, so that the line is never in memory twice.
            view = memoryview(self._held)
            for start in range(0, len(view), LARGE_CHUNK):
                yield bytes(view[start : start + LARGE_CHUNK])
            view.release()
            self._held = bytearray()
            if not self._read():
                return

    def _read(self) -> bool:
        chunk = self._taken(LARGE_CHUNK if len(self._held) > LARGE_CHUNK else CHUNK)
        self._held += chunk
        return bool(chunk)

    def _taken(self, size: int) -> bytes:
        """The next bytes of the descriptor, at most `size`; empty at its end."""
        try:
            chunk = b"" if self._ended else os.read(self._descriptor, size)
        except OSError:
            chunk = b""
        self._ended = not chunk
        return chunk
