"""The items of a transcript of any host: sessions, prompts, answers, tool calls, summaries and token counts."""

import json
import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Literal

from haversack.errors import InvalidArgument
from haversack.text.times import from_iso
from haversack.values import record

_HEAD, _TAIL = 2_000, 6_000
"""Characters kept of a tool's output: a commit is named at its beginning, the outcome of tests at its end."""


@record
class Item:
    """One thing of a transcript; `moment` is in microseconds since 1970, 0 where the host noted none.

    A `session` item begins a session and names it and its directory. Of a `usage` item `context` is what the model
    held, `spent` what the request cost.
    """

    kind: Literal["session", "prompt", "answer", "tool", "summary", "usage"]
    moment: int = 0
    text: str = ""
    directory: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    tool_output: str = ""
    context: int = 0
    spent: int = 0


def read(reader: str, path: str, *, last: int = 0) -> Iterator[Item]:
    """The items of a transcript, or of its last bytes; what cannot be understood is passed over."""
    items: Iterator[Item] = import_module(f"haversack.hosts.transcripts.{reader}").items(path, last)
    return items


def lines(path: str, last: int = 0) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON Lines; a line that is broken, as the last of a running session, is left out."""
    try:
        with open(path, "rb") as file:
            if last and os.fstat(file.fileno()).st_size > last:
                file.seek(-last, os.SEEK_END)  # the position may be inside a line, which is then skipped as broken
            for line in file:
                try:
                    found = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(found, dict):
                    yield found
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}") from None


def moment(value: object) -> int:
    """A time as microseconds, from ISO 8601 or from milliseconds; 0 for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value * 1_000)
    try:
        return from_iso(value) if isinstance(value, str) and value else 0
    except (InvalidArgument, ValueError, OverflowError):
        return 0


def at(held: Any, *keys: str) -> Any:
    """The value at a path of keys in nested objects; None where there is none."""
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def text_of(content: Any) -> str:
    """The text of a message, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else at(part, "text") for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def finished(pending: dict[str, Item], key: object, when: int, output: str) -> Iterator[Item]:
    """The tool call that was begun under a key, with its output; nothing when no such call was seen."""
    called = pending.pop(str(key), None)
    if called is not None:
        yield Item("tool", when, tool=called.tool, tool_input=called.tool_input, tool_output=short(output))


def short(output: str) -> str:
    """The beginning and the end of a tool's output, which report commits and tests."""
    return output if len(output) <= _HEAD + _TAIL else f"{output[:_HEAD]}\n{output[-_TAIL:]}"


def whole(value: object) -> int:
    """A count; 0 for anything that is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def arguments(given: Any) -> Mapping[str, Any]:
    """A tool's arguments, which some hosts keep as the text of their JSON."""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {"command": given}
    return given if isinstance(given, dict) else {}


def name_of(path: str) -> str:
    """A file's name without its ending: what a host that keeps a file per session calls it."""
    return os.path.splitext(os.path.basename(path))[0]
