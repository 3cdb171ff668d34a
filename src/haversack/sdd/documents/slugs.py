"""Names for files and folders made from titles, in any script, safe on every platform."""

import unicodedata
from collections.abc import Collection

from haversack.path_components import DEVICE_NAMES

LONGEST = 60
LONGEST_BYTES = 180


def slugify(title: str, *, fallback: str = "untitled") -> str:
    """Letters and digits of any script in lower case, with single hyphens; never empty, never too long."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).lower())
    kept = "".join(char if _belongs(char) else " " for char in folded)
    # A mark with no letter before it would fuse with the hyphen.
    words = (_without_leading_marks(word) for word in kept.split())
    slug = _shortened("-".join(word for word in words if word), LONGEST)
    if not slug:
        return fallback
    # Windows keeps some names for devices, whatever their extension.
    return f"x-{slug}" if slug in DEVICE_NAMES else slug


def unique(slug: str, taken: Collection[str]) -> str:
    """`slug`, or `slug-2`, `slug-3`... when names that differ only in case or form are taken."""
    used = {unicodedata.normalize("NFKC", name).casefold() for name in taken}
    candidate, number = slug, 1
    while unicodedata.normalize("NFKC", candidate).casefold() in used:
        number += 1
        ending = f"-{number}"
        candidate = _shortened(slug, LONGEST - len(ending)) + ending
    return candidate


def _belongs(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"


def _without_leading_marks(word: str) -> str:
    start = 0
    while start < len(word) and unicodedata.category(word[start])[0] == "M":
        start += 1
    return word[start:]


def _shortened(slug: str, length: int) -> str:
    end = min(len(slug), length)
    while len(slug[:end].encode("utf-8", "surrogatepass")) > LONGEST_BYTES:
        end -= 1
    # A cut before a combining mark would turn one letter into another.
    while 0 < end < len(slug) and unicodedata.category(slug[end])[0] == "M":
        end -= 1
    last_word = slug.rfind("-", 0, end + 1)
    if end < len(slug) and last_word > end // 2:
        end = last_word
    return slug[:end].strip("-")
