"""Snapshots: a result of any length as compact bytes, read again from any item on."""

import io
import json
import struct
import zlib
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate, islice, repeat
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from haversack.digests import blake2b
from haversack.errors import DamagedFile

if TYPE_CHECKING:
    from queue import SimpleQueue
    from threading import Semaphore, Thread

Item = TypeVar("Item")
Record = Sequence[Any]
"""An item as a row of JSON values."""

_MAGIC = b"HVS2"
_BUNDLED = b"\0"
_CHUNK = 65_536
_ALONE, _WAITING = 4, 8
"""Chunks that are compressed without a thread's help, and those that may wait for it."""
_DIGEST = 16
_HELD = 16
"""Chunks that stay unpacked while items are read: parts that were put in order lie in several."""


class SnapshotWriter:
    """Gathers records into compressed chunks, so that a long result is never held in memory as objects."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.total = 0
        self.size = len(_MAGIC)
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._written = io.BytesIO()
        self._written.write(_MAGIC)
        self._offsets = [self.size]
        self._chunks = 0
        self._compressor = _Compressor()
        # For each part, in the order they came: its chunk, its place in the chunk, its bytes, its records.
        self._index = tuple(array("I") for _ in range(4))
        self._identity: Any = None

    def extend(self, records: Sequence[Record]) -> None:
        """Add records."""
        if records:
            self.add_parts([encode(records)], [len(records)])

    def add_parts(self, parts: Sequence[bytes], counts: Sequence[int]) -> None:
        """Add encoded parts from `encode` or `bundle`, with the number of records in each."""
        *starts, self._pending_size = accumulate(map(len, parts), initial=self._pending_size)
        columns = (repeat(self._chunks, len(parts)), starts, map(len, parts), counts)
        for column, values in zip(self._index, columns, strict=True):
            column.extend(values)
        self._pending += parts
        self.total += sum(counts)
        if self._pending_size >= _CHUNK:
            self._flush()

    def identify(self, content: bytes) -> None:
        """Add to the identity of this result, for results whose parts may be divided differently each time."""
        if self._identity is None:
            self._identity = blake2b(digest_size=_DIGEST)
        self._identity.update(content)

    def finish(self) -> bytes:
        """The snapshot."""
        self._flush()
        self._compressor.finish()
        self._write_done()
        if len(self._offsets) <= self._chunks:
            raise MemoryError("a result could not be compressed")
        identity = "" if self._identity is None else self._identity.hexdigest()
        packed = zlib.compress(b"".join(struct.pack(f"<{len(column)}I", *column) for column in self._index), 1)
        footer = json.dumps([self.kind, self.total, identity, self._offsets, len(packed)]).encode()
        self._written.write(b"".join([packed, footer, len(footer).to_bytes(4, "big")]))
        return self._written.getvalue()

    def _flush(self) -> None:
        if not self._pending:
            return
        self._compressor.add(b"".join(self._pending))
        self._chunks += 1
        self._pending, self._pending_size = [], 0
        self._write_done()

    def _write_done(self) -> None:
        while self._compressor.done:
            self.size += self._written.write(self._compressor.done.popleft())
            self._offsets.append(self.size)


class _Compressor:
    """Compresses chunks one after another, from the fifth on by a thread of its own.

    That needs nothing of the interpreter, so a long result is compressed while more of it is read.
    """

    def __init__(self) -> None:
        self.done: deque[bytes] = deque()
        self._added = 0
        self._thread: Thread | None = None

    def add(self, chunk: bytes) -> None:
        """Take a chunk; it will come out of `done` in its turn."""
        self._added += 1
        if self._added <= _ALONE:
            self.done.append(zlib.compress(chunk, 1))
            return
        if self._thread is None:
            self._begin()
        self._room.acquire()
        self._given.put(chunk)

    def _begin(self) -> None:
        from queue import SimpleQueue  # few results are so long
        from threading import Semaphore, Thread

        self._given: SimpleQueue[bytes | None] = SimpleQueue()
        self._room = Semaphore(_WAITING)
        given = (self._given, self.done, self._room)
        self._thread = Thread(target=_compress, args=given, name="haversack-compress", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait until all is done."""
        if self._thread is not None:
            self._given.put(None)
            self._thread.join()
            self._thread = None

    def __del__(self) -> None:
        # An abandoned result leaves no thread behind.
        if self._thread is not None:
            self._given.put(None)


