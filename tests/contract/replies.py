"""Reading replies back: what they show, what they say of themselves, and what they left out."""

import json
import re
from dataclasses import dataclass
from typing import Any

from haversack.app import Caller
from haversack.tokens import FLOOR, Budget, count_tokens
from haversack.tools.declaration import Tool
from haversack.tools.road.call import call
from haversack.tools.road.deliver import fitted
from haversack.tools.road.fit import Reply
from haversack.tools.road.layouts import JsonLayout, Piece, TextLayout
from haversack.tools.road.outcomes import LEVELS, Block, Document, Outcome, Result
from haversack.tools.road.validation import validate

TOKEN_LINE = re.compile(r"^📏 ~([\d,]+) tokens$")
BUDGET_LINE = re.compile(
    r"^⚡ (?:Budget: ~([\d,]+)/([\d,]+) tokens used\. )?(Part of )?([\d,]+) of ([\d,]+) ([\w ]+) shown\."
)
LIMIT_LINE = re.compile(r"^Showing ([\d,]+) of ([\d,]+) ([\w ]+?)\.")
KEY = re.compile(r' more\("(\w{4,6})"\), (?:([\d,]+) left, )?~([\d,]+) tokens\.$')


@dataclass(frozen=True)
class Asked:
    """One call as it was made."""

    caller: Caller
    tool: Tool
    arguments: dict[str, object]
    budget: int
    level: str
    format: str

    def reply(self) -> Reply:
        return call(self.caller, self.tool.name, self.sent)

    @property
    def sent(self) -> dict[str, object]:
        given = self.arguments | {"max_tokens": self.budget, "format": self.format}
        return given | ({"detail_level": self.level} if self.tool.level else {})

    def outcome(self) -> Outcome:
        """What the tool's function gives before it is fitted."""
        values = validate(self.tool, self.sent)
        for name in ("max_tokens", "format", "detail_level"):
            values.pop(name, None)
        return self.tool.run(self.caller, self.level, values)

    @property
    def levels(self) -> tuple[str, ...]:
        """The renderings the reply may hold, the cheapest first."""
        if not self.tool.level:
            return ("standard",)
        return LEVELS if self.level == "auto" else (self.level,)

    def units(self, result: Result, block: Block, level: str) -> int:
        """What a block would cost in this reply, in units."""
        layout = JsonLayout() if self.format == "json" else TextLayout()
        return self.caller.profile.measure(layout.item(result, Piece(block, level)))


@dataclass(frozen=True)
class Stated:
    """What a reply says of itself."""

    tokens: int
    shown: int | None
    total: int | None
    key: str
    left: int | None
    price: int | None
    cut_by_budget: bool


def stated(asked: Asked, reply: Reply) -> Stated:
    return _stated_in_json(reply.text) if asked.format == "json" else _stated_in_text(asked, reply.text)


def _stated_in_json(text: str) -> Stated:
    facts = json.loads(text)
    more = facts.get("more", {})
    tokens = facts["total_tokens"] if "total_tokens" in facts else facts["tokens"]
    return Stated(
        tokens,
        facts["shown"],
        facts["total"],
        more.get("key", ""),
        more.get("left"),
        more.get("tokens", more.get("estimate")),
        False,
    )


def _stated_in_text(asked: Asked, text: str) -> Stated:
    lines = text.split("\n")
    last = TOKEN_LINE.match(lines[-1])
    assert last, f"the last line is not the token line: {lines[-1]!r}"
    tokens = int(last[1].replace(",", ""))
    hint = lines[-2] if len(lines) > 1 else ""
    key = KEY.search(hint)
    left, price = (_number(key[2]), _number(key[3])) if key else (None, None)
    if found := BUDGET_LINE.match(hint):
        if found[1]:
            assert (_number(found[1]), _number(found[2])) == (tokens, asked.budget), (
                f"two figures for one reply: {hint}"
            )
        assert bool(found[1]) == (asked.budget >= 400)
        shown, total = _number(found[4]), _number(found[5])
        return Stated(tokens, 0 if found[3] else shown, total, key[1] if key else "", left, price, True)
    if found := LIMIT_LINE.match(hint):
        return Stated(tokens, _number(found[1]), _number(found[2]), key[1] if key else "", left, price, False)
    return Stated(tokens, None, None, "", None, None, False)


def _number(figure: str | None) -> int | None:
    return int(figure.replace(",", "")) if figure else None


def as_rendered(asked: Asked, result: Result) -> Result:
    """The result with as much of it rendered as for the reply: one that shows everything asks for more."""
    layout = JsonLayout() if asked.format == "json" else TextLayout()
    outcome, _ = fitted(result, Budget(asked.budget, asked.caller.profile), asked.level, layout)
    assert isinstance(outcome, Result)
    return outcome


