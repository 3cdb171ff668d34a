"""A session's digest: an observation and the session's summary, replaced as the session goes on."""

from haversack.memory.projects.identity import short_name
from haversack.memory.room import Memory
from haversack.memory.save.pipeline import Draft, checked, content_hash, redacted, save
from haversack.memory.search import index_words
from haversack.store import observations, sessions
from haversack.tokens import count_tokens, utf8_length

TOPIC = "session-digest/"


def put_digest(memory: Memory, session_id: str, text: str) -> int:
    """Keep the digest of a session in place of its last one and return the observation's id.

    The last one leaves no revision: it is the same account, a few minutes older. A summary that somebody wrote stays
    on the session.
    """
    with memory.database.write() as tx:
        session = sessions.get(tx, session_id)
        assert session is not None
        draft = Draft(
            title=f"Session digest: {short_name(session.project)}",
            content=text,
            kind="session_summary",
            project=session.project,
            topic_key=f"{TOPIC}{session_id}"[:200],
            namespace=session.namespace,
            session_id=session_id,
            tool_name="hook",
            importance=0.3,
        )
        draft, _ = redacted(memory, checked(memory, draft))
        held = observations.with_topic_of_session(tx, draft.topic_key, session_id)
        if held is None:
            identifier = save(memory, draft).id
        else:
            identifier = held.id
            if held.content == draft.content:
                return identifier
            values: dict[str, str | int] = {
                "content": draft.content,
                "content_hash": content_hash(draft),
                "bytes": utf8_length(draft.content),
                "units": count_tokens(draft.content),
                "label": index_words.label(draft.title, draft.content),
                "asks": index_words.asks(draft.content),
                "updated_at": memory.now(),
            }
            observations.change(tx, identifier, values)
            index_words.index(tx, identifier)
        if not session.summary or (held is not None and session.summary == held.content):
            sessions.summarise(tx, session_id, draft.content)
    return identifier
