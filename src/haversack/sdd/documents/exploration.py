"""Thinking before planning: notes by section, merged when the same title is explored again.

An exploration is kept in memory, not on disk: `# Title`, then a section each for goals, constraints,
preferences, unknowns, decisions and context. Repeated lines are kept once.
"""

import re
from collections.abc import Mapping

from haversack.errors import InvalidArgument
from haversack.patterns import pattern
from haversack.sdd.documents import markdown
from haversack.sdd.documents.artifacts import single_line
from haversack.sdd.documents.slugs import slugify
from haversack.sdd.flows.changes import ChangeType, Size
from haversack.sdd.results import ObservationText
from haversack.text.amounts import counted
from haversack.values import fields, record

_SIGNS: Mapping[ChangeType, re.Pattern[str]] = {
    "fix": pattern(r"\b(?:bugs?|broken|crash\w*|fail\w*|fix\w*|regress\w*|wrong|leak\w*|incorrect\w*)\b"),
    "refactor": pattern(
        r"\b(?:refactor\w*|restructur\w*|clean(?:ing)? ?up|renam\w*|extract\w*|simplif\w*|technical debt"
        r"|decoupl\w*|duplicat\w*)\b"
    ),
    "enhancement": pattern(r"\b(?:improv\w*|faster|extend\w*|enhanc\w*|better|optimi[sz]\w*|speed\w*|existing)\b"),
    "feature": pattern(r"\b(?:new|add\w*|build\w*|creat\w*|introduc\w*|support\w*|feature\w*|implement\w*)\b"),
}


@record
class Notes:
    """The notes of an exploration, as lists or prose."""

    goals: str = ""
    constraints: str = ""
    preferences: str = ""
    unknowns: str = ""
    decisions: str = ""
    context: str = ""


@record
class Suggestion:
    """The type and size of change the notes point to, and why."""

    type: ChangeType
    size: Size
    reasons: tuple[str, ...]


@record
class Exploration:
    """The notes after merging, as an observation; `added` counts new lines by section."""

    title: str
    observation: ObservationText
    added: Mapping[str, int]
    suggestion: Suggestion
    open_questions: int


def topic_of(title: str) -> str:
    """The topic key under which an exploration of that title is kept."""
    return f"explore/{slugify(title)}"


def explore(title: str, notes: Notes, earlier: str = "") -> Exploration:
    """The notes merged into the `earlier` text of the same exploration."""
    title = single_line(title, "title")
    said = {name: markdown.tidy(getattr(notes, name), name) for name in fields(notes)}
    if not any(said.values()) and not earlier:
        names = ", ".join(said)
        raise InvalidArgument("nothing was said about it", hint=f"give at least one of {names}")
    merged: dict[str, str] = {}
    added: dict[str, int] = {}
    for name, text in said.items():
        section = markdown.part(earlier, name.capitalize())
        merged[name], added[name] = _merged(section.text.strip("\n") if section else "", markdown.demote(text, 2))
    sections = (f"## {name.capitalize()}\n\n{text}" for name, text in merged.items() if text)
    content = "\n\n".join((f"# {title}", *sections))
    observation = ObservationText(title, content, "explore", topic_of(title))
    return Exploration(title, observation, added, suggest(title, merged), _count(merged["unknowns"]))


def suggest(title: str, notes: Mapping[str, str]) -> Suggestion:
    """The type by the words that speak for each, the size by how much there is to do and to find out."""
    text = "\n".join((title, *notes.values())).casefold()
    signs = {kind: sorted(set(sign.findall(text))) for kind, sign in _SIGNS.items()}
    change_type = max(signs, key=lambda kind: len(signs[kind]))
    if not signs[change_type]:
        change_type = "feature"
    goals, unknowns = _count(notes.get("goals", "")), _count(notes.get("unknowns", ""))
    limits = _count(notes.get("constraints", ""))
    weight = goals + unknowns + limits / 2
    size: Size = "small" if weight <= 2 else "medium" if weight <= 6 else "large"
    why_type = f"{change_type}: {', '.join(signs[change_type]) or 'nothing points elsewhere'}"
    parts = counted(goals, "goal"), counted(unknowns, "unknown"), counted(limits, "constraint")
    why_size = f"{size}: {', '.join(parts)}"
    return Suggestion(change_type, size, (why_type, why_size))


def _merged(earlier: str, new: str) -> tuple[str, int]:
    known = {_gist(line) for line in earlier.split("\n")}
    fresh = [line for line in new.split("\n") if line.strip() and _gist(line) not in known]
    if any(row.code for row in markdown.lines(new)):
        # A fenced block is kept or dropped as a unit.
        fresh = new.split("\n") if new not in earlier else []
    text = "\n".join(part for part in (earlier, "\n".join(fresh)) if part)
    return text, len(fresh)


def _gist(line: str) -> str:
    return " ".join(line.casefold().strip(" \t-*+.").split())


def _count(text: str) -> int:
    rows = [row for row in markdown.lines(text) if row.text.strip() and not row.code]
    return sum(1 for row in rows if not row.text.startswith((" ", "\t", "#")) and not markdown.is_nothing(row.text))
