"""Cutting: one long text into pages, at line ends, never inside a character, with fences closed."""

from collections.abc import Callable

from haversack.text.clipping import word_end
from haversack.text.fences import closing, has_marks, open_fence
from haversack.values import record

_BEGINNING = 2_048
"""Characters of a long text that are measured first: often they are already too many."""
_SHORTEST_PART = 64
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


@record
class Page:
    """A page as it is shown, what is left of the text, and the fence the rest must reopen."""

    shown: str
    rest: str
    fence: str = ""


def cut(text: str, room: int, measure: Callable[[str], int], *, fence: str = "") -> Page:
    """The longest beginning of `text`, in whole lines, that measures at most `room`.

    `fence` is the opening line of a Markdown fence the text starts inside. A first line that is too long by
    itself is split at a word end, or between characters; a room too small for one character gives an empty
    page and the whole text as the rest.
    """

    def weigh(part: str) -> int:
        return measure_up_to(part, room, measure)

    whole = _dressed(text, fence)
    if not text or weigh(whole) <= room:
        return Page(whole if text else "", "")
    lines = text.splitlines(keepends=True)
    taken = _lines_that_fit(lines, room, weigh, fence)
    beginning = "".join(lines[:taken]) if taken else _part_of_line(lines[0], room, weigh, fence)
    rest = text[len(beginning) :]
    if not beginning:
        return Page("", text, fence)
    return Page(_dressed(beginning, fence), rest, _open_fence(beginning, fence))


def measure_up_to(text: str, room: int, measure: Callable[[str], int]) -> int:
    """What `text` measures; of a long one that is far over `room`, what enough of its beginning measures."""
    size = max(_BEGINNING, 5 * room)
    while size < len(text):
        # A beginning may cost a little more than what it is the beginning of, but never by half.
        if (cost := measure(text[:size])) > room + room // 2 + _SHORTEST_PART:
            return cost
        size *= 2
    return measure(text)


def _lines_that_fit(lines: list[str], room: int, measure: Callable[[str], int], fence: str) -> int:
    """How many whole lines fit; lines nearly add up, so a running sum guesses and the whole decides."""
    running, guess = 0, 0
    while guess < len(lines) and running <= room:
        running += measure(lines[guess])
        guess += 1

    def fits(count: int) -> bool:
        return measure(_dressed("".join(lines[:count]), fence)) <= room

    while guess and not fits(guess):
        guess -= 1
    while guess < len(lines) and fits(guess + 1):
        guess += 1
    return guess


def _part_of_line(line: str, room: int, measure: Callable[[str], int], fence: str) -> str:
    low, high = 0, min(len(line), _SHORTEST_PART)
    while high < len(line) and measure(_dressed(line[:high], fence)) <= room:
        low, high = high, min(len(line), 2 * high)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(_dressed(line[:middle], fence)) <= room:
            low = middle
        else:
            high = middle - 1
    part = line[:low]
    part = part[: word_end(part) + 1]
    # Measures are not perfectly even, so the halving may land a little over.
    while part and measure(_dressed(part, fence)) > room:
        part = part[:-1]
    return part[: _end_of_character(line, len(part))]


def _end_of_character(line: str, place: int) -> int:
    """The last position up to `place` where a cut does not split a visible character."""
    whole = place
    while 0 < whole < len(line) and _joins(line, whole):
        whole -= 1
    return whole or place


def _joins(line: str, place: int) -> bool:
    before, after = line[place - 1], line[place]
    if after.isascii():
        return False
    from unicodedata import combining  # most lines are never cut, and most cuts fall between plain letters

    if after in _JOINERS or before == "\u200d" or combining(after) or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    flags = 0
    while flags < place and "\U0001f1e6" <= line[place - 1 - flags] <= "\U0001f1ff":
        flags += 1
    return flags % 2 == 1 and "\U0001f1e6" <= after <= "\U0001f1ff"


def _dressed(text: str, fence: str) -> str:
    """`text` as shown: the fence it starts in reopened, the fence it ends in closed."""
    shown = f"{fence}\n{text}" if fence else text
    still_open = _open_fence(text, fence)
    if not still_open:
        return shown
    return f"{shown}{'' if shown.endswith(chr(10)) else chr(10)}{closing(still_open)}"


def _open_fence(text: str, fence: str) -> str:
    """The opening line of the fence that is still open at the end of `text`."""
    return open_fence(text.splitlines(), fence) if has_marks(text) else fence
