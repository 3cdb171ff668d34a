"""The spans of the parts of a JSON text, so that one part can be replaced without changing any other byte."""

from collections.abc import Sequence
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]

from haversack.patterns import pattern
from haversack.values import record

_SPACE = pattern(r"[ \t\n\r]*")


def _unread(_: str) -> None:
    """None: numbers are skipped, so that a literal of ten thousand digits does not fail."""


_skip = JSONDecoder(parse_int=_unread, parse_float=_unread, strict=False).scan_once  # type: ignore[attr-defined]


class NotJson(ValueError):
    """The text is not the JSON that was expected there."""


@record
class Span:
    """The part of a text from `start` up to `end`."""

    start: int
    end: int


@record
class Member:
    """A member of an object: where its name begins, and the span of its value."""

    start: int
    value: Span


def members(text: str, start: int = 0) -> dict[str, Member]:
    """The members of the object at `start`; of a name that occurs twice, the last."""
    found: dict[str, Member] = {}
    place = _expect(text, _after_space(text, start), "{")
    if text[place : place + 1] == "}":
        return found
    while True:
        begin = place
        if text[place : place + 1] != '"':
            raise NotJson(f"no name at {place}")
        name, place = scanstring(text, place + 1, False)
        place = _expect(text, _after_space(text, place), ":")
        end = _end_of_value(text, place)
        found[name] = Member(begin, Span(place, end))
        place = _after_space(text, end)
        if text[place : place + 1] == "}":
            return found
        place = _expect(text, place, ",")


def items(text: str, start: int = 0) -> list[Span]:
    """The items of the array at `start`."""
    found: list[Span] = []
    place = _expect(text, _after_space(text, start), "[")
    if text[place : place + 1] == "]":
        return found
    while True:
        end = _end_of_value(text, place)
        found.append(Span(place, end))
        place = _after_space(text, end)
        if text[place : place + 1] == "]":
            return found
        place = _expect(text, place, ",")


def spliced(text: str, changes: Sequence[tuple[Span, str]]) -> str:
    """The text with parts of it replaced; the parts do not overlap."""
    pieces: list[str] = []
    place = 0
    for span, new in sorted(changes, key=lambda change: change[0].start):
        pieces += [text[place : span.start], new]
        place = span.end
    return "".join(pieces) + text[place:]


def without(text: str, whole: Span, found: dict[str, Member], name: str) -> tuple[Span, str]:
    """The change that takes a member, and one comma beside it, out of the object at `whole`."""
    member = found[name]
    following = _after_space(text, member.value.end)
    if text[following] == ",":
        return Span(member.start, _after_space(text, following + 1)), ""
    before = max((other.value.end for other in found.values() if other.value.end <= member.start), default=member.start)
    return Span(before, member.value.end), ""


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    assert match is not None
    return match.end()


def _expect(text: str, place: int, mark: str) -> int:
    """The position after a mark and the white space that follows it."""
    if text[place : place + 1] != mark:
        raise NotJson(f"no {mark} at {place}")
    return _after_space(text, place + 1)


def _end_of_value(text: str, place: int) -> int:
    try:
        _, end = _skip(text, place)
    except (StopIteration, ValueError, RecursionError) as error:
        raise NotJson(f"no value at {place}") from error
    return int(end)


__all__ = ["Member", "NotJson", "Span", "items", "members", "spliced", "without"]