def _compress(given: "SimpleQueue[bytes | None]", done: deque[bytes], room: "Semaphore") -> None:
    while (chunk := given.get()) is not None:
        with suppress(MemoryError):  # the writer notices the missing chunk
            done.append(zlib.compress(chunk, 1))
        room.release()


def encode(records: Sequence[Record]) -> bytes:
    """A part that holds records as rows of JSON."""
    return json.dumps(records, separators=(",", ":"))[1:-1].encode()


def bundle(records: bytes) -> bytes:
    """A part that holds many records in one UTF-8 text, which is split when it is read.

    Writing one text is far faster than a row for each.
    """
    return _BUNDLED + records


class Snapshot(Generic[Item]):
    """An immutable result: its exact total, and its items from any index on.

    `decode` makes an item of a record; `unbundle` gives the records that stand in one text.
    """

    __slots__ = ("_decode", "_identity", "_index", "_offsets", "_starts", "_unbundle", "data", "kind", "total")

    def __init__(
        self, data: bytes, decode: Callable[..., Item], unbundle: Callable[[str], Sequence[Record]] | None = None
    ) -> None:
        kind, total, identity, offsets, packed = _footer(data)
        self.data = data
        self._identity: str = identity
        self.kind: str = kind
        self.total: int = total
        self._decode = decode
        self._unbundle = unbundle
        self._offsets: list[int] = offsets
        numbers = zlib.decompress(memoryview(data)[offsets[-1] : offsets[-1] + packed])
        parts = len(numbers) // 16
        chunks, begins, sizes, counts = (
            array("I", struct.unpack_from(f"<{parts}I", numbers, at * parts * 4)) for at in range(4)
        )
        self._index = (chunks, begins, sizes)
        self._starts = array("I", accumulate(counts, initial=0))

    def __len__(self) -> int:
        return self.total

    @property
    def identity(self) -> bytes:
        """Bytes that are equal for equal items, even when the snapshots store them differently."""
        return self._identity.encode() or self.data

    def first(self, count: int) -> list[Item]:
        """The first `count` items, or all when there are fewer."""
        return list(islice(self.items(), count))

    def items(self, start: int = 0) -> Iterator[Item]:
        """The items from number `start` on, counted from 0; only the chunks that hold them are unpacked."""
        if start >= self.total:
            return
        unpacked = lru_cache(maxsize=_HELD)(self._chunk)
        part = bisect_right(self._starts, start) - 1
        skipped = start - self._starts[part]
        for chunk, begin, size in zip(*(islice(column, part, None) for column in self._index), strict=True):
            records = self._records(unpacked(chunk)[begin : begin + size])
            yield from (self._decode(*record) for record in islice(records, skipped, None))
            skipped = 0

    def parts_from(self, start: int) -> int:
        """How many parts hold the items from number `start` on."""
        return max(0, len(self._starts) - bisect_right(self._starts, start))

    def weight_from(self, start: int) -> int:
        """The bytes in which the items from number `start` on are stored."""
        part = bisect_right(self._starts, start) - 1
        sizes = self._index[2]
        if part >= len(sizes):
            return 0
        weight: int = sum(sizes[part:]) - round(self.weight_at(start) * (start - self._starts[part]))
        return weight

    def weight_at(self, place: int) -> float:
        """The bytes in which an item is stored, as the mean of the part it is in."""
        part = bisect_right(self._starts, place) - 1
        weight: float = self._index[2][part] / max(1, self._starts[part + 1] - self._starts[part])
        return weight

    def _records(self, written: bytes) -> Sequence[Record]:
        if written.startswith(_BUNDLED):
            assert self._unbundle
            return self._unbundle(written[len(_BUNDLED) :].decode())
        records: list[Record] = json.loads(b"[%b]" % written)
        return records

    def _chunk(self, number: int) -> bytes:
        return zlib.decompress(memoryview(self.data)[self._offsets[number] : self._offsets[number + 1]])


def snapshot_kind(data: bytes) -> str:
    """The kind of items a snapshot holds."""
    kind: str = _footer(data)[0]
    return kind


def _footer(data: bytes) -> Any:
    length = int.from_bytes(data[-4:], "big")
    if not data.startswith(_MAGIC) or length > len(data) - 8:
        raise DamagedFile("a stored workspace result cannot be read", hint="make the call that gave it again")
    return json.loads(data[-4 - length : -4])
