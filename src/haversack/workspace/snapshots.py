"""Snapshots: a result of any length as compact bytes, read again from any item on."""

import json
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Generic, TypeVar

from haversack.errors import DamagedFile

Item = TypeVar("Item")
Record = Sequence[Any]
"""An item as a row of JSON values."""

_MAGIC = b"HVS1"
_CHUNK = 65_536


class SnapshotWriter:
    """Gathers records into compressed chunks, so that a long result never stands in memory as objects."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.total = 0
        self.size = len(_MAGIC)
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._chunks = [_MAGIC]
        self._starts: list[int] = []
        self._offsets: list[int] = []
        self._first_pending = 0

    def extend(self, records: Sequence[Record]) -> None:
        """Add records."""
        if records:
            self.add_encoded(encode(records), len(records))

    def add_encoded(self, encoded: bytes, count: int) -> None:
        """Add `count` records that `encode` or `bundle` has already written down."""
        self._pending.append(encoded)
        self._pending_size += len(encoded)
        self.total += count
        if self._pending_size >= _CHUNK:
            self._flush()

    def finish(self) -> bytes:
        """The snapshot."""
        self._flush()
        footer = json.dumps([self.kind, self.total, self._starts, [*self._offsets, self.size]]).encode()
        return b"".join([*self._chunks, footer, len(footer).to_bytes(4, "big")])

    def _flush(self) -> None:
        if not self._pending:
            return
        chunk = zlib.compress(b"[" + b",".join(self._pending) + b"]", 1)
        self._starts.append(self._first_pending)
        self._offsets.append(self.size)
        self._chunks.append(chunk)
        self.size += len(chunk)
        self._first_pending = self.total
        self._pending, self._pending_size = [], 0


def encode(records: Sequence[Record]) -> bytes:
    """Records as bytes that can be joined with commas to other records."""
    return json.dumps(records, separators=(",", ":"))[1:-1].encode()


def bundle(records: str) -> bytes:
    """Many records that stand in one text, as bytes that can be joined with commas to other records.

    They are told apart when they are read: one text is written far quicker than a row for each.
    """
    return json.dumps(records).encode()


class Snapshot(Generic[Item]):
    """A result that does not change any more: its exact total, and its items from any place on.

    `decode` makes an item of a record; `unbundle` gives the records that stand in one text.
    """

    __slots__ = ("_decode", "_offsets", "_starts", "_unbundle", "data", "kind", "total")

    def __init__(
        self, data: bytes, decode: Callable[..., Item], unbundle: Callable[[str], Sequence[Record]] | None = None
    ) -> None:
        kind, total, starts, offsets = _footer(data)
        self.data = data
        self.kind: str = kind
        self.total: int = total
        self._starts: list[int] = starts
        self._offsets: list[int] = offsets
        self._decode = decode
        self._unbundle = unbundle

    def __len__(self) -> int:
        return self.total

    def first(self, count: int) -> list[Item]:
        """The first `count` items, or all when there are fewer."""
        return list(islice(self.items(), count))

    def items(self, start: int = 0) -> Iterator[Item]:
        """The items from number `start` on, counted from 0; one chunk is unpacked at a time."""
        if start >= self.total:
            return
        chunk = bisect_right(self._starts, start) - 1
        skipped = start - self._starts[chunk]
        for number in range(chunk, len(self._starts)):
            begin, end = self._offsets[number], self._offsets[number + 1]
            unpacked = zlib.decompress(memoryview(self.data)[begin:end])
            records = chain.from_iterable(map(self._records, json.loads(unpacked)))
            yield from (self._decode(*record) for record in islice(records, skipped, None))
            skipped = 0

    def _records(self, written: Record | str) -> Sequence[Record]:
        if not isinstance(written, str):
            return (written,)
        assert self._unbundle
        return self._unbundle(written)


def snapshot_kind(data: bytes) -> str:
    """The kind of items a snapshot holds."""
    kind: str = _footer(data)[0]
    return kind


def _footer(data: bytes) -> Any:
    length = int.from_bytes(data[-4:], "big")
    if not data.startswith(_MAGIC) or length > len(data) - 8:
        raise DamagedFile("a stored workspace result cannot be read", hint="make the call that gave it again")
    return json.loads(data[-4 - length : -4])
