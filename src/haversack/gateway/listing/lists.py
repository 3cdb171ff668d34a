"""The tool list as the client gets it: widened, slimmed, or an index in its place."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from haversack.gateway.listing.schemas import slimmed, widened
from haversack.gateway.settings import Mode, Structured
from haversack.patterns import pattern
from haversack.protocol.spans import Member, Span, items, members, spliced, without
from haversack.text.clipping import clipped
from haversack.tokens import Profile

CALL_READ, CALL_TOOL, TOOL_SCHEMA, SEARCH_TOOLS = "call_read", "call_tool", "tool_schema", "search_tools"
SHARE_OF_TOTAL = 0.02
"""The part of the whole account below which a list is not worth shrinking."""
LARGEST_INDEX = 4_000
_CHARACTERS_PER_TOKEN = 4
_SIZE_KEY = "anthropic/maxResultSizeChars"
_SENTENCE = pattern(r"(.*?[.!?])(?:\s|$)")
_LONGEST_SENTENCE = 80
_WORD = pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_ENDING = pattern(r"(?<=...)(?:ing|ed|es|s|e)$")
_FOUND = 8

Tool = Mapping[str, Any]


def edited_page(
    text: str,
    *,
    structured: Structured,
    slim: bool,
    tokens: int,
    own: Sequence[Tool],
    allows: Callable[[str], bool] = lambda _: True,
) -> str:
    """One page of `tools/list`: its result's JSON text with what must differ, everything else as it came.

    `own` are the tools to add, on the last page.
    """
    found = members(text)
    place = found["tools"].value
    changes: list[tuple[Span, str]] = []
    kept: list[Span] = []
    removed = False
    for span in items(text, place.start):
        tool = members(text, span.start)
        name = json.loads(_raw(text, tool["name"])) if "name" in tool else ""
        if not allows(name):
            removed = True
            continue
        kept.append(span)
        changes += _tool_changes(text, span, tool, structured=structured, slim=slim, tokens=tokens)
    if removed:
        return _rebuilt(text, place, kept, changes, own)
    if own:
        # Written before the closing bracket, so that the upstream's tools stay where they are.
        added = ",".join(_json(tool) for tool in own)
        changes.append((Span(place.end - 1, place.end - 1), ("," if kept else "") + added))
    return spliced(text, changes)


def _rebuilt(
    text: str, place: Span, kept: Sequence[Span], changes: Sequence[tuple[Span, str]], own: Sequence[Tool]
) -> str:
    """The page with only some of its tools."""
    tools = []
    for span in kept:
        inner = [
            (Span(each.start - span.start, each.end - span.start), new)
            for each, new in changes
            if span.start <= each.start < span.end
        ]
        tools.append(spliced(text[span.start : span.end], inner))
    return spliced(text, [(place, f"[{','.join([*tools, *map(_json, own)])}]")])


def _tool_changes(
    text: str, span: Span, tool: Mapping[str, Member], *, structured: Structured, slim: bool, tokens: int
) -> list[tuple[Span, str]]:
    changes: list[tuple[Span, str]] = []
    if "outputSchema" in tool:
        if structured == "strip":
            changes.append(without(text, span, dict(tool), "outputSchema"))
        elif structured == "widen":
            schema = json.loads(_raw(text, tool["outputSchema"]))
            changes.append((tool["outputSchema"].value, _json(widened(schema))))
    if slim and "inputSchema" in tool:
        schema = json.loads(_raw(text, tool["inputSchema"]))
        changes.append((tool["inputSchema"].value, _json(slimmed(schema))))
    if slim and "title" in tool:
        changes.append(without(text, span, dict(tool), "title"))
    changes += _lowered_size(text, tool, tokens)
    return changes


def _lowered_size(text: str, tool: Mapping[str, Member], tokens: int) -> list[tuple[Span, str]]:
    """The change that lowers the size hint of a tool, since its results are cut to the budget."""
    if "_meta" not in tool or text[tool["_meta"].value.start] != "{":
        return []
    meta = members(text, tool["_meta"].value.start)
    if _SIZE_KEY not in meta:
        return []
    given = json.loads(_raw(text, meta[_SIZE_KEY]))
    most = tokens * _CHARACTERS_PER_TOKEN
    return [(meta[_SIZE_KEY].value, str(most))] if isinstance(given, int | float) and given > most else []


def _raw(text: str, member: Member) -> str:
    return text[member.value.start : member.value.end]


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def decided(
    mode: Mode, tools: Sequence[Tool], profile: Profile, *, defers_tools: bool, total: int, reads: Iterable[str] = ()
) -> Mode:
    """Which mode `auto` is for these tools and this client."""
    if mode != "auto":
        return mode
    if defers_tools or profile.count(_json(list(tools))) < total * SHARE_OF_TOTAL:
        return "pass"
    index = profile.count(_json(front("index", tools, reads)))
    return "index" if index <= LARGEST_INDEX else "search"


def front(mode: Mode, tools: Sequence[Tool], reads: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The few tools that are listed in place of all others in the modes `index` and `search`."""
    readable = set(reads)
    name = {"type": "string"}
    arguments = {"type": ["object", "string"]}
    call_schema = {"type": "object", "properties": {"name": name, "arguments": arguments}, "required": ["name"]}
    listed = "\n".join(map(line if mode == "index" else _name, tools))
    schema_about = "The full description and input schema of a tool."
    made: list[dict[str, Any]] = []
    if readable:
        made.append(
            {
                "name": CALL_READ,
                "description": f"Call one of these, which only read: {', '.join(sorted(readable))}.",
                "inputSchema": call_schema,
                "annotations": {"readOnlyHint": True},
            }
        )
    made.append(
        {
            "name": CALL_TOOL,
            "description": f"Call a tool by name with arguments; {TOOL_SCHEMA} gives its schema. Tools:\n{listed}",
            "inputSchema": call_schema,
            "annotations": {"destructiveHint": True},
        }
    )
    made.append(
        {
            "name": TOOL_SCHEMA,
            "description": schema_about,
            "inputSchema": {"type": "object", "properties": {"name": name}, "required": ["name"]},
            "annotations": {"readOnlyHint": True},
        }
    )
    if mode == "search":
        made.append(
            {
                "name": SEARCH_TOOLS,
                "description": f"Find tools by what they do; then {TOOL_SCHEMA}, then {CALL_TOOL}.",
                "inputSchema": {"type": "object", "properties": {"query": name}, "required": ["query"]},
                "annotations": {"readOnlyHint": True},
            }
        )
    return made


