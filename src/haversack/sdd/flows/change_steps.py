"""The changes' operations: start, advance, check, cancel, archive, report; one is active at a time."""

from datetime import datetime

from haversack.errors import InvalidArgument, NotFound
from haversack.sdd.documents import artifacts, markdown, state_files
from haversack.sdd.documents.disk import CHANGES, Folder, Written
from haversack.sdd.documents.library import (
    CHANGE_FILE,
    active_change,
    load_changes,
    load_project,
    located,
    project_name,
    read_trace,
)
from haversack.sdd.documents.slugs import slugify, unique
from haversack.sdd.flows import changes
from haversack.sdd.flows.changes import SIZES, TYPES, Change
from haversack.sdd.flows.pipeline import Project
from haversack.sdd.flows.project import one_of, stamp
from haversack.sdd.results import ChangeFile, ChangeReceipt, ChangeReport, ObservationText


def start_change(workspace: str, *, change_type: str, size: str, description: str, now: datetime) -> ChangeReceipt:
    """Start a change; WrongStage, naming the next tool, while another is active."""
    kind = one_of(change_type, TYPES, "type")
    extent = one_of(size, SIZES, "size")
    text = _checked(description, "description")
    folder = located(workspace)
    project = load_project(folder)
    changes.permit_start(active_change(load_changes(folder)))
    with folder.locked():
        changes.permit_start(active_change(load_changes(folder)))
        title = text.partition("\n")[0]
        slug = unique(slugify(title, fallback="change"), folder.names(CHANGES))
        change = changes.start(slug, text, kind, extent, stamp(now))
        written = _save(folder, change)
    return _receipt(folder, project, change, written, text)


def advance_change(workspace: str, *, content: str, stage: str = "", now: datetime) -> ChangeReceipt:
    """Write the open stage and move on; a named earlier stage is written again, later ones become stale."""
    text = _checked(content, "content")
    folder = located(workspace)
    project = load_project(folder)
    changes.to_write(active_change(load_changes(folder)), stage.strip())
    with folder.locked():
        active, writing = changes.to_write(active_change(load_changes(folder)), stage.strip())
        title = f"{writing.capitalize()}: {active.description.partition(chr(10))[0]}"
        artifact = artifacts.write_change_stage(title, text)
        written = folder.write(f"{CHANGES}/{active.slug}/{writing}.md", artifact)
        change = changes.advance(active, writing, stamp(now))
        _save(folder, change)
    return _receipt(folder, project, change, written, artifact, stage=writing)


def record_context_check(workspace: str, *, now: datetime) -> Change | None:
    """Note that the active change's context was checked; None when no change is active."""
    folder = located(workspace)
    if active_change(load_changes(folder)) is None:
        return None
    with folder.locked():
        active = active_change(load_changes(folder))
        if active is None:
            return None
        checked = changes.record_check(active, stamp(now))
        _save(folder, checked)
    return checked


def cancel_change(workspace: str, *, reason: str = "", now: datetime) -> ChangeReceipt:
    """Cancel the active change; its artifacts stay."""
    why = markdown.tidy(reason, "reason")
    folder = located(workspace)
    project = load_project(folder)
    changes.cancel(active_change(load_changes(folder)), why, stamp(now))
    with folder.locked():
        change = changes.cancel(active_change(load_changes(folder)), why, stamp(now))
        written = _save(folder, change)
    return _receipt(folder, project, change, written, f"Cancelled: {why or 'no reason given'}")


def archive_change(workspace: str, *, reason: str = "", now: datetime) -> ChangeReceipt:
    """Archive the active change, or the last completed one when none is active."""
    why = markdown.tidy(reason, "reason")
    folder = located(workspace)
    project = load_project(folder)
    changes.archive(_to_archive(folder), why, stamp(now))
    with folder.locked():
        change = changes.archive(_to_archive(folder), why, stamp(now))
        written = _save(folder, change)
    return _receipt(folder, project, change, written, f"Archived: {why or 'no reason given'}")


def change_status(workspace: str, *, slug: str = "") -> ChangeReport:
    """The change of that slug, else the active one, else the last; NotFound lists the slugs there are."""
    folder = located(workspace)
    known = load_changes(folder)
    slugs = tuple(change.slug for change in known)
    if slug:
        change = next((c for c in known if c.slug == slug.strip()), None)
    else:
        change = active_change(known) or (known[-1] if known else None)
    if change is None:
        listed = f"there are: {', '.join(slugs)}" if slugs else changes.next_step(None).sentence
        raise NotFound(f"no change {slug!r}" if slug else "there is no change yet", hint=listed)
    files = tuple(_file(folder, f"{CHANGES}/{change.slug}/{stage}.md", stage, change) for stage in change.flow)
    return ChangeReport(change, files, changes.next_step(active_change(known)), slugs)


def _checked(text: str, name: str) -> str:
    tidied = markdown.tidy(text, name)
    if not tidied:
        raise InvalidArgument(f"{name} is empty", hint=f"give the {name} as text")
    return tidied


def _save(folder: Folder, change: Change) -> Written:
    return folder.write(f"{CHANGES}/{change.slug}/{CHANGE_FILE}", state_files.write_change(change), keep=False)


def _to_archive(folder: Folder) -> Change | None:
    known = load_changes(folder)
    completed = [change for change in known if change.status == "completed"]
    return active_change(known) or max(completed, key=lambda change: change.closed_at, default=None)


def _file(folder: Folder, name: str, stage: str, change: Change) -> ChangeFile:
    state = next(s for known, s in zip(change.flow, change.stages, strict=True) if known == stage)
    return ChangeFile(stage, state.status, state.iterations, folder.shown(name), folder.measured(name)[0])


def _receipt(
    folder: Folder, project: Project | None, change: Change, written: Written, tidied: str, *, stage: str = ""
) -> ChangeReceipt:
    name = project_name(folder, project)
    reached = f" at {change.current}" if change.current else ""
    about = f"{change.description.partition(chr(10))[0]}\n{change.size} {change.type}, {change.status}{reached}"
    observation = ObservationText(
        title=f"{name}: change {change.slug}" + (f", {stage}" if stage else ""),
        content=f"{about}\n{written.path}\n\n{artifacts.outline(tidied)}",
        kind="decision",
        # Each stage keeps a memory of its own, so that the specification is still found when the change is closed.
        topic_key=f"sdd/{slugify(name)}/change/{change.slug}" + (f"/{stage}" if stage else ""),
    )
    findings = tuple(f for f in read_trace(folder, project).findings if f.file == written.path)
    return ChangeReceipt(name, change, written, changes.next_step(change), findings, observation)
