"""Stored text inside a reply: a line of it that imitates the reply's own lines is marked, and no fence stays open.

Whoever wrote a memory may not be trusted by whoever reads it. Headings of items and footers begin their lines in
ways that stored lines are not allowed to: those get a backslash, which `unquoted` takes away again.
"""

from haversack.patterns import pattern
from haversack.tokens import cut

_LINE_START = r"(?:^|(?<=[\r\x0b\x0c\x85\u2028\u2029]))"
_UNSEEN = r"[ \t\u200b-\u200f\u2060-\u2064\ufeff]*"
_OURS = (
    r"(?:#\d+\b|📏|⚡|Showing \d+ of \d|\[Budget |## \[|# Project Context:|\[\d{4}-\d\d-\d\d\]"
    r"|## (?:Pinned|Sessions|Prompts|Memories)\s*$|- (?:session|prompt|revision|relation) \S|Relations:\s*$)"
)
_MULTILINE = 8
_IMITATION = pattern(rf"{_LINE_START}(\\*)(?={_UNSEEN}{_OURS})", _MULTILINE)
_MARKED = pattern(rf"{_LINE_START}\\(\\*)(?={_UNSEEN}{_OURS})", _MULTILINE)
_FENCED = pattern(r"\\*(?:```|~~~)")
_UNLIMITED = 10**12


def quoted(text: str) -> str:
    """The text with a backslash before every line that could be taken for one of the reply's own."""
    return _IMITATION.sub(lambda found: "\\" + found.group(1), text)


def unquoted(text: str) -> str:
    """The text as it was before `quoted`."""
    return _MARKED.sub(lambda found: found.group(1), text)


def passage(text: str) -> str:
    """A stored text for a place of its own in a reply: quoted, and with an open code fence closed."""
    return cut(quoted(text.rstrip()), _UNLIMITED, lambda _: 0).shown


def excerpt(line: str) -> str:
    """A part of a stored text that begins a line: quoted, and unable to open a code fence."""
    return "\\" + line if _FENCED.match(line) else quoted(line)
