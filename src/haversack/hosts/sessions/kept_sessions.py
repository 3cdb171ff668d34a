"""A session read from a transcript, and its records for the store."""

from collections.abc import Iterator
from typing import Any

from haversack.app import Caller
from haversack.hosts.hooks.payloads import Payload, clean_prompt, session_name
from haversack.hosts.host import Host
from haversack.hosts.sessions.activity import events_of
from haversack.hosts.sessions.digest import Material, compose
from haversack.hosts.sessions.learnings import has_substance
from haversack.hosts.transcripts.items import Item, read
from haversack.memory.capture import TITLE_WIDTH
from haversack.memory.learnings import find_learnings
from haversack.memory.session_digests import TOPIC
from haversack.store import observations
from haversack.store import sessions as session_table
from haversack.store.records import SessionEvent
from haversack.text.clipping import one_line
from haversack.text.redaction import redact
from haversack.values import record

_STILL_RUNNING = 3_600_000_000
"""Microseconds after its last message within which a session may still be running."""
_LONGEST_LEARNINGS = 200_000
_MOST_PROMPTS = 100_000


@record
class KeptSession:
    """A session of a transcript: its prompts, its tool events and its answers."""

    id: str
    host: str
    directory: str
    started_at: int
    ended_at: int
    prompts: tuple[tuple[int, str], ...]
    learnings: tuple[tuple[int, str], ...]
    summaries: tuple[tuple[int, str], ...]
    events: tuple[SessionEvent, ...]
    saved: tuple[str, ...]
    spent: int


def kept_sessions(host: Host, reader: str, path: str) -> Iterator[KeptSession]:
    """The sessions of a transcript in which a person asked for something."""
    held: list[Item] = []
    for item in read(reader, path):
        if item.kind == "session" and held:
            yield from _session(host, held)
            held = []
        held.append(item)
    yield from _session(host, held)


def records_of(session: KeptSession, caller: Caller) -> Iterator[dict[str, Any]]:
    """The records of a session that the store lacks, for an import."""
    project = caller.memory.project()
    with caller.database.read() as tx:
        known = session_table.get(tx, session.id)
        asked = (
            {each.content for each in session_table.prompts_of_session(tx, session.id, _MOST_PROMPTS)}
            if known
            else set()
        )
        digest = observations.with_topic_of_session(tx, f"{TOPIC}{session.id}"[:200], session.id) if known else None
    text = _digest(session, caller)
    if known is None:
        is_over = caller.now() - session.ended_at > _STILL_RUNNING
        yield {
            "type": "session", "id": session.id, "project": project, "namespace": "",
            "directory": session.directory, "started_at": session.started_at,
            "ended_at": session.ended_at if is_over else None, "summary": text,
        }  # fmt: skip
    redacts = caller.config.memory.redact
    for moment, prompt in session.prompts:
        # Hooks may have kept it, at a time of their own.
        if (redact(prompt).text if redacts else prompt) not in asked:
            yield {
                "type": "prompt", "id": 1, "session_id": session.id, "project": project, "namespace": "",
                "content": prompt, "created_at": moment,
            }  # fmt: skip
    for moment, learning in session.learnings:
        yield _observation(session, project, moment, "passive", one_line(learning, TITLE_WIDTH), learning)
    for moment, summary in session.summaries:
        yield _observation(session, project, moment, "session_summary", "Summary of a long session", summary)
    if text and (digest is None or digest.tool_name == "backfill"):
        made = _observation(session, project, session.ended_at, "session_summary", "Session digest", text)
        topic = f"{TOPIC}{session.id}"[:200]
        yield {**made, "uid": f"{session.id}/digest", "topic_key": topic, "importance": 0.3}


def _observation(
    session: KeptSession, project: str, moment: int, kind: str, title: str, content: str
) -> dict[str, Any]:  # fmt: skip
    return {
        "title": title, "content": content, "kind": kind, "project": project, "session_id": session.id,
        "tool_name": "backfill", "created_at": moment, "updated_at": moment,
    }  # fmt: skip


def _digest(session: KeptSession, caller: Caller) -> str:
    prompts = [prompt for _, prompt in session.prompts]
    material = Material(prompts, session.events, session.saved, session.spent)
    return compose(material, caller.profile.count, caller.config.hooks.digest_tokens)


def _session(host: Host, items: list[Item]) -> Iterator[KeptSession]:
    if not items or items[0].kind != "session":
        return
    head = items[0]
    asked: dict[str, int] = {}
    for item in items:
        if item.kind == "prompt" and (text := _asked(host, item)):
            asked.setdefault(text, item.moment)
    if not asked:
        return
    name = session_name(host, head.text)
    times = [item.moment for item in items if item.moment]
    learnings = {
        learning: item.moment
        for item in items if item.kind == "answer"
        for learning in find_learnings(item.text[:_LONGEST_LEARNINGS]) if has_substance(learning)
    }  # fmt: skip
    calls = [item for item in items if item.kind == "tool"]
    summaries = [(item.moment, clean_prompt(host, item.text)) for item in items if item.kind == "summary"]
    yield KeptSession(
        id=name,
        host=host.name,
        directory=head.directory,
        started_at=min(times, default=0),
        ended_at=max(times, default=0),
        prompts=tuple((moment, text) for text, moment in asked.items()),
        learnings=tuple((moment, learning) for learning, moment in learnings.items()),
        summaries=tuple((moment, text) for moment, text in summaries if text),
        events=tuple(_events(name, head.directory, calls)),
        saved=tuple(title for item in calls if (title := _saved(item))),
        spent=sum(item.spent for item in items if item.kind == "usage"),
    )


def _asked(host: Host, item: Item) -> str:
    """What a person typed; empty for commands to the host."""
    text = clean_prompt(host, item.text)
    return "" if text.startswith("/") else text


def _events(session: str, directory: str, calls: list[Item]) -> Iterator[SessionEvent]:
    for number, item in enumerate(calls):
        payload = Payload(
            event="after-tool", session_id=session, directory=directory, tool=item.tool, tool_input=item.tool_input,
            tool_output=item.tool_output,
        )  # fmt: skip
        for kind, detail in events_of(payload):
            yield SessionEvent(number, session, kind, detail, item.moment)


def _saved(item: Item) -> str:
    title = item.tool_input.get("title")
    if not isinstance(title, str) or not item.tool.endswith("mem_save"):
        return ""
    return one_line(redact(title).text, TITLE_WIDTH)
