"""A session's digest, made without a model: what was asked, changed, committed, tested, saved and spent."""

from collections.abc import Callable, Iterable, Sequence

from haversack.app import Caller
from haversack.memory.room import Memory
from haversack.memory.session_digests import put_digest
from haversack.store import observations, session_events
from haversack.store import sessions as session_table
from haversack.store.records import Filters, Prompt, SessionEvent
from haversack.text.clipping import clipped
from haversack.values import record

_ASKED, _FILES, _COMMITS, _TESTS, _SAVED = 5, 12, 6, 3, 8
_WIDTH = 140


@record
class Material:
    """The records a digest is made from."""

    prompts: Sequence[str]
    events: Sequence[SessionEvent]
    saved: Sequence[str]
    tokens: int = 0


def gather(memory: Memory, session_id: str) -> Material:
    """The records of a session in the store."""
    with memory.database.read() as tx:
        prompts: list[Prompt] = session_table.prompts_of_session(tx, session_id)
        events = session_events.of_session(tx, session_id)
        filters = Filters(session_id=session_id)
        held = observations.recent(tx, filters, 50)
    saved = [f"#{each.id} {each.title}" for each in reversed(held) if not each.topic_key.startswith("session-digest/")]
    spent = [int(each.detail) for each in events if each.kind == "usage" and each.detail.isdigit()]
    return Material([each.content for each in prompts], events, saved, sum(spent))


def compose(material: Material, count: Callable[[str], int], limit: int) -> str:
    """The digest, within `limit` tokens: sections lose their last items, the longest section first, until it fits."""
    asked = _distinct(material.prompts)
    sections: dict[str, list[str]] = {
        # The first request says what the session was for, the last ones where it stopped.
        "Asked": asked if len(asked) <= _ASKED else [asked[0], *asked[-(_ASKED - 1) :]],
        "Files": _details(material.events, "file")[-_FILES:],
        "Commits": _details(material.events, "commit")[-_COMMITS:],
        "Tests": _details(material.events, "test")[-_TESTS:],
        "Saved": list(material.saved)[-_SAVED:],
    }
    width = _WIDTH
    while True:
        text = _rendered(sections, material, width)
        if count(text) <= limit:
            return text
        longest = max(sections, key=lambda name: len(sections[name]))
        if len(sections[longest]) > 1:
            # The second oldest is dropped first; the first request is kept longest.
            sections[longest].pop(1 if longest == "Asked" else 0)
        elif width > 20:
            width //= 2
        else:
            return ""


def write(caller: Caller, session_id: str) -> str:
    """Make a session's digest and store it in place of its last one; empty when there is nothing to report."""
    material = gather(caller.memory, session_id)
    if not material.prompts and not material.events and not material.saved:
        return ""
    text = compose(material, caller.profile.count, caller.config.hooks.digest_tokens)
    if text:
        put_digest(caller.memory, session_id, text)
    return text


def _rendered(sections: dict[str, list[str]], material: Material, width: int) -> str:
    totals = {
        "Asked": len(_distinct(material.prompts)),
        "Files": len(_details(material.events, "file")),
        "Commits": len(_details(material.events, "commit")),
        "Tests": len(_details(material.events, "test")),
        "Saved": len(material.saved),
    }
    lines = []
    for name, items in sections.items():
        if not items:
            continue
        shown = "; ".join(clipped(item, width) for item in items)
        counted = f" ({len(items)} of {totals[name]:,})" if len(items) < totals[name] else ""
        lines.append(f"{name}{counted}: {shown}")
    commands = sum(1 for event in material.events if event.kind == "command")
    if commands:
        lines.append(f"Commands run: {commands:,}")
    if material.tokens:
        lines.append(f"Tokens spent: {material.tokens:,}")
    return "\n".join(lines)


def _details(events: Iterable[SessionEvent], kind: str) -> list[str]:
    return list(dict.fromkeys(event.detail for event in events if event.kind == kind))


def _distinct(prompts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(" ".join(prompt.split()) for prompt in prompts if prompt.strip()))
