"""The times a question is about: dates it names, or relative ones such as "last week"."""

from datetime import date

from haversack.patterns import pattern
from haversack.text.times import DAY, civil, moment
from haversack.text.words import words_in
from haversack.values import record

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DATE = pattern(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?)?({'|'.join(_MONTHS)})\b"
    r"(?: (\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?,?(?: ?(?:of )?((?:19|20)\d\d))?"
)
_ISO_DATE = pattern(r"\b((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?\b")
_YEAR = pattern(r"\b(?:19|20)\d\d\b")
_BEFORE_MAY = pattern(r"\b(?:in|last|this|since|until|by|during|from|of|early|mid|late|before|after|around)[ -]$")
_AGO = pattern(rf"\b(\d{{1,3}}|an?|{'|'.join(_NUMBERS)}) (day|week|month|year)s? ago\b")
_LAST = pattern(rf"\b(last|this|past|previous) (day|week|month|year|{'|'.join((*_WEEKDAYS, *_MONTHS))})\b")
_DAY = pattern(r"\b(today|yesterday)\b")
_WORD = pattern(r"[^\W_]+")
# Words of a question about a time that name nothing to look for.
_ASKING_WORDS = """
a about all and any anything are at been before did do does doing done during everything for from had happen
happened has have i in is it list made me my notes of on our saved see show since so stored tell that the there
things this to until up was we were what which work worked working you s
"""
_SAYS_NO_MORE = frozenset(_ASKING_WORDS.split())
# A text without one of these, or a digit, names no time.
_SIGNS = frozenset((*_MONTHS, "ago", "last", "this", "past", "previous", "today", "yesterday"))
_TIME_WORDS = _SIGNS.union(
    _WEEKDAYS, _NUMBERS, ("a", "an", "of", "day", "week", "month", "year", "days", "weeks", "months", "years")
)
# How other languages speak of days and weeks, and the words around that name nothing to look for.
_SPOKEN_ELSEWHERE = {
    "today": ("heute", "aujourd'hui", "aujourd’hui", "hoy", "oggi"),
    # "Hier" alone is also German, and means here.
    "yesterday": ("gestern", "ayer", "ieri", "fait hier", "passé hier", "d'hier", "d’hier", "hier, nous"),
    "last week": ("letzte woche", "vorige woche", "la semaine dernière", "la semana pasada", "la settimana scorsa"),
    "this week": ("diese woche", "cette semaine", "esta semana", "questa settimana"),
    "last month": ("letzten monat", "vorigen monat", "le mois dernier", "el mes pasado", "il mese scorso"),
    "this month": ("diesen monat", "ce mois", "este mes", "questo mese"),
    "last year": ("letztes jahr", "voriges jahr", "l'année dernière", "el año pasado", "l'anno scorso"),
    "this year": ("dieses jahr", "cette année", "este año", "quest'anno"),
}
_ENGLISH = {spoken: english for english, others in _SPOKEN_ELSEWHERE.items() for spoken in others}
_ELSEWHERE = pattern(rf"(?<!\w)(?:{'|'.join(sorted(_ENGLISH, key=len, reverse=True))})(?!\w)")
_ASKING_WORDS_ELSEWHERE = """
was haben wir gemacht getan habe ich ist war passiert zeig zeige mir alles geschehen wurde
qu avons nous ai je fait est ce qui il passé s les que hicimos hice pasó hemos hecho qué cosa abbiamo fatto ho
"""
_ASKING_ELSEWHERE = frozenset(_ASKING_WORDS_ELSEWHERE.split())
_LENGTHS = {"day": 1, "week": 7, "month": 30, "year": 365}
_CLOSE = 3
"""Days around a span that are close to it."""


@record
class Period:
    """A year, month or day; None leaves that part open."""

    year: int | None
    month: int | None
    day: int | None


@record
class Span:
    """The days from one to another, both within it, counted from 1970."""

    first: int
    last: int


When = Period | Span


def _in_english(text: str) -> str:
    """A text in lower case, with the days and weeks of other languages named in English."""
    lowered = text.lower()
    # The expression is slow to compile, and most questions hold none of its words.
    if not any(spoken in lowered for spoken in _ENGLISH):
        return lowered
    return _ELSEWHERE.sub(lambda found: _ENGLISH[found[0]], lowered)


