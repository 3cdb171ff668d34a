"""The body of a foreign result: its blocks in order, each as text, or as a binary that is shown complete or omitted."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from haversack.gateway.fitting.meter import Meter
from haversack.gateway.fitting.prices import Binary, binary, binary_tokens
from haversack.patterns import pattern
from haversack.tokens import Profile
from haversack.values import record

LONGEST_BASE64 = 1_024
_BASE64 = pattern(rf"[A-Za-z0-9+/]{{{LONGEST_BASE64},}}={{0,2}}")
KeepBlock = Callable[[Mapping[str, Any], Binary], str]


@record
class Part:
    """One block of a result: its text, or what it is and costs where it is not text."""

    text: str
    block: dict[str, Any] | None = None
    binary: Binary | None = None


@record
class Body:
    """The parts of a result in order."""

    parts: Sequence[Part]

    def whole(self, keep: KeepBlock, *, binaries_first: bool = False) -> str:
        """The body as one text, with a line and a key for each part that is not text."""
        lines = [
            placeholder(part.binary, keep(part.block, part.binary))
            if part.binary is not None and part.block is not None
            else without_base64(part.text, keep)
            for part in self.parts
        ]
        if binaries_first:
            ranked = sorted(zip(self.parts, lines, strict=True), key=lambda pair: pair[0].binary is None)
            lines = [line for _, line in ranked]
        return "\n".join(lines)


def body_of(
    content: Sequence[Any], structured: Any, raw_structured: str, profile: Profile, *, first_structured: bool
) -> Body:
    """The blocks in order, and the structured value unless the text is only its JSON."""
    parts = [_part(block, profile) for block in content]
    if not raw_structured:
        return Body(parts)
    if _is_json_of(parts, structured):
        return Body(parts)
    further = Part(raw_structured)
    if not any(part.text.strip() or part.binary for part in parts):
        return Body([further])
    return Body([further, *parts] if first_structured else [*parts, further])


def _part(block: Any, profile: Profile) -> Part:
    if not isinstance(block, dict):
        return Part(_json(block))
    if (held := binary(block, profile)) is not None:
        return Part("", block, held)
    return Part(text_of(block), block)


def text_of(block: Mapping[str, Any]) -> str:
    """The text of a block that is not a picture, audio or a blob."""
    if block.get("type") == "text" and isinstance(text := block.get("text"), str):
        return text
    resource = block.get("resource")
    if block.get("type") == "resource" and isinstance(resource, dict) and isinstance(text := resource.get("text"), str):
        return text
    return _json(block)


def shown_as_blocks(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """A result with the contents of a resource, or the messages of a prompt, as a tool's blocks."""
    if isinstance(contents := result.get("contents"), list):
        return {"content": [{"type": "resource", "resource": each} for each in contents]}
    if isinstance(messages := result.get("messages"), list):
        return {"content": [each.get("content") for each in messages if isinstance(each, dict)]}
    return result


def content_units(block: Any, meter: Meter, profile: Profile) -> None:
    """Add what a block costs to a meter."""
    if isinstance(block, dict):
        if (held := binary(block, profile)) is not None:
            meter.add_tokens(held.tokens)
        else:
            meter.add(text_of(block))
    else:
        meter.add(_json(block))


def placeholder(held: Binary, key: str) -> str:
    """The line printed in place of a block that is not shown."""
    return f'[{held.label}, ~{held.tokens:,} tokens: more("{key}")]'


def without_base64(text: str, keep: KeepBlock) -> str:
    """The text with long runs of base64 each replaced by a line and a key."""
    if len(text) < LONGEST_BASE64:
        return text

    def replaced(match: Any) -> str:
        run = match[0]
        held = Binary(f"base64 {len(run) * 3 // 4:,} bytes", binary_tokens(run), len(run))
        return placeholder(held, keep({"type": "text", "text": run}, held)).replace('"', "'")

    return _BASE64.sub(replaced, text)


def _is_json_of(parts: Sequence[Part], structured: Any) -> bool:
    texts = [part.text for part in parts if part.text.strip()]
    if len(texts) != 1 or not texts[0].lstrip()[:1]:
        return False
    # Servers that wrap plain text send {"result": "the text"} beside the text itself.
    only = list(structured.values()) if isinstance(structured, dict) and len(structured) == 1 else []
    if only == texts:
        return True
    try:
        held = json.loads(texts[0])
    except (ValueError, RecursionError):
        return False
    return bool(held == structured or only == [held])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
