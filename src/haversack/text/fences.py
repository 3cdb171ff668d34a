"""Fenced code in Markdown: which lines belong to it, and which fence is open at the end of a text."""

from collections.abc import Iterable, Iterator

from haversack.patterns import pattern

BACKTICKS, TILDES = "```", "~~~"
ANY_INDENT = 1_000_000
"""For fences inside list items, which are indented as far as their item."""
_USUAL_INDENT = 3
_FENCE = pattern(r" *(`{3,}|~{3,})(.*)")


def with_fences(
    lines: Iterable[str], *, indent: int = _USUAL_INDENT, tildes: bool = True
) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is fenced code: the lines that open and close a fence are; one may never close.

    A line indented by more than `indent` spaces opens and closes nothing, nor do tildes without `tildes`.
    """
    opening = ""
    for line in lines:
        before = opening
        if BACKTICKS in line or (tildes and TILDES in line):
            opening = _after(line, opening, indent)
        yield line, bool(before or opening)


def open_fence(lines: Iterable[str], opening: str = "") -> str:
    """The opening line of the fence that is open behind the last line, empty where none is.

    `opening` is that of the fence the lines begin inside.
    """
    for line in lines:
        # This check rejects nearly every line, and is far faster than the expression.
        if BACKTICKS in line or TILDES in line:
            opening = _after(line, opening, _USUAL_INDENT)
    return opening


def closing(opening: str) -> str:
    """The line that closes the fence of an opening line."""
    found = _FENCE.match(opening)
    return found[1] if found else BACKTICKS


def has_marks(text: str) -> bool:
    """Whether a text may contain a fence: most do not and need no scan."""
    return BACKTICKS in text or TILDES in text


def _after(line: str, opening: str, indent: int) -> str:
    found = _FENCE.match(line)
    if not found or found.start(1) > indent:
        return opening
    if opening:
        return "" if found[1].startswith(closing(opening)) and not found[2].strip() else opening
    # Backticks after backticks are code within a line, not a fence.
    return "" if found[1][0] == "`" and "`" in found[2] else line
