"""How observations, sessions and prompts are shown at each level."""

from collections.abc import Callable
from functools import partial

from haversack.memory.search.query import Query
from haversack.memory.search.snippets import snippet
from haversack.packs.context_pack import PLAIN_KIND, USUAL_IMPORTANCE
from haversack.store.records import Observation, Prompt, Relation, Revision, Session
from haversack.text import times
from haversack.text.clipping import one_line
from haversack.tools.road.outcomes import Block, Facts
from haversack.tools.road.quoting import excerpt, field, passage

TITLE_WIDTH = 120
SNIPPET_WIDTH = 300
MATCH_WIDTH = 220
"""A snippet around a match says what was asked in less than the beginning of a text would take."""
SNIPPET_BYTES = 300


def title_line(observation: Observation) -> str:
    """`#12 [decision] Title (2026-02-10)`, without the kind where nobody chose one."""
    title = one_line(observation.title, TITLE_WIDTH)
    return f"{_number_and_kind(observation)} {title} ({times.date(observation.updated_at)})"


def _number_and_kind(observation: Observation) -> str:
    kind = "" if observation.kind == PLAIN_KIND else f" [{field(observation.kind)}]"
    return f"#{observation.id}{kind}"


def observation_block(
    observation: Observation,
    *,
    query: Query | None = None,
    section: str = "",
    worth: float = 1.0,
    required: bool = False,
    place: int | None = None,
    note: str = "",
    extra: Facts | None = None,
) -> Block:
    """An observation as an item of a list."""

    def part() -> str:
        if query is not None:
            return snippet(observation.content, query, width=MATCH_WIDTH)
        return one_line(observation.content, SNIPPET_WIDTH)

    def text(level: str) -> str:
        head = title_line(observation) + (f" {note}" if note else "")
        if level == "summary":
            return head
        if level == "standard":
            return f"{head}\n  {excerpt(part())}"
        return "\n".join(
            part for part in (head, details(observation, dated=False), passage(observation.content)) if part
        )

    def facts(level: str) -> Facts:
        shown: dict[str, object] = {
            "id": observation.id,
            "kind": observation.kind,
            "title": one_line(observation.title, TITLE_WIDTH) if level == "summary" else observation.title,
            "date": times.date(observation.updated_at),
        }
        if level == "standard":
            shown["snippet"] = part()
        if level == "full":
            shown |= observation_facts(observation)
        return shown | dict(extra or {})

    weight = partial(weight_at, observation.units, observation.bytes, len(observation.title))
    return Block(f"#{observation.id}", text, facts, section, worth, required, place, weight=weight)


def weight_at(units: int, size: int, title: int, level: str) -> int:
    """The estimated tokens of an observation at a level, from the sizes in the store."""
    head = 6 + min(title, TITLE_WIDTH) // 4
    if level == "summary":
        return head
    return head + (units if level == "full" else min(units, round(units * SNIPPET_BYTES / max(1, size))))


def found_block(
    observation: Observation,
    query: Query,
    *,
    note: str = "",
    extra: Facts | None = None,
    worth: float = 1.0,
    counted: bool = True,
) -> Block:
    """An observation as a search result: compact, under the date it shares with other results."""
    head = _number_and_kind(observation)
    listed = observation_block(observation, query=query, extra=extra)

    def text(level: str) -> str:
        body = passage(observation.content) if level == "full" else ""
        if level == "standard":
            body = snippet(observation.content, query, width=MATCH_WIDTH)
        title = "" if _begins_with_title(body, observation.title) else one_line(observation.title, TITLE_WIDTH)
        first = " ".join(part for part in (head, title, note) if part)
        if level == "summary":
            return first
        if not title:
            return f"{first} {body}"
        if level == "standard":
            return f"{first}: {body}"
        return "\n".join(part for part in (first, details(observation, dated=False), body) if part)

    section = times.date(observation.updated_at)
    return Block(listed.name, text, listed.facts, section, worth, counted=counted, weight=listed.weight)


def gone_block(identifier: int) -> Block:
    """The block in place of an observation that has been deleted since."""
    return Block(
        f"#{identifier}",
        lambda _: f"#{identifier} is gone: it was deleted since",
        lambda _: {"id": identifier, "gone": True},
    )


def _begins_with_title(body: str, title: str) -> bool:
    """Whether a text says its title itself, as the first line of a commit does: it is then printed once."""
    return bool(body) and body.split("\n", 1)[0].strip() == title.strip()


def details(observation: Observation, *, dated: bool = True) -> str:
    """The line under a title: `*2026-02-10 | importance: 0.8 | tags: auth, jwt*`, without what was not set."""
    parts = [times.date(observation.updated_at)] if dated else []
    if observation.importance != USUAL_IMPORTANCE:
        parts.append(f"importance: {observation.importance:g}")
    if observation.tags:
        parts.append(f"tags: {', '.join(map(field, observation.tags))}")
    return f"*{' | '.join(parts)}*" if parts else ""


