"""Writes the vocabulary file of haversack.tokens from the published o200k rank file.

    python tools/build_vocabulary.py [SOURCE]

SOURCE is the rank file itself or a wheel that carries it; without it, the installed packages are searched.
The rank file is data of several packages (`pip download --no-deps llama-index-core`, or litellm), under the
name tiktoken gives it in its cache. The classes of characters come from tiktoken's own regular expressions,
so that both split a text in the same places, whatever Unicode version Python knows.
"""

import base64
import hashlib
import sys
import sysconfig
import zipfile
from array import array
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from zlib import crc32

import tiktoken

from haversack.tokens.vocabulary import (
    ABSENT,
    CLASS_BITS,
    CLASSES,
    HEADER,
    MAGIC,
    PATH,
    RANK_BITS,
)

RANK_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"  # the SHA-1 of the address it was published at
RANK_FILE_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
PLACES = ("llama_index/core/_static/tiktoken_cache", "litellm/litellm_core_utils/tokenizers")
SLOTS = 1 << 19
SURROGATES = range(0xD800, 0xE000)
CLASS_PATTERNS = {
    "upper": r"[\p{Lu}\p{Lt}]",
    "lower": r"\p{Ll}",
    "caseless": r"[\p{Lm}\p{Lo}]",
    "mark": r"\p{M}",
    "number": r"\p{N}",
    "space": r"\s",
}


def main(arguments: Sequence[str]) -> int:
    """Builds the file and says how large it is; 1 when the rank file is not found or not the right one."""
    rank_file = read_rank_file(Path(arguments[0])) if arguments else find_rank_file()
    if rank_file is None:
        sys.stderr.write(f"no package holds {RANK_FILE}; pip download --no-deps llama-index-core\n")
        return 1
    digest = hashlib.sha256(rank_file).hexdigest()
    if digest != RANK_FILE_SHA256:
        sys.stderr.write(f"the rank file has SHA-256 {digest}, not {RANK_FILE_SHA256}\n")
        return 1
    content = serialise(parse(rank_file), character_classes())
    Path(PATH).write_bytes(content)
    sys.stdout.write(f"{PATH}: {len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}\n")
    return 0


def read_rank_file(source: Path) -> bytes | None:
    """The rank file at a path, or inside the wheel at that path."""
    if not zipfile.is_zipfile(source):
        return source.read_bytes()
    with zipfile.ZipFile(source) as wheel:
        for place in PLACES:
            if f"{place}/{RANK_FILE}" in wheel.namelist():
                return wheel.read(f"{place}/{RANK_FILE}")
    return None


def find_rank_file() -> bytes | None:
    """The rank file in one of the installed packages that carry it."""
    for place in PLACES:
        path = Path(sysconfig.get_path("platlib"), place, RANK_FILE)
        if path.exists():
            return path.read_bytes()
    return None


def parse(rank_file: bytes) -> list[bytes]:
    """The tokens in rank order."""
    tokens: list[bytes] = []
    for line in rank_file.splitlines():
        token, rank = line.split()
        if int(rank) != len(tokens):
            raise ValueError(f"rank {int(rank)} where {len(tokens)} was expected")
        tokens.append(base64.b64decode(token))
    return tokens


def character_classes() -> list[int]:
    """The first code point of each run of characters of one class, with the number of the class."""
    characters = "".join(chr(point) for point in range(sys.maxunicode + 1) if point not in SURROGATES)
    numbers = bytearray(sys.maxunicode + 1)
    single_bytes = {bytes([byte]): byte for byte in range(256)}
    for name, pattern in CLASS_PATTERNS.items():
        # A text encodes to the bytes of what the pattern matches in it, so this is the list of its members.
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=single_bytes, special_tokens={})
        for character in bytes(encoding.encode_ordinary(characters)).decode():
            numbers[ord(character)] = CLASSES.index(name)
    runs = []
    for point, number in enumerate(numbers):
        if point == 0 or number != numbers[point - 1]:
            runs.append(point << CLASS_BITS | number)
    return runs


def serialise(tokens: Sequence[bytes], classes: Sequence[int]) -> bytes:
    """The content of the vocabulary file; the same tokens and classes give the same bytes."""
    if len(tokens) >= min(ABSENT, SLOTS):
        raise ValueError(f"{len(tokens)} tokens are more than a slot can number")
    slots = [0] * SLOTS
    for rank, token in enumerate(tokens):
        checksum = crc32(token)
        slot = checksum % SLOTS
        while slots[slot]:
            slot = (slot + 1) % SLOTS
        slots[slot] = checksum >> RANK_BITS << RANK_BITS | rank + 1
    text = b"".join(tokens)
    bounds = [0, *accumulate(map(len, tokens))]
    header = HEADER.pack(MAGIC, len(tokens), SLOTS, len(classes), len(text))
    return header + b"".join(map(_little_endian, (bounds, slots, classes))) + text


def _little_endian(numbers: Sequence[int]) -> bytes:
    table = array("I", numbers)
    if sys.byteorder == "big":
        table.byteswap()
    return table.tobytes()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
