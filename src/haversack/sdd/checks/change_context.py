"""What a planned change is checked against: every passage of the project's record, ranked by relevance.

A requirement, a rule, a task, a past change and a decision are one passage each; other sections of the
artifacts, and of the files in which a repository keeps its conventions, are one each too.
"""

import os
from collections.abc import Iterator
from typing import Literal

from haversack.errors import DamagedFile, InvalidArgument
from haversack.files import Tree
from haversack.sdd.checks.relevance import relevance
from haversack.sdd.checks.traceability import Document, Finding, Trace, known_ids, trace, unknown_ids
from haversack.sdd.documents import markdown
from haversack.sdd.documents.disk import CHANGES, Folder
from haversack.sdd.documents.ids import REQUIREMENTS, TASKS, cited, split_label
from haversack.sdd.documents.library import (
    Library,
    active_change,
    load_project,
    located,
    project_name,
    read_library,
    readable_changes,
)
from haversack.sdd.documents.requirements import Priority
from haversack.sdd.flows.changes import Change
from haversack.values import record, replace

Source = Literal["requirement", "rule", "task", "section", "change", "decision", "convention"]
CONVENTIONS = (
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    "CONTRIBUTING.md",
    "STYLE.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
    ".github/CONTRIBUTING.md",
    "docs/CONTRIBUTING.md",
)
LARGEST_CONVENTION = 1_000_000


@record
class Passage:
    """A passage of the record: its file and line, its text, the ids it names, its relevance 0..1."""

    source: Source
    name: str
    file: str
    line: int
    text: str
    ids: tuple[str, ...]
    score: float = 0.0
    priority: Priority | None = None


@record
class ContextCheck:
    """Passages best first, irrelevant ones last; every requirement id has one passage of its own."""

    project: str
    passages: tuple[Passage, ...]
    findings: tuple[Finding, ...]
    requirement_ids: tuple[str, ...]
    cited_ids: tuple[str, ...]
    active: Change | None


def check_context(workspace: str, description: str) -> ContextCheck:
    """The passages of the record that concern the described change, and the findings about the record."""
    said = markdown.tidy(description, "change_description")
    if not said:
        raise InvalidArgument("change_description is empty", hint="say what is to change")
    folder = located(workspace)
    project = load_project(folder)
    library = read_library(folder, project)
    computed = trace(library.documents)
    known = readable_changes(folder)
    active = active_change(known)
    passages = (
        *_requirement_passages(computed),
        *_task_passages(computed, library),
        *_section_passages(library),
        *_change_passages(folder, known, active),
        *_decision_passages(library),
        *_convention_passages(folder.root),
    )
    names = tuple(dict.fromkeys(requirement.id for requirement in computed.requirements))
    question = Document("change_description", said)
    families = {name.rpartition("-")[0] for name in names}
    return ContextCheck(
        project=project_name(folder, project),
        passages=_ranked(passages, said),
        findings=(
            *unknown_ids(question, known_ids(library.documents), families),
            *library.findings,
            *computed.findings,
        ),
        requirement_ids=names,
        cited_ids=cited(said, REQUIREMENTS),
        active=active,
    )


def _ranked(passages: tuple[Passage, ...], description: str) -> tuple[Passage, ...]:
    named = set(cited(description, REQUIREMENTS)) | set(cited(description, TASKS))
    # Ids are compared as such: the number in FR-002 says nothing about TASK-002.
    said = TASKS.mention.sub(" ", REQUIREMENTS.mention.sub(" ", description))
    scores = relevance(said, [f"{passage.name}\n{passage.text}" for passage in passages])
    scored = [
        replace(passage, score=_raised(passage, score, named)) for passage, score in zip(passages, scores, strict=True)
    ]
    return tuple(sorted(scored, key=lambda passage: -passage.score))


def _raised(passage: Passage, score: float, named: set[str]) -> float:
    """The score of a passage: 1 when the description names its id, raised when it cites such an id."""
    if passage.name in named:
        return 1.0
    return min(0.99, score + 0.3) if named & set(passage.ids) else min(0.99, score)


