"""Everything in an `sdd/` folder, read: the project's state, its changes, and the artifacts as documents."""

import os
from collections.abc import Iterator

from haversack.errors import DamagedFile
from haversack.sdd.checks.traceability import Document, Finding, Trace, trace
from haversack.sdd.documents import state_files
from haversack.sdd.documents.disk import CHANGES, DECISIONS, STATE_FILE, Folder, Written, find
from haversack.sdd.flows.changes import Change
from haversack.sdd.flows.pipeline import ARTIFACTS, STAGES, Project
from haversack.values import record

CHANGE_FILE = "change.json"


@record
class Library:
    """Everything read from the folder; `findings` are the files that are missing or cannot be read."""

    documents: tuple[Document, ...]
    findings: tuple[Finding, ...]


def located(workspace: str) -> Folder:
    """The folder that serves a workspace: the nearest upwards, else its own, which may not exist yet."""
    return find(workspace) or Folder(os.path.abspath(workspace))


def load_project(folder: Folder) -> Project | None:
    """The project's state, None when none was started; DamagedFile when it cannot be understood."""
    text = folder.read(STATE_FILE)
    return None if text is None else state_files.read_project(text, folder.shown(STATE_FILE))


def save_project(folder: Folder, project: Project) -> Written:
    """Write the project's state."""
    return folder.write(STATE_FILE, state_files.write_project(project), keep=False)


def project_name(folder: Folder, project: Project | None) -> str:
    """The project's name, or its folder's when none was started."""
    return project.name if project else os.path.basename(folder.root) or "project"


def load_change(folder: Folder, slug: str) -> Change | None:
    """The change of a slug, None when there is none; DamagedFile when it cannot be read."""
    name = f"{CHANGES}/{slug}/{CHANGE_FILE}"
    text = folder.read(name)
    return None if text is None else state_files.read_change(text, folder.shown(name), slug)


def load_changes(folder: Folder) -> tuple[Change, ...]:
    """Every change, oldest first; DamagedFile when one cannot be understood."""
    found = (load_change(folder, slug) for slug in folder.names(CHANGES))
    return tuple(sorted((c for c in found if c), key=lambda change: (change.created_at, change.slug)))


def readable_changes(folder: Folder) -> tuple[Change, ...]:
    """The changes that can be understood, oldest first; the others are findings of the library."""
    found: list[Change] = []
    for slug in folder.names(CHANGES):
        try:
            change = load_change(folder, slug)
        except DamagedFile:
            continue
        found += [change] if change else []
    return tuple(sorted(found, key=lambda change: (change.created_at, change.slug)))


def active_change(changes: tuple[Change, ...]) -> Change | None:
    """The change under way; of several, left by a merge of branches, the one started last."""
    return next((change for change in reversed(changes) if change.status == "active"), None)


def read_library(folder: Folder, project: Project | None) -> Library:
    """The artifacts, changes and decisions as documents."""
    found = (*_artifacts(folder, project), *_change_documents(folder), *_decisions(folder))
    return Library(
        tuple(each for each in found if isinstance(each, Document)),
        tuple(each for each in found if isinstance(each, Finding)),
    )


def read_trace(folder: Folder, project: Project | None) -> Trace:
    """The trace of everything in the folder, with findings for files that are missing or unreadable."""
    library = read_library(folder, project)
    computed = trace(library.documents)
    findings = (*library.findings, *computed.findings)
    return Trace(computed.requirements, computed.tasks, computed.coverage, findings)


def decision_files(folder: Folder) -> dict[int, str]:
    """The decisions' file names by number."""
    numbered = ((name.partition("-")[0], name) for name in folder.names(DECISIONS) if name.endswith(".md"))
    return {int(number): name for number, name in numbered if number.isascii() and number.isdigit()}


def _artifacts(folder: Folder, project: Project | None) -> Iterator[Document | Finding]:
    for stage in STAGES[1:]:
        name = ARTIFACTS[stage]
        done = project is not None and project.state(stage).status == "done"
        try:
            text = folder.read(name)
        except DamagedFile as error:
            yield Finding("damaged", "error", folder.shown(name), 1, error.message, stage)
            continue
        if text is not None:
            yield Document(folder.shown(name), text, stage)
        elif done:
            yield Finding("missing", "error", folder.shown(name), 1, f"{stage} is done but has no file", stage)


def _change_documents(folder: Folder) -> Iterator[Document | Finding]:
    for slug in folder.names(CHANGES):
        try:
            change = load_change(folder, slug)
        except DamagedFile as error:
            yield Finding("damaged", "error", folder.shown(f"{CHANGES}/{slug}/{CHANGE_FILE}"), 1, error.message)
            continue
        for stage in change.flow if change else ():
            # The context-check stage quotes the findings, as the validation does.
            settled = stage == "context-check" or change is None or change.status != "active"
            yield from _document(folder, f"{CHANGES}/{slug}/{stage}.md", settled=settled)


def _decisions(folder: Folder) -> Iterator[Document | Finding]:
    for name in folder.names(DECISIONS):
        if name.endswith(".md"):
            yield from _document(folder, f"{DECISIONS}/{name}", settled=True)


def _document(folder: Folder, name: str, *, settled: bool) -> Iterator[Document | Finding]:
    try:
        text = folder.read(name)
    except DamagedFile as error:
        yield Finding("damaged", "error", folder.shown(name), 1, error.message)
        return
    if text is not None:
        yield Document(folder.shown(name), text, settled=settled)
