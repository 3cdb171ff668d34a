"""What the blocks of a tool's result cost a model: text by its tokens, pictures by their size in pixels."""

from collections.abc import Mapping
from math import ceil
from typing import Any

from haversack.tokens import Profile
from haversack.values import record

UNREADABLE_IMAGE = 1_600
"""Tokens of a picture whose header cannot be read."""
_CLAUDE_EDGE, _CLAUDE_PIXELS_PER_TOKEN, _CLAUDE_MOST = 2_576, 750, 4_784
_TILE, _TILE_TOKENS, _BASE_TOKENS = 512, 170, 85
_TILED_LONG_EDGE, _TILED_SHORT_EDGE = 2_048, 768
_HEADER = 65_536
"""Bytes of a picture in which its size stands; photographs have a preview before it."""


@record
class Size:
    """A picture's width and height in pixels."""

    width: int
    height: int


def image_tokens(content: str, profile: Profile) -> tuple[int, Size | None]:
    """The tokens of a picture in base64 and its size, read from its header."""
    size = size_of(_decoded_beginning(content))
    if size is None or size.width <= 0 or size.height <= 0:
        return UNREADABLE_IMAGE, None
    if profile.name == "claude":
        return _scaled_area(size), size
    return _tiles(size), size


def binary_tokens(content: str) -> int:
    """The tokens of audio or of a blob in base64, which some clients paste as text."""
    return max(1, len(content) * 3 // 4 // 3)


def _scaled_area(size: Size) -> int:
    scale = min(1.0, _CLAUDE_EDGE / max(size.width, size.height))
    return max(1, min(_CLAUDE_MOST, ceil(size.width * scale * (size.height * scale) / _CLAUDE_PIXELS_PER_TOKEN)))


def _tiles(size: Size) -> int:
    scale = min(1.0, _TILED_LONG_EDGE / max(size.width, size.height))
    scale *= min(1.0, _TILED_SHORT_EDGE / (min(size.width, size.height) * scale))
    across = ceil(size.width * scale / _TILE)
    down = ceil(size.height * scale / _TILE)
    return _BASE_TOKENS + _TILE_TOKENS * across * down


def _decoded_beginning(content: str) -> bytes:
    import base64
    import binascii

    beginning = content[: _HEADER * 4 // 3 // 4 * 4]
    try:
        return base64.b64decode(beginning + "=" * (-len(beginning) % 4))
    except (binascii.Error, ValueError):
        return b""


def size_of(header: bytes) -> Size | None:
    """The size of a PNG, JPEG, GIF, WebP or BMP picture from its first bytes; None for anything else."""
    if header[:8] == b"\x89PNG\r\n\x1a\n" and len(header) >= 24:
        return Size(int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big"))
    if header[:6] in (b"GIF87a", b"GIF89a") and len(header) >= 10:
        return Size(int.from_bytes(header[6:8], "little"), int.from_bytes(header[8:10], "little"))
    if header[:2] == b"\xff\xd8":
        return _jpeg(header)
    if header[:4] == b"RIFF" and header[8:12] == b"WEBP":
        return _webp(header)
    if header[:2] == b"BM" and len(header) >= 26:
        height = int.from_bytes(header[22:26], "little", signed=True)
        return Size(int.from_bytes(header[18:22], "little", signed=True), abs(height))
    return None


def _jpeg(header: bytes) -> Size | None:
    place = 2
    while place + 9 < len(header):
        if header[place] != 0xFF:
            return None
        marker = header[place + 1]
        # Every "start of frame" but the three markers in that range that mean something else.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = header[place + 5 : place + 7], header[place + 7 : place + 9]
            return Size(int.from_bytes(width, "big"), int.from_bytes(height, "big"))
        place += 2 + int.from_bytes(header[place + 2 : place + 4], "big")
    return None


def _webp(header: bytes) -> Size | None:
    kind = header[12:16]
    if kind == b"VP8X" and len(header) >= 30:
        return Size(1 + int.from_bytes(header[24:27], "little"), 1 + int.from_bytes(header[27:30], "little"))
    if kind == b"VP8 " and len(header) >= 30:
        width, height = (int.from_bytes(header[place : place + 2], "little") & 0x3FFF for place in (26, 28))
        return Size(width, height)
    if kind == b"VP8L" and len(header) >= 25:
        bits = int.from_bytes(header[21:25], "little")
        return Size(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    return None


@record
class Binary:
    """A block that is not text: what it is called, and its price."""

    label: str
    tokens: int
    size: int


def binary(block: Mapping[str, Any], profile: Profile) -> Binary | None:
    """What a block that is not text costs; None for text, links and kinds nobody knows."""
    kind = block.get("type")
    mime = block.get("mimeType")
    if kind in ("image", "audio") and isinstance(content := block.get("data"), str):
        if kind == "image":
            tokens, size = image_tokens(content, profile)
            shape = f" {size.width}x{size.height}" if size else ""
        else:
            tokens, shape = binary_tokens(content), f" {len(content) * 3 // 4:,} bytes"
        return Binary(f"{_name(mime, kind)}{shape}", tokens, len(content))
    resource = block.get("resource")
    if kind == "resource" and isinstance(resource, dict) and isinstance(content := resource.get("blob"), str):
        label = f"{_name(resource.get('mimeType'), 'blob')} {len(content) * 3 // 4:,} bytes"
        return Binary(label, binary_tokens(content), len(content))
    return None


def _name(mime: object, kind: str) -> str:
    return mime[:60] if isinstance(mime, str) and mime.isprintable() and mime.isascii() else kind
