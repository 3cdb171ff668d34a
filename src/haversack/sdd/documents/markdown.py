"""Reading and tidying Markdown line by line: fences, headings, sections and list items."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from haversack.errors import InvalidArgument, TooLarge
from haversack.patterns import pattern
from haversack.text.fences import closing, open_fence, with_fences
from haversack.values import record

LONGEST_TEXT = 200_000
NOTHING = frozenset({"", "-", "none", "n/a", "na", "nothing", "not applicable", "no"})

_HEADING = pattern(r"(#{1,6})(?:[ \t]+|$)(.*)")
_MARKER = pattern(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)(?:\[[ xX]\](?:[ \t]+|$))?")


@record
class Line:
    """One line with its number from 1; a fence and what it holds are `code`."""

    number: int
    text: str
    code: bool


@record
class Section:
    """The text under one heading; level 0 is the text before the first heading.

    `line` is the heading's own, `first_line` that of the text.
    """

    title: str
    level: int
    line: int
    text: str

    @property
    def first_line(self) -> int:
        return self.line + 1 if self.level else self.line


@record
class Item:
    """One entry of a text: a list item, a headed block or a plain line.

    `head` is its first line without marker, `body` what follows as it stands; `level` is that of a heading,
    0 for any other entry.
    """

    line: int
    head: str
    body: tuple[str, ...]
    level: int = 0

    @property
    def text(self) -> str:
        return "\n".join((self.head, *self.body)).rstrip()


class _Draft:
    def __init__(self, line: int, head: str, level: int = 0) -> None:
        self.line = line
        self.head = head
        self.level = level
        self.body: list[str] = []

    @property
    def ended(self) -> bool:
        """Whether a blank line came last, so that text at the margin no longer belongs here."""
        return bool(self.body) and not self.body[-1].strip()

    def item(self) -> Item:
        return Item(self.line, self.head, tuple(self.body), self.level)


def lines(text: str) -> Iterator[Line]:
    """The lines of `text`, each marked as code when it belongs to a fenced block."""
    for number, (line, is_fenced) in enumerate(with_fences(text.split("\n")), 1):
        yield Line(number, line, is_fenced)


def tidy(text: str, name: str) -> str:
    """`text` with plain line ends, no blank edges and every fence closed; unusable text is an error."""
    if len(text) > LONGEST_TEXT:
        raise TooLarge(f"{name} has {len(text):,} characters", hint=f"at most {LONGEST_TEXT:,} are kept")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"{name} holds a character that is no text, at {error.start}",
            hint="send it again without lone surrogates",
        ) from None
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    plain = "\n".join(line.rstrip() for line in plain.split("\n")).strip("\n")
    if plain.lstrip() == "":
        return ""
    opening = open_fence(plain.split("\n"))
    return f"{plain}\n{closing(opening)}" if opening else plain


def demote(text: str, below: int) -> str:
    """`text` with its headings pushed down until the highest stands below level `below`."""
    headings = {line.number: found for line in lines(text) if (found := heading(line))}
    if not headings:
        return text
    shift = max(0, below + 1 - min(level for level, _ in headings.values()))
    return "\n".join(
        f"{'#' * min(6, headings[line.number][0] + shift)} {headings[line.number][1]}"
        if line.number in headings
        else line.text
        for line in lines(text)
    )


def heading(line: Line) -> tuple[int, str] | None:
    """The level and title of a heading line; None for any other."""
    found = None if line.code else _HEADING.match(line.text)
    if not found:
        return None
    title = found[2].strip()
    bare = title.rstrip("#")
    closed = not bare or bare[-1] in " \t"
    return len(found[1]), bare.rstrip() if closed else title


def sections(text: str) -> tuple[Section, ...]:
    """The text cut at its headings; the text before the first has no title."""
    starts: list[tuple[int, int, str]] = [(0, 0, "")]
    rows = list(lines(text))
    for line in rows:
        if found := heading(line):
            starts.append((line.number, *found))
    ends = [number - 1 for number, _, _ in starts[1:]] + [len(rows)]
    cut = (
        Section(title, level, max(1, number), "\n".join(row.text for row in rows[number:end]).rstrip())
        for (number, level, title), end in zip(starts, ends, strict=True)
    )
    return tuple(section for section in cut if section.title or section.text.strip())


def part(text: str, title: str) -> Section | None:
    """The section of that title, on the second level, with all the deeper headings under it."""
    rows = list(lines(text))
    start: tuple[int, int] | None = None
    end = len(rows)
    for row in rows:
        found = heading(row)
        if found and start is None and found[0] == 2 and found[1].casefold() == title.casefold():
            start = (row.number, found[0])
        elif found and start and found[0] <= start[1]:
            end = row.number - 1
            break
    if start is None:
        return None
    body = "\n".join(row.text for row in rows[start[0] : end]).rstrip()
    return Section(title, start[1], start[0], body)


def items(text: str, label: re.Pattern[str], first_line: int = 1) -> tuple[Item, ...]:
    """The entries of a text, in order; `label` matches an id an entry may begin with.

    Headings that begin with a label are entries with all that follows them. Else the list items at the
    margin are; else, without any list, the headed blocks; else the plain lines. Prose around a list belongs
    to no entry, unless it begins with a label.
    """
    rows = list(lines(text))
    titles = [found for row in rows if (found := heading(row))]
    labelled = any(label.match(title) for _, title in titles)
    listed = any(not row.code and _MARKER.match(row.text) for row in rows)
    if labelled:
        return _headed_blocks(rows, lambda _, title: label.match(title) is not None, first_line)
    if titles and not listed:
        top = min(level for level, _ in titles)
        return _headed_blocks(rows, lambda level, _: level == top, first_line)
    return _entries(rows, label, first_line, listed=listed)


def replace_lines(text: str, replacements: Mapping[int, str]) -> str:
    """`text` with the lines of the given numbers, counted from 1, replaced."""
    return "\n".join(replacements.get(number, line) for number, line in enumerate(text.split("\n"), 1))


def without_code_spans(text: str) -> str:
    """`text` with its code spans blanked out."""
    runs = [found.span() for found in re.finditer("`+", text)]
    ends: dict[int, list[int]] = {}
    for place in reversed(range(len(runs))):
        ends.setdefault(runs[place][1] - runs[place][0], []).append(place)
    pieces: list[str] = []
    done = place = 0
    while place < len(runs):
        start, inner = runs[place]
        same = ends[inner - start]
        while same and same[-1] <= place:
            same.pop()
        if not same:
            place += 1
            continue
        end = runs[same[-1]][1]
        pieces += (text[done:start], " " * (end - start))
        done, place = end, same[-1] + 1
    return "".join((*pieces, text[done:]))


def is_nothing(text: str) -> bool:
    """Whether an entry only says "none" or the like."""
    return text.strip().strip(".").strip("*_").casefold() in NOTHING


def _headed_blocks(rows: Sequence[Line], opens: Callable[[int, str], bool], first_line: int) -> tuple[Item, ...]:
    blocks: list[_Draft] = []
    inside = False
    for row in rows:
        found = heading(row)
        if found and opens(*found):
            blocks.append(_Draft(first_line + row.number - 1, found[1], found[0]))
            inside = True
        elif found and blocks and found[0] <= blocks[-1].level:
            inside = False
        elif inside:
            blocks[-1].body.append(row.text)
    return tuple(block.item() for block in blocks)


def _entries(rows: Sequence[Line], label: re.Pattern[str], first_line: int, *, listed: bool) -> tuple[Item, ...]:
    found: list[_Draft] = []
    inside = False
    for row in rows:
        plain = not row.code and bool(row.text.strip())
        indented = row.text.startswith((" ", "\t"))
        marker = _MARKER.match(row.text) if plain else None
        begins = marker or (
            plain and not indented and (label.match(row.text.lstrip("| ")) or not (listed or row.text[0] == "|"))
        )
        if plain and heading(row):
            inside = False
        elif begins:
            head = row.text[marker.end() :] if marker else row.text
            found.append(_Draft(first_line + row.number - 1, head.strip()))
            inside = True
        elif inside and plain and not indented and found[-1].ended:
            inside = False
        elif inside:
            found[-1].body.append(row.text)
    return tuple(draft.item() for draft in found)
