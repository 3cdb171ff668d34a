"""The matches of a query in a text, and the snippet that shows them best."""

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from haversack.memory.search.query import Query, Term
from haversack.text.stems import stem
from haversack.text.words import ASCII_WORD, SPACED_WORD, fold, is_symbol, is_unspaced, spell_names
from haversack.values import record

Offsets = range | list[int]

ELLIPSIS = "…"

# How far a word is read beyond what it must begin with; an endless word would cost its square otherwise.
_LONGEST_INFLECTION = 64

# How far a cut may move to reach a word's end before it is made inside the word: a fifth of the width.
_REACH = 5
_NEVER_FIRST = frozenset("\u200d\ufe0e\ufe0f\u20e3")
_ZERO_WIDTH_JOINER = "\u200d"


@record
class _Needle:
    """One search word: `start` is the beginning of a match, `stem` the stem of its full word."""

    start: str
    stem: str = ""
    needs_boundary: bool = True


_last: tuple[Query, tuple[_Needle, ...]] | None = None


class _Match(NamedTuple):
    start: int
    end: int
    needle: int


def match_positions(text: str, query: Query) -> list[tuple[int, int]]:
    """The spans of `text`, in characters and in order, that match a word of the query in any inflection."""
    spans: list[tuple[int, int]] = []
    for match in _matches(text, query):
        if spans and match.start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(match.end, spans[-1][1]))
        else:
            spans.append((match.start, match.end))
    return spans


