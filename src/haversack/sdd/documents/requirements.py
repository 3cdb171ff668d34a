"""Requirements read from the artifacts: which ids are defined, where, and with which priority."""

import re
from collections.abc import Iterable
from typing import Literal

from haversack.patterns import pattern
from haversack.sdd.documents import markdown
from haversack.sdd.documents.ids import REQUIREMENTS, gist, split_label
from haversack.values import record

Priority = Literal["must", "should", "could", "wont", "quality", "rule", "unstated"]

_HEADINGS: tuple[tuple[Priority | None, re.Pattern[str]], ...] = (
    (None, pattern(r"\b(?:constraints|assumptions|dependencies|out of scope)\b", re.IGNORECASE)),
    ("quality", pattern(r"\b(?:non-?functional|quality)\b", re.IGNORECASE)),
    ("must", pattern(r"\bmust\b", re.IGNORECASE)),
    ("should", pattern(r"\bshould\b", re.IGNORECASE)),
    ("could", pattern(r"\b(?:could|may)\b", re.IGNORECASE)),
    ("wont", pattern(r"\b(?:won['’]?t|will not)\b", re.IGNORECASE)),
)
_BEFORE_LABEL = pattern(r"(?P<indent>\s*)(?:[-*+]\s+|\d{1,9}[.)]\s+|#{1,6}\s+|\|\s*)?(?:\[[ xX]\]\s+)?")


@record
class Requirement:
    """A requirement or business rule where it is defined; `text` is its wording without the id."""

    id: str
    priority: Priority
    text: str
    file: str
    line: int


_Trail = list[tuple[int, Priority | None]]


@record
class _Draft:
    id: str
    priority: Priority
    line: int
    nested: bool
    words: list[str]


def requirements_in(text: str, file: str) -> tuple[Requirement, ...]:
    """The functional and quality requirements that a requirements artifact defines.

    Entries under constraints, assumptions and dependencies only cite the ids they begin with, except those
    of business rules. An id may be defined twice; the caller reports that.
    """
    return _defined(text, file, ("FR", "NFR", "BRC"))


def rules_in(text: str, file: str) -> tuple[Requirement, ...]:
    """The business rules that a business-rules artifact defines."""
    return _defined(text, file, ("BRC",))


def gists(requirements: Iterable[Requirement]) -> dict[str, str]:
    """The id by the gist of each requirement's first line."""
    return {gist(requirement.text.partition("\n")[0]): requirement.id for requirement in requirements}


def unlabelled_in(text: str) -> tuple[int, ...]:
    """The lines of entries that state a requirement without an id."""
    found: list[int] = []
    for section in markdown.sections(text):
        if _priority(section.title) not in ("must", "should", "could", "quality"):
            continue
        for item in markdown.items(section.text, REQUIREMENTS.label, section.first_line):
            if not split_label(item.head, REQUIREMENTS)[0] and not markdown.is_nothing(item.head):
                found.append(item.line)
    return tuple(found)


def _defined(text: str, file: str, prefixes: tuple[str, ...]) -> tuple[Requirement, ...]:
    found: list[_Draft] = []
    trail: _Trail = [(0, "unstated")]
    open_draft: _Draft | None = None
    for row in markdown.lines(text):
        title = markdown.heading(row)
        name, rest, nested = _label(row)
        priority = trail[-1][1]
        if title and not name:
            trail = _below(trail, *title)
        if name and _defines(name, priority, prefixes):
            rank: Priority = "rule" if name.startswith("BRC") else priority or "unstated"
            open_draft = _Draft(name, rank, row.number, nested, [rest])
            found.append(open_draft)
        elif title or (not row.code and row.text[:1] in ("-", "*", "+", "|")):
            open_draft = None
        elif open_draft and row.text.strip():
            open_draft.words.append(row.text.strip())
    at_margin = {draft.id for draft in found if not draft.nested}
    return tuple(
        Requirement(draft.id, draft.priority, "\n".join(draft.words), file, draft.line)
        for draft in found
        if not draft.nested or draft.id not in at_margin
    )


def _label(row: markdown.Line) -> tuple[str, str, bool]:
    if row.code:
        return "", "", False
    before = _BEFORE_LABEL.match(row.text)
    start = before.end() if before else 0
    name, rest = split_label(row.text[start:], REQUIREMENTS)
    if row.text.lstrip().startswith("|"):
        rest = rest.strip("| ")
    return name, rest, bool(before and before["indent"])


def _defines(name: str, priority: Priority | None, prefixes: tuple[str, ...]) -> bool:
    family = name.rpartition("-")[0]
    return family in prefixes and (priority is not None or family == "BRC")


def _below(trail: _Trail, level: int, title: str) -> _Trail:
    """The headings above a line after one more; a title that says nothing takes its parent's priority."""
    kept = [entry for entry in trail if entry[0] < level]
    return [*kept, (level, _priority(title, kept[-1][1]))]


def _priority(title: str, inherited: Priority | None = "unstated") -> Priority | None:
    return next((priority for priority, sign in _HEADINGS if sign.search(title)), inherited)
