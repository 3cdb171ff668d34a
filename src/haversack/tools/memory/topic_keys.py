"""`mem_suggest_topic_key`: a topic key for something to be saved."""

from haversack.app import Caller
from haversack.errors import InvalidArgument
from haversack.memory.save.topics import suggest_topic_key
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Document, Outcome


@tool(
    Command(
        "topic-key",
        ("title",),
        about="Propose a topic key (family/slug) for `haversack save --topic-key`.",
        examples=("haversack topic-key 'Auth model'",),
    ),
    group="memory",
)
def mem_suggest_topic_key(caller: Caller, *, title: str = "", content: str = "", kind: str = "") -> Outcome:
    """Propose a topic_key (family/slug) for mem_save."""
    if not (title.strip() or content.strip()):
        raise InvalidArgument("mem_suggest_topic_key needs words", hint="give title, content or both")
    for name, text in (("title", title), ("content", content)):
        if len(text) > caller.config.memory.max_content:
            most = f"use at most {caller.config.memory.max_content:,}, as mem_save does"
            raise InvalidArgument(f"{name} has {len(text):,} characters", hint=most)
    key = suggest_topic_key(title, content, kind)
    return Document(key, name="topic_key", facts={"topic_key": key}, brief=key)
