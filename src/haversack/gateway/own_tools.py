"""The tools the gateway adds to those of the upstream: `more` and `find_in`."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from haversack.errors import BudgetTooSmall, HaversackError, InvalidArgument
from haversack.gateway.fitting.delivery import Delivery
from haversack.gateway.fitting.prices import binary
from haversack.gateway.fitting.results import LONGEST_LINE
from haversack.gateway.searches import at_path, lines_of, matches
from haversack.gateway.upstream.spool import Spools
from haversack.tokens import Budget, parse_max_tokens
from haversack.tools.road.deliver import Asked
from haversack.tools.road.outcomes import Document
from haversack.worklog.stash import clean

MORE, FIND_IN = "more", "find_in"
_PREFIX = "haversack_"
_TOKENS = {"max_tokens": {"type": "integer"}}


def definitions(taken: Iterable[str], hours: int) -> list[dict[str, Any]]:
    """The two tools as they are listed; a name the upstream has gets a prefix."""
    names = own_names(taken)
    key = {"key": {"type": "string"}}
    text = {"type": "string"}
    return [
        {
            "name": names[MORE],
            "description": f"Next page of a cut reply; keys last {hours} h",
            "inputSchema": {"type": "object", "properties": {**key, **_TOKENS}, "required": ["key"]},
            "annotations": {"readOnlyHint": True},
        },
        {
            "name": names[FIND_IN],
            "description": 'Search a cut reply: words or regex, lines "9-20", path "$.rows[:9]"',
            "inputSchema": {
                "type": "object",
                "properties": {**key, "query": text, "lines": text, "path": text, **_TOKENS},
                "required": ["key"],
            },
            "annotations": {"readOnlyHint": True},
        },
    ]


def own_names(taken: Iterable[str]) -> dict[str, str]:
    """The name of each own tool, distinct from the upstream's tools."""
    others = set(taken)
    return {name: _PREFIX + name if name in others else name for name in (MORE, FIND_IN)}


class OwnTools:
    """Answers calls of the own tools."""

    def __init__(self, delivery: Delivery, spools: Spools) -> None:
        self._delivery = delivery
        self._spools = spools

    def knows(self, arguments: Any) -> bool:
        """Whether the key of a call is one this gateway gave."""
        key = arguments.get("key") if isinstance(arguments, dict) else None
        if not isinstance(key, str):
            return False
        try:
            return self._spools.knows(clean(key)) or bool(self._delivery.fetch(key))
        except HaversackError:
            return False

    def answer(self, tool: str, arguments: Any, ceiling: int | None) -> dict[str, Any]:
        """The result of a call; anything wrong is a result a model can act on."""
        try:
            return self._answer(tool, arguments, ceiling)
        except HaversackError as error:
            return failed(f"{error.code}: {error}")

    def _answer(self, tool: str, arguments: Any, ceiling: int | None) -> dict[str, Any]:
        given = dict(arguments) if isinstance(arguments, dict) else {}
        key, asked = given.pop("key", None), given.pop("max_tokens", None)
        if not isinstance(key, str) or not clean(key):
            raise InvalidArgument(f"{tool} needs key, the one a reply gave", hint=f'{tool}("k7f2")')
        tokens = self._tokens(tool, asked, ceiling)
        if tool == MORE:
            _refuse_others(tool, given, ())
            return self._more(clean(key), tokens)
        _refuse_others(tool, given, ("query", "lines", "path"))
        return self._find_in(clean(key), given, tokens)

    def _tokens(self, tool: str, asked: object, ceiling: int | None) -> int:
        if asked is not None:
            return parse_max_tokens(asked)
        allowed = self._delivery.allocation(tool)
        return min(allowed, ceiling) if ceiling else allowed

    def _more(self, key: str, tokens: int) -> dict[str, Any]:
        delivery = self._delivery
        if self._spools.knows(key):
            return self._sent(MORE, key, self._spools.page(key, Budget(tokens, delivery.profile)))
        held = json.loads(delivery.fetch(key))
        if "block" in held:
            return self._block(key, held["block"], tokens)
        from haversack.tools.road.call import call

        holder = delivery.holder(key)
        reply = call(holder, MORE, {"key": key, "max_tokens": tokens})
        if holder is not delivery.caller:
            delivery.debit(reply.tokens)
        if reply.left:
            delivery.link(reply.left.key, delivery.original_of(key))
        return text_result(reply.text)

    def _block(self, key: str, block: Mapping[str, Any], tokens: int) -> dict[str, Any]:
        held = binary(block, self._delivery.profile)
        assert held is not None
        if held.size > LONGEST_LINE:
            raise InvalidArgument(f"{held.label} has {held.size:,} characters, more than clients take in one message")
        if held.tokens > tokens:
            raise BudgetTooSmall(
                f"{held.label} costs ~{held.tokens:,} tokens, more than the {tokens:,} allowed",
                hint=f"call more with max_tokens={held.tokens}",
            )
        self._delivery.note(MORE, {"key": key}, f"[{held.label}]", held.tokens)
        return {"content": [block]}

    def _find_in(self, key: str, given: Mapping[str, Any], tokens: int) -> dict[str, Any]:
        how = {name: value for name, value in given.items() if value not in (None, "")}
        if len(how) != 1 or not isinstance(wanted := next(iter(how.values())), str):
            raise InvalidArgument("find_in needs one of query, lines, path, as text", hint='find_in("k7f2", "words")')
        name = next(iter(how))
        if self._spools.knows(key):
            if name != "query":
                raise InvalidArgument(f"this result is too long for {name}", hint="use query, or more for its pages")
            return self._fitted(self._spools.find(key, wanted), 0, tokens, key)
        held = json.loads(self._delivery.fetch(self._delivery.original_of(key)))
        if "page_of" in held:
            held = json.loads(self._delivery.fetch(held["page_of"]))
        text, before = held.get("document"), held.get("lines_before", 0)
        if not isinstance(text, str):
            raise InvalidArgument(f"what {key!r} stands for is a list, not one text", hint=f'more("{key}") pages it')
        if name == "lines":
            text, before = lines_of(text, wanted)
        else:
            text, before = (matches if name == "query" else at_path)(text, wanted), 0
        return self._fitted(text, before, tokens, key)

    def _fitted(self, text: str, before: int, tokens: int, key: str) -> dict[str, Any]:
        document = Document(text, name=FIND_IN, lines_before=before, brief=f"find_in({key})")
        reply = self._delivery.deliver(FIND_IN, {}, document, Asked(max_tokens=tokens))
        return text_result(reply.text)

    def _sent(self, tool: str, key: str, text: str) -> dict[str, Any]:
        self._delivery.note(tool, {"key": key}, text, self._delivery.profile.count(text))
        return text_result(text)


def text_result(text: str) -> dict[str, Any]:
    """A tool's result that is one text."""
    return {"content": [{"type": "text", "text": text}]}


def failed(message: str) -> dict[str, Any]:
    """A tool's result that says what went wrong."""
    return {"content": [{"type": "text", "text": message}], "isError": True}


def _refuse_others(tool: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            known_too = ", ".join(("key", *known, "max_tokens"))
            raise InvalidArgument(f"{tool} has no parameter {name[:80]!r}", hint=f"parameters: {known_too}")