def snippet(text: str, query: Query, *, width: int) -> str:
    """At most `width` characters of the text on one line, around its best match, `…` where it was cut.

    The best place is the one with the most different words of the query, then the most matches, then the
    first; without a match it is the beginning.
    """
    line = " ".join(text.split())
    if len(line) <= width:
        return line
    room = max(width - 2 * len(ELLIPSIS), 1)
    matches = _matches(line, query)
    first, last = _best_window(matches, room) if matches else (0, 0)
    # A third of the room that the matches leave is context before them; what follows explains more.
    start = max(0, first - max(0, room - (last - first)) // 3)
    start = min(start, len(line) - room)
    if start <= width // _REACH and last <= room:
        start = 0  # the beginning reads better than a text that has lost its first words
    return _cut(line, start, first, width)


def _cut(line: str, start: int, first_match: int, width: int) -> str:
    reach = width // _REACH
    if start > 0:
        start = _word_start(line, start, min(start + reach, first_match))
    head = ELLIPSIS if start > 0 else ""
    end = start + width - len(head)
    if end >= len(line):
        return head + line[start:]
    end = _word_end(line, end - len(ELLIPSIS), reach)
    return f"{head}{line[start:end].rstrip()}{ELLIPSIS}" if end > start else head[:width] or ELLIPSIS[:width]


def _word_start(line: str, start: int, latest: int) -> int:
    if line[start - 1] == " ":
        return start
    space = line.find(" ", start, latest)
    if space >= 0:
        return space + 1
    while start < latest and _is_inside_character(line, start):
        start += 1
    return start


def _word_end(line: str, end: int, reach: int) -> int:
    if line[end] == " ":
        return end
    space = line.rfind(" ", max(end - reach, 0), end)
    if space > 0:
        return space
    whole = end
    while whole > 0 and _is_inside_character(line, whole):
        whole -= 1
    return whole or end


def _is_inside_character(line: str, place: int) -> bool:
    """Whether a cut here would split a visible character."""
    after = line[place]
    if after.isascii():
        return False
    if after in _NEVER_FIRST or unicodedata.combining(after) or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    return place > 0 and (line[place - 1] == _ZERO_WIDTH_JOINER or _parts_flag(line, place))


def _parts_flag(line: str, place: int) -> bool:
    if not (_is_regional(line[place]) and _is_regional(line[place - 1])):
        return False
    before = place
    while before > 0 and _is_regional(line[before - 1]):
        before -= 1
    return (place - before) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _best_window(matches: list[_Match], room: int) -> tuple[int, int]:
    """Start of the first and end of the last match of the best run of matches that fits in `room`."""
    best = (0, 0)
    chosen = (matches[0].start, min(matches[0].end, matches[0].start + room))
    held: dict[int, int] = {}
    left = 0
    for right, match in enumerate(matches):
        held[match.needle] = held.get(match.needle, 0) + 1
        while left < right and match.end - matches[left].start > room:
            needle = matches[left].needle
            held[needle] -= 1
            if not held[needle]:
                del held[needle]
            left += 1
        if (len(held), right - left) > best:
            best = (len(held), right - left)
            chosen = (matches[left].start, match.end)
    return chosen


def _matches(text: str, query: Query) -> list[_Match]:
    folded = fold(text)
    offsets = range(len(text) + 1) if len(folded) == len(text) else _offsets(text)
    found: set[_Match] = set()
    for place, needle in enumerate(_needles_of(query)):
        for start, end in _occurrences(text, folded, offsets, needle):
            found.add(_Match(start, end, place))
    return sorted(found)


def _offsets(text: str) -> list[int]:
    """For each character of the folded text its position in the text; some fold to nothing."""
    return [*(place for place, character in enumerate(text) if fold(character)), len(text)]


def _needles_of(query: Query) -> tuple[_Needle, ...]:
    global _last
    last = _last
    # One query is used on many texts; comparing identities is faster than comparing contents.
    if last is None or last[0] is not query:
        needles = (needle for term in query.terms for needle in _needles(term) if needle.start)
        _last = last = (query, tuple(dict.fromkeys(needles)))
    return last[1]


def _needles(term: Term) -> Iterator[_Needle]:
    if len(term.text) == 1 and is_symbol(term.text):
        yield _Needle(term.text, needs_boundary=False)
        return
    if term.kind != "phrase" and spell_names(term.text) != term.text:
        yield _Needle(fold(term.text))
        return
    if term.kind == "prefix":
        yield _Needle(fold(term.text))
    for token in term.tokens:
        if is_unspaced(token):
            yield _Needle(token, needs_boundary=False)
        elif term.kind != "prefix":
            yield from _inflected(token)
    if term.kind == "identifier" and term.text.isalnum():
        yield from _inflected(term.text)


def _inflected(token: str) -> Iterator[_Needle]:
    root = stem(fold(token))
    # Every word begins with its stem but for the stem's last letter: happy, happi.
    yield _Needle(root[:-1] if len(root) > 1 else root, root)


def _occurrences(text: str, folded: str, offsets: Offsets, needle: _Needle) -> Iterator[tuple[int, int]]:
    at = folded.find(needle.start)
    while at >= 0:
        begin = offsets[at]
        if not needle.needs_boundary:
            yield begin, offsets[at + len(needle.start)]
        elif _begins_word(text, begin) and (end := _end_of_match(text, folded, offsets, at, needle)):
            yield begin, end
        at = folded.find(needle.start, at + 1)


def _end_of_match(text: str, folded: str, offsets: Offsets, at: int, needle: _Needle) -> int:
    """Where the word that begins at `at` ends, when it is one the needle looks for; otherwise 0."""
    word = ASCII_WORD if folded.isascii() else SPACED_WORD
    found = word.match(folded, at, at + _LONGEST_INFLECTION + len(needle.start))
    end = max(found.end() if found else at, at + len(needle.start))
    if not needle.stem or stem(folded[at:end]) == needle.stem:
        return offsets[end]
    for part_end in range(at + 1, end):
        if _begins_word(text, offsets[part_end]) and stem(folded[at:part_end]) == needle.stem:
            return offsets[part_end]
    return 0


def _begins_word(text: str, place: int) -> bool:
    """Whether a word or a part of a camelCase word begins here."""
    if place == 0 or place >= len(text):
        return place == 0
    before, here = text[place - 1], text[place]
    if not before.isalnum():
        return True
    if here.isupper():
        return not before.isupper() or text[place + 1 : place + 2].islower()
    return here.isdigit() != before.isdigit() or is_unspaced(before) != is_unspaced(here)
