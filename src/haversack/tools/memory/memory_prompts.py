"""The prompts for memory: recall what is known, and save what was learned."""

from typing import Annotated

from haversack.app import Caller
from haversack.tools.prompts import prompt
from haversack.tools.road.call import call

RECALL_TOKENS = 2_000


@prompt("recall", title="Recall what is known")
def recall(
    caller: Caller,
    *,
    topic: Annotated[str, "What the work is about"],
    project: Annotated[str, "Only this project"] = "",
) -> str:
    """Begin with what is remembered about a topic."""
    found = call(
        caller,
        "mem_search",
        {"query": topic, "project": project, "detail_level": "auto", "max_tokens": RECALL_TOKENS},
    )
    return (
        f"The memory holds this about {topic}:\n\n{found.text}\n\n"
        "Take it into account. mem_get_observation gives one of these in full, mem_timeline what happened around it; "
        "say which memories (#id) an answer rests on, and say so where one looks out of date."
    )


@prompt("save-session", title="Save this session")
def save_session(caller: Caller, *, focus: Annotated[str, "What matters most"] = "") -> str:
    """Put away what this session decided and learned, for the next one."""
    about = f", above all about {focus}" if focus else ""
    return (
        f"Put this session into memory{about}, for someone who starts fresh next week:\n"
        "1. mem_save each decision, fixed bug, pattern and preference that is not stored yet: one fact each, a title "
        "that can be searched, what was chosen and why, the files concerned; topic_key where it will change again.\n"
        "2. mem_update what turned out wrong or out of date.\n"
        "3. mem_session_summary with goal, discoveries, what is done, what is next, and the relevant files.\n"
        "Leave out what the repository already says. Report the ids."
    )
