"""`more`: the rest of any reply, from the snapshot that was taken when it was cut."""

import json
from functools import partial
from typing import Annotated, Any

from haversack.app import Caller
from haversack.errors import ExpiredKey
from haversack.tools.declaration import Command, resuming, sampling, tool
from haversack.tools.road.drafts import Remainder
from haversack.tools.road.layouts import ADVICE_FOR_LESS, separator_at
from haversack.tools.road.outcomes import LEVELS, Block, Document, Facts, Outcome, Rest, Result
from haversack.values import replace
from haversack.worklog.stash import clean

ENOUGH = 50
"""Blocks to have at hand before a page is fitted; a result that goes on is resumed until there are as many."""


def frozen(outcome: Outcome, remainder: Remainder, level: str) -> tuple[str, str]:
    """A remainder as text to stash, and the key of the snapshot it is a position in, if it is one.

    Blocks are stashed in the rendering asked for, so that later writes cannot change them, or by reference where
    their tool can render them again.
    """
    if remainder.document is not None:
        return _frozen_document(remainder.document)
    assert isinstance(outcome, Result)
    level = outcome.level or level
    left = [block for block, _ in remainder.blocks]
    shown = sum(block.counted for block in outcome.blocks) - sum(block.counted for block in left)
    blocks, rest = remainder.blocks, remainder.rest
    if blocks and outcome.refer:
        blocks, rest = (), outcome.refer(left)
    state = {
        "level": LEVELS[0] if level == "auto" else level,
        "noun": outcome.noun,
        "total": outcome.total,
        "heading": outcome.heading if isinstance(outcome.heading, str) else "",
        "limit_hint": outcome.limit_hint,
        # A page has the level of the reply it continues.
        "advice": outcome.advice.replace(ADVICE_FOR_LESS, ""),
        # A page is fitted at no level of its own, so it is told how far apart items of this one stand.
        "separator": separator_at(outcome, level),
        "items_name": outcome.items_name,
        "sequence": outcome.sequence,
        "already_shown": outcome.already_shown + shown,
        "blocks": [
            [block.name, block.section, block.text(shown_at), block.facts(shown_at), block.place, block.counted]
            for block, shown_at in blocks
        ],
        "rest": _frozen_rest(rest) if rest else None,
    }
    return _dump(state), ""


def _frozen_rest(rest: Rest) -> list[object]:
    price = rest.price if isinstance(rest.price, int) else dict(rest.price)
    return [rest.items, price, rest.resume, rest.state, None, rest.sections]


def _frozen_document(document: Document) -> tuple[str, str]:
    """The text itself when it is cut for the first time, and from then on a position in that."""
    place = {
        "name": document.name,
        "lines_before": document.lines_before,
        "fence": document.fence,
        "units": document.units,
        "profile": document.profile,
    }
    if not document.snapshot:
        return _dump({"document": document.text, **place}), ""
    return _dump({"page_of": document.snapshot, "offset": document.offset, **place}), document.snapshot


@tool(
    Command("more", ("key",), examples=("haversack more k7f2 --token-budget 2000",)),
    group="core",
    always_loaded=True,
    title="More of a reply",
)
def more(caller: Caller, *, key: Annotated[str, 'Key from a reply, e.g. "k7f2"; kept for 24 hours']) -> Outcome:
    """What an earlier reply left out: the next page under the same budget rules."""
    held = _fetched(caller, key)
    if "document" in held or "page_of" in held:
        return _document(caller, key, held)
    blocks = [_thawed(*each) for each in held["blocks"]]
    rest = _rest_at_level(caller, Rest(*held["rest"]), held["level"]) if held["rest"] else None

    def extend(rest: Rest) -> tuple[list[Block], Rest | None]:
        further, beyond = resuming(rest.resume)(caller, rest)
        level = held["level"]
        return [_at_level(block, level) for block in further], _rest_at_level(caller, beyond, level) if beyond else None

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
        sequence=held.get("sequence", False),
        goes_on=True,
        level=held["level"],
        extend=extend,
        brief=f"more({key}): {len(blocks)} {held['noun']}",
        on_sent=lambda _: caller.log.use_key(key),
    )


def _fetched(caller: Caller, key: str) -> dict[str, Any]:
    try:
        held: dict[str, Any] = json.loads(caller.stash.fetch(key)[0])
    except ValueError:
        # A snapshot of the workspace has a key too, which only its own pages use.
        raise ExpiredKey(f"{key[:40]!r} is not the key of a reply", hint="use the key a reply names") from None
    return held


def _document(caller: Caller, key: str, held: dict[str, Any]) -> Document:
    """The page of a key, from the text in which all pages are positions."""
    snapshot, offset = held.get("page_of", clean(key)), held.get("offset", 0)
    text = held["document"] if "document" in held else _fetched(caller, snapshot)["document"]
    return Document(
        text[offset:],
        name=held["name"],
        lines_before=held["lines_before"],
        fence=held["fence"],
        snapshot=snapshot,
        offset=offset,
        units=held.get("units"),
        profile=held.get("profile", ""),
        brief=f"more({key}): from line {held['lines_before'] + 1} of {held['name']}",
        on_sent=lambda _: caller.log.use_key(key),
    )


def _thawed(name: str, section: str, text: str, facts: Facts, place: int | None, counted: bool) -> Block:
    return Block(name, lambda _: text, lambda _: facts, section=section, place=place, counted=counted)


def _at_level(block: Block, level: str) -> Block:
    """The block at the level the first page had, whatever level this page is fitted at."""
    weight = block.weight
    return replace(
        block,
        text=lambda _: block.text(level),
        facts=lambda _: block.facts(level),
        weight=(lambda _: weight(level)) if weight else None,
    )


def _rest_at_level(caller: Caller, rest: Rest, level: str) -> Rest:
    """The rest priced at that level, by a sample of it, which no reply can keep for the next."""
    from_state = sampling(rest.resume)
    sample = rest.sample or (partial(from_state, caller, rest) if from_state else None)
    at_level = (lambda: [_at_level(block, level) for block in sample()]) if sample else None
    return replace(rest, price=rest.weight(level), sample=at_level)


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