def line(tool: Tool) -> str:
    """A tool on one line: its name, its parameters (optional ones with a question mark), its first sentence."""
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    required = schema.get("required") if isinstance(schema, dict) else None
    needed = required if isinstance(required, list) else []
    names = list(properties) if isinstance(properties, dict) else []
    signature = ",".join(name if name in needed else f"{name}?" for name in names)
    return f"{tool.get('name')}({signature}) {first_sentence(tool)}".rstrip()


def first_sentence(tool: Tool) -> str:
    """The first sentence of a tool's description, cut to fit on a line."""
    about = tool.get("description")
    folded = " ".join(about.split()) if isinstance(about, str) else ""
    match = _SENTENCE.match(folded)
    sentence = match[1] if match else folded
    return clipped(sentence, _LONGEST_SENTENCE)


def _name(tool: Tool) -> str:
    return str(tool.get("name"))


def found_tools(tools: Sequence[Tool], query: str) -> list[Tool]:
    """The tools whose names and descriptions hold most of the query's words, the best first."""
    from math import log

    asked = set(_words(query))
    texts = [_words(f"{tool.get('name')} {tool.get('description')}") for tool in tools]
    names = [_words(str(tool.get("name"))) for tool in tools]
    seen = {word: sum(word in text for text in texts) for word in asked}
    scored = []
    for place, tool in enumerate(tools):
        score = sum(
            log(1 + len(tools) / seen[word]) * (3 if word in names[place] else 1)
            for word in asked
            if seen[word] and word in texts[place]
        )
        if score:
            scored.append((-score, place, tool))
    return [tool for _, _, tool in sorted(scored, key=lambda each: each[:2])[:_FOUND]]


def _words(text: str) -> list[str]:
    """The words of a text in lower case without their commonest endings; camelCase is several."""
    return [_ENDING.sub("", word.lower()) or word.lower() for word in _WORD.findall(text)]
