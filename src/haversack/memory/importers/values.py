"""Values of other programs' rows, converted for the records of this one."""

import json
from typing import Any

from haversack.memory.save.checks import MAX_TITLE
from haversack.patterns import pattern
from haversack.text.times import from_iso

_NOT_IN_A_KIND = pattern(r"[^\w-]+")
_LONGEST_MADE_TITLE = 100


def text(value: object) -> str:
    """A text; empty for what is missing."""
    return "" if value is None else str(value)


def time(value: object) -> int | None:
    """Microseconds since 1970 from ISO 8601 or from milliseconds; None for what is missing or no date."""
    if value is None or value == "":
        return None
    try:
        return value * 1000 if isinstance(value, int) else from_iso(str(value))
    except (ValueError, OverflowError):
        return None  # the memory is worth more than its date


def kind(value: object) -> str:
    """A kind in one word."""
    return _NOT_IN_A_KIND.sub("-", text(value).strip().lower()).strip("-_")[:40] or "observation"


def words(value: object) -> list[str]:
    """A list from JSON or from words with commas, each once."""
    found: Any = value
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except ValueError:
            found = value.split(",")
    if not isinstance(found, list):
        return []
    return list(dict.fromkeys(word for each in found if (word := str(each).strip())))


def titled(title: str, content: str) -> dict[str, str]:
    """A title and a content; a missing one is made from the other, and an overlong title is repeated in the content."""
    title, content = " ".join(title.split()), content if content.strip() else title
    if not title:
        first = next((line.strip(" #-*") for line in content.splitlines() if line.strip(" #-*")), "")
        return {"title": first[:_LONGEST_MADE_TITLE], "content": content}
    if len(title) > MAX_TITLE:
        return {"title": title[: MAX_TITLE - 1] + "…", "content": f"{title}\n\n{content}"}
    return {"title": title, "content": content}
