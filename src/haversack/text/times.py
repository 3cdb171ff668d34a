"""Times as people write them, and as the store keeps them (microseconds since 1970, UTC)."""

import re
from datetime import UTC, datetime, timedelta

from haversack.errors import InvalidArgument
from haversack.patterns import pattern

_AGO = pattern(r"(\d{1,6})\s*(h|d|w|hours?|days?|weeks?)(\s+ago)?", re.IGNORECASE)
_DATE = pattern(r"\d{4}-\d{2}-\d{2}")
DAY = 86_400_000_000
MINUTE = 60_000_000
HOUR = 60 * MINUTE


def moment(time: int) -> datetime:
    """A stored time as an aware datetime."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)
    except OverflowError:
        # Only a damaged store has such a time; its other content can still be shown.
        return (datetime.max if time > 0 else datetime.min).replace(tzinfo=UTC)


def civil(time: int) -> tuple[int, int, int]:
    """The year, month and day of a stored time."""
    day = moment(time)
    return day.year, day.month, day.day


def date(time: int) -> str:
    """A stored time as `2026-02-10`."""
    return moment(time).date().isoformat()


def minute(time: int) -> str:
    """A stored time as `2026-02-10 14:05`."""
    return moment(time).strftime("%Y-%m-%d %H:%M")


def iso(time: int | None) -> str | None:
    """A stored time with all its digits, in ISO 8601."""
    return None if time is None else moment(time).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_iso(text: str) -> int:
    """A stored time from ISO 8601; no time zone means UTC."""
    found = datetime.fromisoformat(text)
    aware = found if found.tzinfo else found.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def parse_moment(text: str, name: str, now: int, *, end_of_day: bool = False) -> int:
    """A caller's time: a date, a date and time, or an age such as `7d`; `end_of_day` takes a bare date whole."""
    cleaned = text.strip()
    if ago := _AGO.fullmatch(cleaned):
        unit = {"h": HOUR, "d": DAY, "w": 7 * DAY}[ago.group(2)[0].lower()]
        # From the minute that has begun: the same call made twice in it means the same moment.
        return now - now % MINUTE - int(ago.group(1)) * unit
    if cleaned.lower() in {"today", "yesterday"}:
        start = now - now % DAY - (DAY if cleaned.lower() == "yesterday" else 0)
        return start + (DAY - 1 if end_of_day else 0)
    try:
        found = from_iso(cleaned)
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f"{name} is {text[:60]!r}, not a time", hint="give a date (2026-02-10), a date and time, or an age (7d)"
        ) from None
    return found + DAY - 1 if end_of_day and _DATE.fullmatch(cleaned) else found
