"""The o200k vocabulary, read in place: opening the file takes no time, however much it holds.

The file is a header, three tables of 32-bit numbers and the text, all little-endian:

- bounds: where each token begins in the text, in rank order, and at last where the text ends
- slots: an open-addressing table by checksum; 0 is free, else 14 bits of checksum and 18 of rank + 1
- classes: the first code point of each run of characters of one class, and the class in the low 3 bits
- text: the bytes of all tokens, in rank order
"""

import os.path
import struct
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

from haversack.errors import DamagedFile

MAGIC = b"o200kv01"
HEADER = struct.Struct("<8s4I")
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "o200k.vocab")

ABSENT = 1 << 18
"""The rank of what is not a token; larger than any rank."""

RANK_BITS = 18
RANK_MASK = (1 << RANK_BITS) - 1
CLASS_BITS = 3
CLASS_MASK = (1 << CLASS_BITS) - 1

CLASSES = ("other", "upper", "lower", "caseless", "mark", "number", "space")
"""The character classes that splitting distinguishes, in the order of their numbers in the file."""


class Vocabulary:
    """Tokens by rank, ranks by token, and the class of every character."""

    __slots__ = ("_bounds", "_classes", "_mapped", "_mask", "_slots", "_text")

    def __init__(self, content: memoryview, path: str) -> None:
        """`content` is that of the whole file at `path`."""
        magic, tokens, slots, classes, length = HEADER.unpack(content[: HEADER.size].tobytes().ljust(HEADER.size))
        sizes = (4 * (tokens + 1), 4 * slots, 4 * classes, length)
        if magic != MAGIC or HEADER.size + sum(sizes) != len(content):
            raise DamagedFile(f"the vocabulary {path} is not as it was installed", hint="reinstall haversack")
        parts = []
        start = HEADER.size
        for size in sizes:
            parts.append(content[start : start + size])
            start += size
        self._bounds, self._slots, self._classes = map(_numbers, parts[:3])
        self._text = parts[3]
        self._mask: int = slots - 1
        self._mapped: Any = content.obj

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __iter__(self) -> Iterator[bytes]:
        """Every token, in rank order."""
        for rank in range(len(self)):
            yield bytes(self._text[self._bounds[rank] : self._bounds[rank + 1]])

    def rank(self, token: bytes) -> int:
        """The rank of a token, or ABSENT."""
        checksum = crc32(token)
        mark = checksum >> RANK_BITS
        slot = checksum & self._mask
        while entry := self._slots[slot]:
            if entry >> RANK_BITS == mark:
                rank = (entry & RANK_MASK) - 1
                if self._text[self._bounds[rank] : self._bounds[rank + 1]] == token:
                    return rank
            slot = (slot + 1) & self._mask
        return ABSENT

    def release(self) -> None:
        """Release the memory of the pages that were read; the system may keep them in its cache."""
        if sys.platform != "win32":
            from mmap import MADV_DONTNEED

            self._mapped.madvise(MADV_DONTNEED)

    def character_class(self, code_point: int) -> str:
        """One of CLASSES."""
        run = bisect_right(self._classes, code_point << CLASS_BITS | CLASS_MASK) - 1
        return CLASSES[self._classes[run] & CLASS_MASK]


def open_vocabulary(path: str = PATH) -> Vocabulary:
    """The vocabulary that comes with the package, mapped into memory where the platform can."""
    try:
        with open(path, "rb") as file:
            try:
                import mmap  # here, because not every platform has it

                return Vocabulary(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), path)
            except (ImportError, OSError, ValueError):
                return Vocabulary(memoryview(file.read()), path)
    except OSError as error:
        raise DamagedFile(
            f"the vocabulary {path} cannot be read: {error.strerror}", hint="reinstall haversack"
        ) from None


def _numbers(content: memoryview) -> Sequence[int]:
    if sys.byteorder == "little":
        return content.cast("I")
    from array import array

    numbers = array("I", bytes(content))
    numbers.byteswap()
    return numbers