def _requirement_passages(computed: Trace) -> Iterator[Passage]:
    seen: dict[str, Passage] = {}
    for requirement in computed.requirements:
        source: Source = "rule" if requirement.priority == "rule" else "requirement"
        others = cited(requirement.text, REQUIREMENTS)
        passage = Passage(
            source,
            requirement.id,
            requirement.file,
            requirement.line,
            requirement.text,
            tuple(dict.fromkeys((requirement.id, *others))),
            priority=requirement.priority,
        )
        first = seen.setdefault(requirement.id, passage)
        if first is not passage:
            # The second wording of an id defined twice is kept with the first; the finding names both.
            both = f"{first.text}\n{requirement.text}"
            seen[requirement.id] = replace(first, text=both)
    yield from seen.values()


def _task_passages(computed: Trace, library: Library) -> Iterator[Passage]:
    file = next((document.file for document in library.documents if document.stage == "tasks"), "")
    for task in computed.tasks:
        yield Passage("task", task.id, file, task.line, task.text, task.covers)


def _section_passages(library: Library) -> Iterator[Passage]:
    for document in library.documents:
        if document.stage is not None:
            yield from _sections(document.file, document.text, "section", document.stage)


def _sections(file: str, text: str, source: Source, stage: str | None = None) -> Iterator[Passage]:
    for section in markdown.sections(text):
        body = section.text.strip()
        listed = stage in ("specify", "business-rules", "tasks") and _only_entries(section)
        computed = stage == "validate" and section.title.startswith("Computed ")
        if body and not listed and not computed:
            name = f"{os.path.basename(file)}, {section.title}" if section.title else os.path.basename(file)
            yield Passage(source, name, file, section.line, body, cited(body, REQUIREMENTS))


def _only_entries(section: markdown.Section) -> bool:
    """Whether a section holds nothing but entries with ids, which are passages of their own."""
    for family in (REQUIREMENTS, TASKS):
        if split_label(section.title, family)[0]:
            return True
        entries = markdown.items(section.text, family.label)
        if entries and all(split_label(entry.head, family)[0] for entry in entries):
            return True
    return False


def _change_passages(folder: Folder, known: tuple[Change, ...], active: Change | None) -> Iterator[Passage]:
    for change in known:
        if change is active:
            continue
        parts = [change.description]
        file, written = f"{CHANGES}/{change.slug}/change.json", ""
        for stage in change.flow:
            name = f"{CHANGES}/{change.slug}/{stage}.md"
            text = _readable(folder, name)
            written, file = (written, file) if written or not text else (name, name)
            parts += [text.strip()] if text else []
        status = f"{change.size} {change.type}, {change.status} {(change.closed_at or change.created_at)[:10]}"
        body = "\n\n".join((status, *parts))
        yield Passage("change", change.slug, folder.shown(file), 1, body, cited(body, REQUIREMENTS))


def _decision_passages(library: Library) -> Iterator[Passage]:
    for document in library.documents:
        if "/adrs/" in document.file:
            title = next((s.title for s in markdown.sections(document.text) if s.level == 1), document.file)
            text = document.text.strip()
            yield Passage("decision", title, document.file, 1, text, cited(text, REQUIREMENTS))


def _convention_passages(root: str) -> Iterator[Passage]:
    seen: set[str] = set()
    top = os.path.realpath(root)
    for name in CONVENTIONS:
        # One convention file is often a link to another; a link that leaves the root is refused when it is read.
        path = os.path.relpath(os.path.realpath(os.path.join(top, *name.split("/"))), top).replace(os.sep, "/")
        if path in seen:
            continue
        seen.add(path)
        try:
            with Tree(top) as tree:
                text = tree.read(path, limit=LARGEST_CONVENTION).decode("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue
        yield from _sections(name, text.replace("\r\n", "\n").replace("\r", "\n"), "convention")


def _readable(folder: Folder, name: str) -> str:
    try:
        return folder.read(name) or ""
    except DamagedFile:
        return ""
