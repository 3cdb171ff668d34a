"""Stored text inside a reply: a line of it that imitates the reply's own lines is marked, and no fence stays open.

Whoever wrote a memory may not be trusted by whoever reads it. Headings of items and footers begin their lines in
ways that stored lines are not allowed to: those get a backslash, which `unquoted` takes away again.
"""

from haversack.patterns import pattern
from haversack.text.fences import has_marks
from haversack.tokens import cut

_LINE_START = r"(?:^|(?<=[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]))"
# Everything that shows nothing before the first visible character: white space, controls, format characters, fillers,
# combining marks and variation selectors. What breaks a line is not among them: it begins one.
_UNSEEN = (
    r"[\x00-\x09\x0e-\x1b\x1f\x20\x7f-\x84\x86-\xa0\xad\u0300-\u036f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f"
    r"\u202a-\u202f\u205f-\u206f\u20d0-\u20ff\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]*"
)
_OURS = (
    r"(?:#\d+\b|📏|⚡|Showing [\d,]+ of \d|\[Budget |## \[|# Project Context:|\[?\d{4}-\d\d-\d\d\]?\s*$"
    r"|## (?:Pinned|Sessions|Prompts|Memories)\s*$|- (?:session|prompt|revision|relation) \S|Relations:\s*$)"
)
_MULTILINE = 8
_IMITATION = pattern(rf"{_LINE_START}(\\*)(?={_UNSEEN}{_OURS})", _MULTILINE)
_MARKED = pattern(rf"{_LINE_START}\\(\\*)(?={_UNSEEN}{_OURS})", _MULTILINE)
_UNLIMITED = 10**12
FENCE = "haversack-recall"
FENCE_OPENING, FENCE_CLOSING = f"<{FENCE}>", f"</{FENCE}>"
"""The lines around recalled text, where a reader is to see where it begins and ends."""


def quoted(text: str) -> str:
    """The text with a backslash before every line that could be taken for one of the reply's own."""
    return _IMITATION.sub(lambda found: "\\" + found.group(1), text)


def unquoted(text: str) -> str:
    """The text as it was before `quoted`."""
    return _MARKED.sub(lambda found: found.group(1), text)


def passage(text: str) -> str:
    """A stored text for a place of its own in a reply: quoted, and with an open code fence closed."""
    return cut(quoted(text.rstrip()), _UNLIMITED, lambda _: 0).shown


def unfenced(text: str) -> str:
    """A text with nothing in it that could be taken for the end of the fence around it."""
    return text.replace(FENCE, FENCE.replace("-", " "))


def field(text: str) -> str:
    """A short stored field (a kind, a tag, a project) as part of a line: what could break or hide a line is a space."""
    return text if text.isprintable() else " ".join("".join(c if c.isprintable() else " " for c in text).split())


def excerpt(line: str) -> str:
    """A part of a stored text that begins a line: quoted, and unable to open a code fence."""
    return "\\" + line if has_marks(line.lstrip("\\")[:3]) else quoted(line)
