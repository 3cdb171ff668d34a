"""`more`: the rest of any reply, from the snapshot that was taken when it was cut."""

import json
from typing import Annotated, Any

from haversack.app import Caller
from haversack.tools.declaration import Command, resuming, tool
from haversack.tools.road.fit import Remainder
from haversack.tools.road.outcomes import Block, Document, Facts, Outcome, Rest, Result
from haversack.values import replace
from haversack.worklog.stash import as_document

ENOUGH = 50
"""Blocks to have at hand before a page is fitted; a result that goes on is resumed until there are as many."""


def frozen(result: Outcome, remainder: Remainder, shown: int, level: str) -> str:
    """A remainder as text to stash: blocks in the rendering asked for, so that later writes cannot change them."""
    if remainder.document is not None:
        document = remainder.document
        return as_document(document.text, document.name, lines_before=document.lines_before, fence=document.fence)
    assert isinstance(result, Result)
    rest = remainder.rest
    return _dump(
        {
            "level": level,
            "noun": result.noun,
            "total": result.total,
            "heading": result.heading if isinstance(result.heading, str) else "",
            "limit_hint": result.limit_hint,
            "advice": result.advice,
            "separator": result.separator,
            "items_name": result.items_name,
            "already_shown": result.already_shown + shown,
            "blocks": [
                [block.name, block.section, block.text(shown_at), block.facts(shown_at), block.place, block.counted]
                for block, shown_at in remainder.blocks
            ],
            "rest": [rest.items, rest.price, rest.resume, rest.state] if rest else None,
        }
    )


@tool(
    Command("more", ("key",), examples=("haversack more k7f2 --token-budget 2000",)),
    group="core",
    always_loaded=True,
    title="More of a reply",
)
def more(caller: Caller, *, key: Annotated[str, 'Key from a reply, e.g. "k7f2"; kept for 24 hours']) -> Outcome:
    """What an earlier reply left out: the next page under the same budget rules."""
    text, _ = caller.stash.fetch(key)
    held: dict[str, Any] = json.loads(text)
    if "document" in held:
        return Document(
            held["document"], name=held["name"], lines_before=held["lines_before"], fence=held["fence"],
            brief=f"more({key}): from line {held['lines_before'] + 1} of {held['name']}",
            on_sent=lambda _: caller.log.use_key(key),
        )  # fmt: skip
    blocks = [_thawed(*each) for each in held["blocks"]]
    rest = Rest(*held["rest"]) if held["rest"] else None

    def extend(rest: Rest) -> tuple[list[Block], Rest | None]:
        further, beyond = resuming(rest.resume)(caller, rest)
        return [_at_level(block, held["level"]) for block in further], beyond

    while rest and len(blocks) < ENOUGH:
        further, rest = extend(rest)
        blocks += further
    return Result(
        blocks=blocks,
        noun=held["noun"],
        total=held["total"],
        heading=held["heading"],
        limit_hint=held["limit_hint"],
        advice=held["advice"],
        separator=held["separator"],
        items_name=held["items_name"],
        rest=rest,
        already_shown=held["already_shown"],
        extend=extend,
        brief=f"more({key}): {len(blocks)} {held['noun']}",
        on_sent=lambda _: caller.log.use_key(key),
    )


def _thawed(name: str, section: str, text: str, facts: Facts, place: int | None, counted: bool) -> Block:
    return Block(name, lambda _: text, lambda _: facts, section=section, place=place, counted=counted)


def _at_level(block: Block, level: str) -> Block:
    """The block at the level the first page had, whatever level this page is fitted at."""
    return replace(block, text=lambda _: block.text(level), facts=lambda _: block.facts(level))


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
