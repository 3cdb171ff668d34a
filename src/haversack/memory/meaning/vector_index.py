"""Finding the nearest of very many vectors: a file of their signs preselects, and the candidates are compared exactly.

The file is a cache beside the store: one bit for each dimension, by observation. It is never trusted: each row it names
is read from the store again, through the caller's filters, and compared exactly. Rows that changed
since it was written are read from the store too. It is written whole and put in place at once, so that readers in
other processes always see one state; without it, or for stores without a file, the newest rows are compared.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from haversack.digests import blake2b
from haversack.private_files import FILE_MODE
from haversack.store import vectors
from haversack.store.engine import Engine, Reader
from haversack.store.records import Filters
from haversack.values import record

NEWEST = 10_000
"""If at most this many rows pass the filters, all are compared without the index."""
SAMPLE = 1_000
"""The newest rows that are compared to estimate the similarity of an unrelated row."""
CANDIDATES = 2_000
"""Rows whose signs are nearest that are compared exactly."""
WIDER, MOST_CANDIDATES = 8, 32_000
"""While too few candidates pass the filters, their number is multiplied by the first, up to the second."""
ENOUGH = 100
"""Candidates that must have passed the filters."""
MOST_CHANGES = 20_000
"""Rows changed since the file was written that a search reads, the newest first."""
REWRITTEN_AFTER = 5_000
"""Changes after which the file is written anew."""
_CHUNK = 1 << 16
_MAGIC = b"haversack vectors 1\n"


@record
class Signs:
    """The file in memory: ids in order, the signs of each row, and the mean vector they are taken from."""

    ids: Any
    bits: Any
    mean: Any
    change: int


class VectorIndex:
    """The signs of one store's vectors of one model, as this process last saw them."""

    def __init__(self, path: str, model: str) -> None:
        self._path = path
        self._model = model
        self._signs: Signs | None = None
        self._stamp: tuple[int, int] | None = None

    def nearest(self, tx: Reader, asked: Any, chosen: Filters) -> dict[int, bytes]:
        """Place -> vector of the likely nearest rows that pass the filters, and of some others."""
        found = dict(vectors.newest(tx, self._model, chosen, SAMPLE))
        signs = self._current()
        if signs is None:
            return found | dict(vectors.newest(tx, self._model, chosen, NEWEST))
        changed = vectors.changed_since(tx, signs.change, MOST_CHANGES)
        found |= vectors.of_observations(tx, self._model, chosen, changed)
        distances = _distances(signs, asked)
        wanted = CANDIDATES
        while True:
            ids = _least(signs.ids, distances, wanted)
            near = vectors.of_observations(tx, self._model, chosen, ids)
            found |= near
            if len(near) >= ENOUGH or wanted >= min(MOST_CANDIDATES, len(signs.ids)):
                return found
            wanted = min(wanted * WIDER, MOST_CANDIDATES)

    def _current(self) -> Signs | None:
        """The file as it is now; None where there is none that can be read."""
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp != self._stamp:
            self._signs = _read(self._path)
            self._stamp = stamp
        return self._signs


_INDEXES: dict[tuple[str, str], VectorIndex] = {}


def index_of(database: Engine, model: str) -> VectorIndex | None:
    """The index of a store's vectors; None for a store that has no file to keep one beside."""
    path = file_of(database, model)
    if not path:
        return None
    return _INDEXES.setdefault((path, model), VectorIndex(path, model))


def file_of(database: Engine, model: str) -> str:
    """Where the signs of a model's vectors are kept; empty where they cannot be."""
    if not database.cache_path:
        return ""
    return f"{database.cache_path}-{blake2b(model.encode(), digest_size=6).hexdigest()}.signs"


def renew(database: Engine, model: str) -> bool:
    """Write the file anew where enough has changed, and say whether it was written."""
    path = file_of(database, model)
    if not path:
        return False
    held = _header(path)
    with database.read() as tx:
        last = vectors.last_change(tx)
        if last - (held or 0) < REWRITTEN_AFTER and (held is not None or last < NEWEST):
            return False
        signs = _signs(tx, model, last)
    if signs is None:
        return False
    _write(path, signs)
    return True