def observation_facts(observation: Observation) -> dict[str, object]:
    """Everything about an observation that a JSON reader may want, without empty fields."""
    facts: dict[str, object] = {
        "id": observation.id,
        "kind": observation.kind,
        "title": observation.title,
        "content": observation.content,
        "tags": list(observation.tags),
        "importance": observation.importance,
        "project": observation.project,
        "scope": observation.scope,
        "topic_key": observation.topic_key,
        "namespace": observation.namespace,
        "session_id": observation.session_id,
        "tool_name": observation.tool_name,
        "status": observation.status,
        "verification": observation.verification,
        "pinned": observation.pinned,
        "revisions": observation.revision_count,
        "duplicates": observation.duplicate_count,
        "created": times.iso(observation.created_at),
        "updated": times.iso(observation.updated_at),
    }
    return {name: value for name, value in facts.items() if value not in ("", [], None, False, 0)}


def whole_observation(observation: Observation, relations: list[Relation], titles: dict[int, str]) -> str:
    """Everything about one observation, as text."""
    place = [f"project: {field(observation.project)}", f"session: {field(observation.session_id)}"]
    for name in ("scope", "topic_key", "namespace", "tool_name"):
        if value := getattr(observation, name):
            place.append(f"{name}: {field(value)}")
    state = [f"status: {observation.status}", f"verification: {observation.verification}"]
    if observation.pinned:
        state.append("pinned")
    if observation.revision_count:
        state.append(f"earlier texts: {observation.revision_count}")
    if observation.duplicate_count:
        state.append(f"seen {observation.duplicate_count + 1} times")
    lines = [
        f"#{observation.id} [{observation.kind}] {' '.join(observation.title.split())}",
        details(observation),
        " | ".join(place),
        " | ".join(state) + f" | created {times.minute(observation.created_at)}",
        "",
        passage(observation.content),
    ]
    if relations:
        lines += ["", "Relations:"]
        lines += [relation_line(relation, observation.id, titles) for relation in relations]
    return "\n".join(lines)


def relation_line(relation: Relation, seen_from: int, titles: dict[int, str]) -> str:
    """`- relation 3: supersedes -> #4 Title`, as seen from one end."""
    outward = relation.from_id == seen_from
    other = relation.to_id if outward else relation.from_id
    arrow = "->" if outward else "<-"
    note = f" ({one_line(relation.note, 200)})" if relation.note else ""
    return f"- relation {relation.id}: {relation.type} {arrow} #{other} {one_line(titles.get(other, ''), 80)}{note}"


def relation_facts(relation: Relation) -> Facts:
    """A relation for JSON."""
    return {
        "id": relation.id,
        "from": relation.from_id,
        "to": relation.to_id,
        "type": relation.type,
        "note": relation.note,
        "strength": relation.strength,
    }


def session_block(
    session: Session, *, section: str = "", worth: float = 1.0, counted: bool = True, project: str = ""
) -> Block:
    """A session as an item of a list; `project` is the name shown for its project."""
    span = times.minute(session.started_at)
    if session.ended_at is not None:
        span += f" to {times.minute(session.ended_at)}"

    def text(level: str) -> str:
        where = one_line(project or session.project, 200) or "no project"
        head = f"- session {one_line(session.id, 80)} ({where}, {span})"
        if level == "summary" or not session.summary:
            return head
        if level == "standard":
            return f"{head}\n  {excerpt(one_line(session.summary, SNIPPET_WIDTH))}"
        return f"{head}\n  {passage(session.summary)}"

    def facts(level: str) -> Facts:
        shown: dict[str, object] = {
            "session": session.id,
            "project": session.project,
            "started": times.iso(session.started_at),
            "ended": times.iso(session.ended_at),
        }
        if level != "summary" and session.summary:
            shown["summary"] = one_line(session.summary, SNIPPET_WIDTH) if level == "standard" else session.summary
        return {name: value for name, value in shown.items() if value}

    return Block(f"session {session.id}", text, facts, section, worth, counted=counted)


def prompt_block(prompt: Prompt, *, section: str = "", worth: float = 1.0) -> Block:
    """A prompt as an item of a list."""
    widths = {"summary": 100, "standard": SNIPPET_WIDTH}

    def shown(level: str) -> str:
        return one_line(prompt.content, widths[level]) if level in widths else prompt.content.rstrip()

    def text(level: str) -> str:
        head = f"- prompt {prompt.id} ({times.date(prompt.created_at)}):"
        if level == "full" and len(prompt.content.splitlines()) > 1:
            return f"{head}\n{passage(prompt.content)}"
        return f"{head} {shown(level)}"

    def facts(level: str) -> Facts:
        return {"prompt": prompt.id, "date": times.date(prompt.created_at), "content": shown(level)}

    return Block(f"prompt {prompt.id}", text, facts, section, worth, counted=False)


def revision_block(revision: Revision, number: int) -> Block:
    """An earlier text of an observation."""
    head = f"- revision {number} ({times.minute(revision.written_at)}): {one_line(revision.title, TITLE_WIDTH)}"
    bodies: dict[str, Callable[[], str]] = {
        "summary": lambda: "",
        "standard": lambda: one_line(revision.content, SNIPPET_WIDTH),
        "full": lambda: revision.content.rstrip(),
    }

    def text(level: str) -> str:
        body = bodies[level]()
        return f"{head}\n{passage(body)}" if level == "full" else f"{head}\n  {excerpt(body)}" if body else head

    def facts(level: str) -> Facts:
        shown: dict[str, object] = {
            "revision": number,
            "title": revision.title,
            "kind": revision.kind,
            "written": times.iso(revision.written_at),
            "replaced": times.iso(revision.replaced_at),
        }
        return shown | ({"content": bodies[level]()} if level != "summary" else {})

    return Block(f"revision {number}", text, facts)
