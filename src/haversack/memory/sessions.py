"""Sessions and prompts: where observations come from."""

import os

from haversack.errors import Conflict, NotFound
from haversack.memory.projects.identity import project_key, short_name
from haversack.memory.room import Memory
from haversack.memory.save.checks import MAX_NAME, check_line, check_optional_text, check_text
from haversack.store import observations
from haversack.store import sessions as table
from haversack.store.engine import Reader, Writer
from haversack.store.records import Prompt, Session
from haversack.text.redaction import redact
from haversack.text.times import DAY
from haversack.values import record

OPEN_FOR = DAY
"""A session started longer ago than this is no longer taken as the one under way."""


@record
class PromptSaved:
    """A prompt's id, and what was redacted in it."""

    id: int
    session_id: str
    redactions: tuple[str, ...]


def start(
    memory: Memory, *, identifier: str = "", project: str = "", directory: str = "", namespace: str = ""
) -> Session:
    """A new session; an id is made when none is given, and one that is taken is an error."""
    session = Session(
        id=check_line("id", identifier) or f"s-{os.urandom(4).hex()}",
        project=check_line("project", memory.project(project)),
        namespace=check_line("namespace", namespace),
        directory=check_line("directory", directory or memory.directory, 4096),
        started_at=memory.now(),
        ended_at=None,
        summary="",
    )
    with memory.database.write() as tx:
        if not table.add(tx, session, project_key(session.project)):
            raise Conflict(f"session {session.id!r} exists already", hint="leave id out to have one made")
    return session


def end(memory: Memory, identifier: str, summary: str = "") -> tuple[Session, tuple[str, ...]]:
    """End a session, with its summary if given: the session, and what was redacted."""
    checked = check_optional_text("summary", summary, memory.settings.max_content)
    redacted = redact(checked) if memory.settings.redact else None
    text = redacted.text if redacted else checked
    with memory.database.write() as tx:
        if table.get(tx, identifier) is None:
            raise NotFound(f"no session {identifier!r}", hint="`haversack sessions` lists them")
        table.end(tx, identifier, memory.now(), text or None)
        session = table.get(tx, identifier)
    assert session is not None
    return session, redacted.found if redacted else ()


def ensure(tx: Writer, memory: Memory, *, session_id: str, project: str, namespace: str) -> str:
    """The session of a new observation or prompt: the named one, the open one, or the place's own; made if missing."""
    key = project_key(project)
    given = session_id or _session_set(tx, memory, namespace)
    if not given:
        under_way = table.latest_open(tx, key, namespace, memory.now() - OPEN_FOR)
        if under_way:
            return under_way.id
        given, held = _own_session(tx, project, namespace)
    else:
        held = table.get(tx, given)
    if held:
        if held.namespace != namespace:
            raise Conflict(
                f"session {given!r} belongs to namespace {held.namespace!r}, not {namespace!r}",
                hint="use a session of this namespace, or leave session_id out",
            )
        return held.id
    session = Session(
        id=check_line("session_id", given, 2 * MAX_NAME + 10),
        project=project,
        namespace=namespace,
        directory=memory.directory,
        started_at=memory.now(),
        ended_at=None,
        summary="",
    )
    table.add(tx, session, key)
    return session.id


def _session_set(tx: Reader, memory: Memory, namespace: str) -> str:
    """The session that is set for this process; its sub-agents, who have a namespace, have sessions of their own."""
    chosen = memory.settings.session
    held = table.get(tx, chosen) if chosen else None
    return chosen if namespace == (held.namespace if held else "") else ""


def _own_session(tx: Reader, project: str, namespace: str) -> tuple[str, Session | None]:
    """The id of the session for what belongs to no other, which no other project or namespace has, and that session."""
    name = "-".join(part for part in ("manual", short_name(project), namespace) if part)
    identifier, number = name, 1
    while (held := table.get(tx, identifier)) and (project_key(held.project), held.namespace) != (
        project_key(project),
        namespace,
    ):
        number += 1
        identifier = f"{name}-{number}"
    return identifier, held


def save_prompt(
    memory: Memory, content: str, *, project: str = "", session_id: str = "", namespace: str = ""
) -> PromptSaved:
    """Save a prompt that a person typed."""
    checked = check_text("content", content, memory.settings.max_content)
    redacted = redact(checked) if memory.settings.redact else None
    place = check_line("project", memory.project(project))
    namespace = check_line("namespace", namespace)
    with memory.database.write() as tx:
        session = ensure(tx, memory, session_id=session_id, project=place, namespace=namespace)
        prompt = Prompt(0, session, place, namespace, redacted.text if redacted else checked, memory.now())
        identifier = table.add_prompt(tx, prompt, project_key(place))
    return PromptSaved(identifier, session, redacted.found if redacted else ())


def recent(
    memory: Memory, *, project: str = "", namespace: str | None = None, limit: int = 20, after: str = ""
) -> tuple[list[Session], int]:
    """The sessions started last (or behind the one named), and how many there are in all."""
    with memory.database.read() as tx:
        key = project_key(project) if project else ""
        last = table.get(tx, after) if after else None
        return table.recent(tx, key, namespace, limit, after=last), table.count(tx, key, namespace)


def summarise(memory: Memory, identifier: str, observation_id: int) -> None:
    """Put the text of a summary observation on its session."""
    with memory.database.write() as tx:
        found = observations.get(tx, observation_id)
        assert found is not None
        table.summarise(tx, identifier, found.content)
