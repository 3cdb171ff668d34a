"""Dates a question names, to be held against the dates of what is stored."""

from haversack.memory.times import moment
from haversack.patterns import pattern
from haversack.values import record

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DATE = pattern(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?({'|'.join(_MONTHS)})\b"
    r"(?: (\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?,?(?: ?(?:of )?((?:19|20)\d\d))?"
)
_ISO_DATE = pattern(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_YEAR = pattern(r"\b(?:19|20)\d\d\b")


@record
class Period:
    """A year, month or day; None leaves that part open."""

    year: int | None
    month: int | None
    day: int | None


def periods_in(text: str) -> tuple[Period, ...]:
    """The dates a text names, the most exact kind found."""
    lowered = text.lower()
    found = [Period(int(y), int(m), int(d) if d else None) for y, m, d in _ISO_DATE.findall(lowered)]
    for before, month, after, year in _DATE.findall(lowered):
        day = before or after
        # "may" alone is a verb far more often than a month.
        if day or year or month != "may":
            found.append(Period(int(year) if year else None, _MONTHS.index(month) + 1, int(day) if day else None))
    return tuple(found or [Period(int(year), None, None) for year in _YEAR.findall(lowered)])


def nearness(time: int, periods: tuple[Period, ...]) -> str:
    """How near a stored time is to the nearest period: "day", "period", "month" or nothing."""
    written = moment(time)
    best = ""
    for period in periods:
        if period.year not in (None, written.year) or period.month not in (None, written.month):
            continue
        if period.day == written.day:
            return "day"
        best = "period" if period.day is None else best or "month"
    return best