def _signs(tx: Reader, model: str, change: int) -> Signs | None:
    import numpy

    ids: list[Any] = []
    rows: list[Any] = []
    mean: Any = None
    for batch in vectors.in_batches(tx, model, _CHUNK):
        held = numpy.frombuffer(b"".join(vector for _, vector in batch), dtype=numpy.int8).reshape(len(batch), -1)
        if mean is None:
            # Centred signs distinguish vectors with a common direction; the first rows suffice for the mean.
            mean = held.astype(numpy.float32).mean(axis=0)
        ids.append(numpy.array([identifier for identifier, _ in batch], dtype=numpy.int64))
        rows.append(_packed(held, mean))
    if mean is None:
        return None
    return Signs(numpy.concatenate(ids), numpy.concatenate(rows), mean, change)


def _packed(held: Any, mean: Any) -> Any:
    """The signs of vectors as rows of whole 64-bit words."""
    import numpy

    bits = numpy.packbits(held > mean, axis=1)
    padding = -bits.shape[1] % 8
    return numpy.ascontiguousarray(numpy.pad(bits, ((0, 0), (0, padding)))).view(numpy.uint64)


def _distances(signs: Signs, asked: Any) -> Any:
    """In how many dimensions the sign of each row differs from the question's."""
    import numpy

    (wanted,) = _packed((asked * 127.0)[None, :], signs.mean)
    found: Any = numpy.empty(len(signs.ids), dtype=numpy.uint16)
    for start in range(0, len(found), _CHUNK):
        part = slice(start, start + _CHUNK)
        numpy.sum(numpy.bitwise_count(signs.bits[part] ^ wanted), axis=1, dtype=numpy.uint16, out=found[part])
    return found


def _least(ids: Any, distances: Any, count: int) -> list[int]:
    import numpy

    if count >= len(ids):
        found: list[int] = ids.tolist()
        return found
    chosen: list[int] = ids[numpy.argpartition(distances, count)[:count]].tolist()
    return chosen


def _write(path: str, signs: Signs) -> None:
    import json

    header = {"rows": len(signs.ids), "words": signs.bits.shape[1], "dimensions": len(signs.mean)}
    told = json.dumps(header | {"change": signs.change}).encode()
    unfinished = f"{path}.{os.getpid()}.new"
    flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(unfinished, flags, FILE_MODE), "wb") as file:
            file.write(_MAGIC + len(told).to_bytes(4, "little") + told)
            for part in (signs.mean, signs.ids, signs.bits):
                file.write(memoryview(part).cast("B"))
        os.replace(unfinished, path)
    finally:
        with suppress(OSError):
            os.unlink(unfinished)


def _header(path: str) -> int | None:
    """The change a file was written at; None where there is no such file."""
    told = _described(path)
    return int(told["change"]) if told else None


def _described(path: str) -> Mapping[str, int] | None:
    import json

    try:
        with open(path, "rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return None
            length = int.from_bytes(file.read(4), "little")
            told: dict[str, int] = json.loads(file.read(length))
            told["start"] = file.tell()
            whole = told["dimensions"] * 4 + told["rows"] * 8 * (told["words"] + 1)
            return told if os.fstat(file.fileno()).st_size == told["start"] + whole else None
    except (OSError, ValueError, KeyError):
        return None


def _read(path: str) -> Signs | None:
    """A file's content, mapped into memory; None where it is not whole: it will be written anew."""
    import numpy

    told = _described(path)
    if told is None:
        return None
    with open(path, "rb") as file:
        file.seek(told["start"])
        mean = numpy.frombuffer(file.read(told["dimensions"] * 4), dtype=numpy.float32)
        ids = numpy.frombuffer(file.read(told["rows"] * 8), dtype=numpy.int64)
        start = file.tell()
    shape = (told["rows"], told["words"])
    bits: Any = numpy.memmap(path, dtype=numpy.uint64, mode="r", offset=start, shape=shape) if told["rows"] else ids
    return Signs(ids, bits, mean, told["change"])