def periods_in(text: str, now: int) -> tuple[When, ...]:
    """The periods a text names, of the most exact kind found."""
    lowered = _in_english(text)
    if _SIGNS.isdisjoint(words_in(lowered)) and not any(character.isdigit() for character in lowered):
        return ()
    today = now // DAY
    found: list[When] = [
        Period(int(year), int(month), int(day) if day else None)
        for year, month, day in _ISO_DATE.findall(lowered)
        if 1 <= int(month) <= 12 and (not day or 1 <= int(day) <= 31)
    ]
    found += [_ago(today, count, unit) for count, unit in _AGO.findall(lowered)]
    found += [_last(today, which, unit) for which, unit in _LAST.findall(lowered)]
    found += [_only(today - (word == "yesterday")) for word in _DAY.findall(lowered)]
    for match in _DATE.finditer(lowered):
        before, month, after, year = match.groups()
        day = before or after
        if not (day or year) and _LAST.search(lowered[max(0, match.start() - 9) : match.end()]):
            continue
        # "may" alone is a verb far more often than a month.
        if day or year or month != "may" or _BEFORE_MAY.search(lowered[: match.start()]):
            found.append(Period(int(year) if year else None, _MONTHS.index(month) + 1, int(day) if day else None))
    return tuple(found or [Period(int(year), None, None) for year in _YEAR.findall(lowered)])


def days_only(text: str, now: int) -> Span | None:
    """The days a text asks about when it asks about nothing else ("what did we do yesterday"), else None.

    A month or day without a year is the last one that has begun.
    """
    lowered = _in_english(text)
    allowed = _SAYS_NO_MORE if lowered == text.lower() else _SAYS_NO_MORE | _ASKING_ELSEWHERE
    # Most questions name something; the expressions below are slow to compile.
    if any(word.isalpha() and word not in allowed and word not in _TIME_WORDS for word in words_in(lowered)):
        return None
    rest = lowered
    for spoken in (_ISO_DATE, _AGO, _LAST, _DAY, _DATE):
        rest = spoken.sub(" ", rest)
    if rest == lowered:
        rest = _YEAR.sub(" ", rest)
    if any(word not in allowed for word in _WORD.findall(rest)):
        return None
    spans = [_days(period, now // DAY) for period in periods_in(text, now)]
    return Span(min(span.first for span in spans), max(span.last for span in spans)) if spans else None


def _days(period: When, today: int) -> Span:
    if isinstance(period, Span):
        return period
    year = period.year
    if year is None:
        year = civil(today * DAY)[0]
        if _day_number(year, period.month or 1, period.day or 1) > today:
            year -= 1
    first = _day_number(year, period.month or 1, period.day or 1)
    if period.day is not None:
        return _only(first)
    following = (year, period.month + 1) if period.month and period.month < 12 else (year + 1, 1)
    return Span(first, _day_number(*following, 1) - 1)


def _day_number(year: int, month: int, day: int) -> int:
    """Days from 1970 to a date; a day past the end of its month counts on into the next."""
    return date(year, month, 1).toordinal() - date(1970, 1, 1).toordinal() + day - 1


def _only(day: int) -> Span:
    return Span(day, day)


def _ago(today: int, count: str, unit: str) -> When:
    number = int(count) if count.isdigit() else _NUMBERS.index(count) + 1 if count in _NUMBERS else 1
    if unit == "day":
        return _only(today - number)
    if unit == "week":
        return Span(today - 7 * number - 3, today - 7 * number + 3)
    year, month, _ = civil(today * DAY)
    if unit == "year":
        return Period(year - number, None, None)
    months = 12 * year + month - 1 - number
    return Period(months // 12, months % 12 + 1, None)


def _last(today: int, which: str, unit: str) -> When:
    year, month, _ = civil(today * DAY)
    if unit in _MONTHS:
        named = _MONTHS.index(unit) + 1
        return Period(year if which == "this" or named < month else year - 1, named, None)
    weekday = moment(today * DAY).weekday()
    if unit in _WEEKDAYS:
        back = (weekday - _WEEKDAYS.index(unit)) % 7
        return _only(today - (back if which == "this" else back or 7))
    if which == "past":
        return Span(today - _LENGTHS[unit], today)
    is_this = which == "this"
    if unit == "day":
        return _only(today if is_this else today - 1)
    if unit == "week":
        monday = today - weekday
        return Span(monday, monday + 6) if is_this else Span(monday - 7, monday - 1)
    if unit == "month":
        return Period(year, month, None) if is_this else _ago(today, "1", "month")
    return Period(year if is_this else year - 1, None, None)


def nearness(time: int, periods: tuple[When, ...]) -> str:
    """How near a stored time is to the nearest period: "day", "period", "month" or nothing."""
    number = time // DAY
    year, month, day = civil(time)
    best = ""
    for period in periods:
        if isinstance(period, Span):
            if period.first <= number <= period.last:
                if period.first == period.last:
                    return "day"
                best = "period"
            elif period.first - _CLOSE <= number <= period.last + _CLOSE:
                best = best or "month"
            continue
        if period.year not in (None, year) or period.month not in (None, month):
            continue
        if period.day == day:
            return "day"
        best = "period" if period.day is None else best or "month"
    return best