def shown_blocks(asked: Asked, result: Result, reply: Reply) -> dict[str, str]:
    """The blocks a reply shows, by name in printed order, with their level (`cut` for a focus cut to its beginning).

    An assertion fails when the reply holds anything else than whole blocks between its heading and its footer.
    """
    if asked.format == "json":
        return _blocks_in_json(asked, result, json.loads(reply.text))
    return _blocks_in_text(asked, result, reply)


def _blocks_in_json(asked: Asked, result: Result, facts: dict[str, Any]) -> dict[str, str]:
    items = facts[result.items_name or result.noun]
    found: dict[str, str] = {}
    expected = {
        (json.dumps(block.facts(level), sort_keys=True, default=list), block.name): level
        for block in result.blocks
        for level in reversed(_levels_of(asked, block, len(items)))
    }
    for item in items:
        written = json.dumps(item, sort_keys=True)
        match = next((held for held in expected if held[0] == written and held[1] not in found), None)
        if match is None:
            focus = next(
                (block for block in result.blocks if block.required or _is_beginning(item.get("text", ""), block)),
                None,
            )
            assert focus and set(item) == {"text"} and item["text"].endswith("…"), f"not a whole block: {item}"
            found[focus.name] = "cut"
        else:
            found[match[1]] = expected[match]
    return found


def _blocks_in_text(asked: Asked, result: Result, reply: Reply) -> dict[str, str]:
    body = _body(asked, reply.text)
    places: list[tuple[int, str, str]] = []
    for block in result.blocks:
        for level in reversed(_levels_of(asked, block, len(reply.names))):
            written = block.text(level)
            at = _at_line_start(body, written)
            if at >= 0:
                places.append((at, block.name, level))
                body = body[:at] + "\0" * len(written) + body[at + len(written) :]
                break
        else:
            is_alone = block.required or reply.names == (block.name,)
            at = next((body.find(line) for line in body.split("\n") if is_alone and _is_beginning(line, block)), -1)
            if at >= 0:
                line = body[at:].split("\n")[0]
                assert line.endswith("…"), f"cut, and not marked as cut: {line!r}"
                places.append((at, block.name, "cut"))
                body = body[:at] + "\0" * len(line) + body[at + len(line) :]
    _assert_only_frame(result, reply, body)
    return {name: level for _, name, level in sorted(places)}


def _is_beginning(written: str, block: Block) -> bool:
    """Whether a text is the beginning of a block, cut behind its name, or in it where there is no room for more."""
    beginning = written.removesuffix("…")
    return bool(beginning) and (beginning.startswith(block.name) or block.name.startswith(beginning))


def _levels_of(asked: Asked, block: Block, shown: int) -> tuple[str, ...]:
    # What the call is about, or the one block of a reply that has no room for any, may be shown at a poorer level
    # than asked for, rather than not at all.
    poorer = block.required or shown == 1
    return LEVELS[: LEVELS.index(asked.levels[-1]) + 1] if poorer else asked.levels


def _at_line_start(body: str, written: str) -> int:
    at = body.find(written)
    while at > 0 and body[at - 1] != "\n":
        at = body.find(written, at + 1)
    # A title is not shown where a longer rendering of the same block stands.
    if at >= 0 and body[at + len(written) : at + len(written) + 1] not in ("", "\n"):
        return -1
    return at


def _body(asked: Asked, text: str) -> str:
    lines = text.split("\n")[:-1]
    if lines and (BUDGET_LINE.match(lines[-1]) or LIMIT_LINE.match(lines[-1])):
        lines = lines[:-1]
    return "\n".join(lines)


def _assert_only_frame(result: Result, reply: Reply, body: str) -> None:
    heading = result.heading if isinstance(result.heading, str) else result.heading(reply.shown, reply.tokens)
    lean = result.lean_heading or (lambda shown, is_small: "")
    frame = {
        *heading.split("\n"),
        *(line for is_small in (False, True) for line in lean(reply.shown, is_small).split("\n")),
        *(block.section for block in result.blocks),
        result.empty,
        *result.separator.split("\n"),
    }
    for line in body.replace("\0", "").split("\n"):
        if result.sequence and re.fullmatch(r"… [\d,]+ not on this page …", line):
            continue
        assert not line or line in frame or result.empty.startswith(line), f"neither a block nor a frame: {line!r}"


def document_page(asked: Asked, document: Document, reply: Reply) -> str:
    """The text a page of a document shows."""
    if asked.format == "text":
        return _body(asked, reply.text)
    facts = json.loads(reply.text)
    return str(facts["text"]) if "text" in facts and "first_line" in facts else ""


def count(asked: Asked, reply: Reply) -> int:
    return count_tokens(reply.text, asked.caller.profile.name)


__all__ = ["FLOOR", "Asked", "Stated", "count", "document_page", "shown_blocks", "stated"]
