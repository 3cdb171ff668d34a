"""Architecture decisions: numbered records in `adrs/`, each with its date and status, none ever replaced.

A file is `adrs/NNN-slug.md`: `# ADR-NNN: Title`, a list with status, date and what it supersedes, and a
section each for context, decision, rationale and the alternatives rejected.
"""

import re
from datetime import datetime

from haversack.errors import InvalidArgument, NotFound
from haversack.patterns import pattern
from haversack.sdd.checks.traceability import Document, known_ids, placeholders, trace, unknown_ids
from haversack.sdd.documents import artifacts
from haversack.sdd.documents.artifacts import ADR_STATUSES, Decision
from haversack.sdd.documents.disk import DECISIONS, Folder
from haversack.sdd.documents.library import (
    active_change,
    decision_files,
    load_changes,
    load_project,
    located,
    project_name,
    read_library,
)
from haversack.sdd.documents.slugs import slugify
from haversack.sdd.flows import changes, pipeline
from haversack.sdd.flows.project import one_of, stamp
from haversack.sdd.results import DecisionReceipt, ObservationText

LONGEST_REMEMBERED = 20_000
_STATUS_LINE = pattern(r"^- Status: .*$", re.MULTILINE)


def record_decision(
    workspace: str,
    *,
    title: str,
    content: Decision,
    status: str = "accepted",
    supersedes: str = "",
    now: datetime,
) -> DecisionReceipt:
    """Record a decision under the next number; those it supersedes are marked, their old text kept."""
    title = artifacts.single_line(title, "title")
    standing = one_of(status.lower(), ADR_STATUSES, "status")
    artifacts.checked(content)
    folder = located(workspace)
    project = load_project(folder)
    _superseded(folder, supersedes)
    with folder.locked():
        old = _superseded(folder, supersedes)
        number = max(decision_files(folder), default=0) + 1
        name = f"{DECISIONS}/{number:03d}-{slugify(title, fallback='decision')}.md"
        text = artifacts.write_decision(number, title, content, status=standing, day=stamp(now)[:10], supersedes=old)
        written = folder.write(name, text)
        for each in old:
            _mark_superseded(folder, each, number)
    project_title = project_name(folder, project)
    observation = ObservationText(
        title=f"{project_title}: ADR-{number:03d} {title}",
        content=f"{written.path}\n\n{text if len(text) <= LONGEST_REMEMBERED else artifacts.outline(text)}",
        kind="decision",
        topic_key=f"sdd/{slugify(project_title)}/adr/{number:03d}",
    )
    documents = read_library(folder, project).documents
    document = Document(written.path, text)
    families = {requirement.id.rpartition("-")[0] for requirement in trace(documents).requirements}
    findings = (*placeholders(document), *unknown_ids(document, known_ids(documents), families))
    active = active_change(load_changes(folder))
    step = changes.next_step(active) if active else pipeline.next_step(project)
    return DecisionReceipt(project_title, number, title, written, old, findings, step, observation)


def _superseded(folder: Folder, supersedes: str) -> tuple[int, ...]:
    """The numbers named (`3`, `ADR-003`, `003-slug`, several with commas); each must exist."""
    known = decision_files(folder)
    numbers: list[int] = []
    for name in filter(None, (part.strip() for part in supersedes.split(","))):
        found = re.match(r"(?:ADR[- ]?)?0*(\d{1,6})(?:-.*)?$", name, re.IGNORECASE)
        if not found:
            raise InvalidArgument(f"supersedes is {name!r}", hint="name a decision by its number, such as ADR-003")
        if int(found[1]) not in known:
            listed = ", ".join(f"ADR-{number:03d}" for number in sorted(known)) or "none yet"
            raise NotFound(f"there is no decision {name!r} to supersede", hint=f"there are: {listed}")
        numbers.append(int(found[1]))
    return tuple(dict.fromkeys(numbers))


def _mark_superseded(folder: Folder, number: int, by: int) -> None:
    name = f"{DECISIONS}/{decision_files(folder)[number]}"
    text = folder.read(name) or ""
    folder.write(name, _STATUS_LINE.sub(f"- Status: superseded by ADR-{by:03d}", text, count=1))
