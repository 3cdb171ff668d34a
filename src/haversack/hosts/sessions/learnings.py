"""Learnings from an agent's last message that have enough substance."""

from haversack.app import Caller
from haversack.memory.learnings import find_learnings
from haversack.text.words import words_in
from haversack.tools.road.call import call

LEAST_WORDS = 5
"""Words below which an item says too little to be worth keeping."""
MOST_ITEMS = 20


def capture_learnings(caller: Caller, message: str, session_id: str, source: str) -> int:
    """Keep the list items under headings such as "Key learnings" and return how many had enough substance."""
    kept = [item for item in find_learnings(message[:200_000]) if has_substance(item)][:MOST_ITEMS]
    if kept:
        # As a list of its own, so that the rules of passive capture see only what is worth keeping.
        listed = "\n".join("- " + item.replace("\n", "\n  ") for item in kept)
        content = f"## Key learnings\n\n{listed}\n"
        call(caller, "mem_capture_passive", {"content": content, "session_id": session_id, "source": source})
    return len(kept)


def has_substance(item: str) -> bool:
    """Whether an item says something: a few words, or as much in a script without spaces."""
    words = words_in(item)
    return len(words) >= LEAST_WORDS or (not item.isascii() and len(item) >= 3 * LEAST_WORDS)
