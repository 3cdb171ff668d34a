"""Fitting a foreign tool's result: the part that reaches the model is within the budget, the rest has a key."""

import json
from collections.abc import Mapping
from typing import Any

from haversack.errors import BudgetTooSmall
from haversack.gateway.fitting.bodies import Body, body_of, content_units, placeholder, shown_as_blocks
from haversack.gateway.fitting.delivery import Delivery
from haversack.gateway.fitting.meter import Meter, escaped, price, remembering
from haversack.gateway.fitting.prices import Binary
from haversack.gateway.fitting.views import View
from haversack.gateway.listing.schemas import KEY
from haversack.gateway.renderings import rendered
from haversack.gateway.settings import Structured
from haversack.protocol.spans import Member, Span, items, members, spliced, without
from haversack.tokens import Budget, Profile, cut
from haversack.tools.road.deliver import Asked, Reply
from haversack.tools.road.outcomes import NO_FACTS, Document
from haversack.values import record, replace
from haversack.worklog.stash import as_document

LONGEST_LINE = 4_000_000
"""Bytes of a line to the client: beyond it some clients drop the connection."""
_DEAREST_KEY = "7q7x7z"
_ANY = 10**9
_FOOTER = 120
"""Tokens set aside for the lines below the blocks that are shown whole."""
_SEAMS = 2
"""Units by which a text may cost more between two others than alone: its first and its last token are then others."""
_WIDEST_GAP = (
    f'\n[… 1,000,000 lines left out: more("{_DEAREST_KEY}"), ~1,000,000 tokens]\n\n📏 ~100,000 tokens\n'
    "[Budget Critical: ~100k tokens over. Complete or hand over now.]"
)
"""The most that stands between and below the two ends of an error."""


@record
class Rule:
    """How one result is fitted: its tool, its budget, and the channel that reaches the model."""

    tool: str
    tokens: int
    view: View = "content"
    structured: Structured = "widen"
    compress: bool = True
    arguments: Mapping[str, Any] = NO_FACTS
    whole_structured: bool = False


@record
class Fitted:
    """A result that was changed: its JSON text, and what the model pays for it."""

    text: str
    tokens: int


def fit_result(text: str, rule: Rule, delivery: Delivery) -> Fitted | int:
    """The result's JSON text fitted, or the tokens of what the model sees where nothing has to change."""
    found = members(text)
    result: dict[str, Any] = json.loads(text)
    if rule.structured == "strip" and "structuredContent" in found:
        text = spliced(text, [without(text, Span(0, len(text)), found, "structuredContent")])
        found = members(text)
        del result["structuredContent"]
        outcome = fit_result(text, rule, delivery)
        return outcome if isinstance(outcome, Fitted) else Fitted(text, outcome)
    return _Fitting(text, found, result, rule, delivery).outcome()


def passed_price(text: str, rule: Rule, delivery: Delivery) -> int:
    """The tokens a model pays for a result that was passed on as it came: a tool's, a resource's or a prompt's."""
    result = shown_as_blocks(json.loads(text))
    return _Fitting(text, {}, result, replace(rule, tokens=_ANY), delivery).visible() or 0


def fit_resource(text: str, rule: Rule, delivery: Delivery) -> str:
    """The JSON text of a `resources/read` result with each text content within the budget."""
    found = members(text)
    if "contents" not in found:
        return text
    changes: list[tuple[Span, str]] = []
    for span in items(text, found["contents"].value.start):
        content = members(text, span.start)
        if "text" not in content or _is_view(text, content):
            continue
        place = content["text"].value
        held = json.loads(text[place.start : place.end])
        meter = Meter(Budget(rule.tokens, delivery.profile))
        meter.add(held)
        if meter.is_over:
            document = Document(held, name=rule.tool, advice="", brief="cut")
            reply = delivery.deliver(rule.tool, rule.arguments, document, Asked(max_tokens=rule.tokens))
            changes.append((place, _json(reply.text)))
    return spliced(text, changes)


def _is_view(text: str, content: Mapping[str, Member]) -> bool:
    """Whether a resource is a view of an app, which a program shows and no model reads."""
    place = content["uri"].value if "uri" in content else Span(0, 0)
    return text[place.start : place.end].startswith('"ui://')


class _Fitting:
    """The fitting of one result to one budget."""

    def __init__(
        self, text: str, found: Mapping[str, Member], result: Mapping[str, Any], rule: Rule, delivery: Delivery
    ) -> None:
        self.text, self.found, self.result, self.rule, self.delivery = text, found, result, rule, delivery
        self.profile = delivery.profile
        content = result.get("content")
        self.content: list[Any] = content if isinstance(content, list) else []
        self.keeps_structured = rule.structured == "keep" or rule.whole_structured
        # Clients take a value of null for none at all, and show the content.
        self.has_structured = result.get("structuredContent") is not None and not self.keeps_structured
        self.in_structured = self.has_structured and rule.view == "structured"

    def outcome(self) -> Fitted | int:
        tokens = self.visible()
        too_long = len(self.text) > LONGEST_LINE and any(
            isinstance(block, dict) and block.get("type") in ("image", "audio", "resource") for block in self.content
        )
        if tokens is not None and not too_long:
            return tokens
        return self._cut()

    def visible(self) -> int | None:
        """The tokens of what the model sees; None when they are over the budget."""
        meter = Meter(Budget(self.rule.tokens, self.profile))
        if self.has_structured and self.rule.view in ("structured", "both"):
            meter.add(self._structured_text())
        if not self.in_structured:
            for block in self.content:
                content_units(block, meter, self.profile)
        return None if meter.is_over else meter.tokens

    def _structured_text(self) -> str:
        """The structured value as clients print it: without white space."""
        try:
            return json.dumps(self.result["structuredContent"], ensure_ascii=False, separators=(",", ":"))
        except (RecursionError, ValueError):
            return self._raw("structuredContent")

    def _raw(self, name: str) -> str:
        span = self.found[name].value
        return self.text[span.start : span.end]

    def _cut(self) -> Fitted:
        raw = self._raw("structuredContent") if self.has_structured else ""
        structured = self.result.get("structuredContent")
        body = body_of(self.content, structured, raw, self.profile, first_structured=self.in_structured)
        whole = body.whole(self._keep_block)
        original = self.delivery.keep(as_document(whole, self.rule.tool), self.rule.tool, self.rule.arguments)
        shown, text = self._shown_blocks(body, whole)
        reply = self._reply(text, original, self._channel(shown))
        if reply is None and shown:
            # Beside them there is not even room for the way to the rest.
            shown = []
            reply = self._reply(whole, original, self._channel(shown))
        fitted, tokens = (reply.text, reply.tokens) if reply else self._bare(whole, original, self._channel(shown))
        return Fitted(self._rewritten(shown, fitted, original), tokens)

    def _bare(self, text: str, original: str, profile: Profile) -> tuple[str, int]:
        """The price of a text and its key, where there is no room for anything else."""
        whole = price(self.profile, text)
        line = f"[~{whole:,} tokens: {_stub(original)}]"
        if (tokens := self._bare_price(line, original, profile)) > self.rule.tokens:
            line = _stub(original)
            tokens = self._bare_price(line, original, profile)
        self.delivery.note(self.rule.tool, self.rule.arguments, line, tokens, max(whole - tokens, 1))
        return line, tokens

    def _bare_price(self, line: str, original: str, profile: Profile) -> int:
        if not self.in_structured:
            return profile.count(line)
        # Nothing is added to it, so that both channels can be counted as they will be sent.
        measure = self.profile.measure
        return self.profile.tokens(measure(_structured_form(line, original)) + measure(_stub(original)))

    def _shown_blocks(self, body: Body, whole: str) -> tuple[list[dict[str, Any]], str]:
        """The blocks shown whole, and the text that is to be fitted after them."""
        if self.in_structured or self.result.get("isError") or len(body.parts) == 1:
            return [], whole
        room = self.rule.tokens - min(_FOOTER, self.rule.tokens // 2)
        budget = Budget(max(room, 1), replace(self.profile, overhead=0))
        shown: list[dict[str, Any]] = []
        lines: list[str] = []
        spent = size = 0
        for place, part in enumerate(body.parts):
            meter = Meter(replace(budget, tokens=max(room - spent, 1)))
            if part.binary is not None:
                meter.add_tokens(part.binary.tokens)
                too_large = size + part.binary.size > LONGEST_LINE * 3 // 4
            else:
                meter.add(part.text)
                too_large = False
            if not meter.is_over and not too_large and part.block is not None:
                shown.append(part.block)
                spent += meter.tokens
                size += part.binary.size if part.binary else len(part.text)
            elif part.binary is not None and part.block is not None:
                lines.append(placeholder(part.binary, self._keep_block(part.block, part.binary)))
            else:
                # Keys of pictures after a text that fills the reply are printed before it.
                after = replace(body, parts=body.parts[place:])
                return shown, "\n".join([*lines, after.whole(self._keep_block, binaries_first=True)])
        return shown, "\n".join(lines)

    def _channel(self, shown: list[dict[str, Any]]) -> Profile:
        """The profile that prices the text in its channel, with all that is sent beside it."""
        measure = self.profile.measure
        overhead = 0
        if self.in_structured:
            around = _structured_form("…", _DEAREST_KEY).split("…")
            overhead += sum(map(measure, around)) + _SEAMS + measure(_stub(_DEAREST_KEY))
        elif self.has_structured:
            overhead += measure(_structured_form(None, _DEAREST_KEY))
        meter = Meter(Budget(10**9, self.profile))
        for block in shown:
            content_units(block, meter, self.profile)
        channel = escaped(self.profile) if self.in_structured else self.profile
        return remembering(replace(channel, overhead=overhead + meter.units))

    def _reply(self, text: str, original: str, profile: Profile) -> Reply | None:
        """The text within the budget, beside all else that is sent; None where none of it fits."""
        rule, delivery, source = self.rule, self.delivery, text
        if self.result.get("isError"):
            text = self._ends(text, profile, original)
        elif rule.compress and (rendering := rendered(text)) is not None:
            text = f'[{rendering.about}; original: find_in("{original}")]\n{rendering.text}'
        document = Document(
            text,
            name=rule.tool,
            advice=f'find_in("{original}", query) searches all of it.',
            brief="cut",
        )
        asked = Asked(max_tokens=rule.tokens, profile=profile)
        # The account keeps what a shorter form stands for.
        whole = 0 if text is source else price(self.profile, source)
        try:
            reply = delivery.deliver(rule.tool, rule.arguments, document, asked, whole_tokens=whole)
        except BudgetTooSmall:
            return None
        if reply.left:
            delivery.link(reply.left.key, original)
        return reply

    def _ends(self, text: str, profile: Profile, original: str) -> str:
        """The first third and the last two thirds of an error; the middle is stashed under a key."""
        budget = Budget(self.rule.tokens, profile)
        room = budget.units - profile.measure(_WIDEST_GAP)
        if room < 30:
            return text
        head = cut(text, room // 3, profile.measure)
        tail = _last_lines(head.rest, room - room // 3 - 4, profile)
        middle = head.rest[: len(head.rest) - len(tail)]
        if not middle:
            return text
        key = self.delivery.keep(as_document(middle, self.rule.tool), self.rule.tool, self.rule.arguments)
        self.delivery.link(key, original)
        lines = middle.count("\n") + (not middle.endswith("\n"))
        gap = f'[… {lines:,} lines left out: more("{key}"), ~{price(self.profile, middle):,} tokens]'
        return f"{head.shown.rstrip(chr(10))}\n{gap}\n{tail}"

    def _rewritten(self, shown: list[dict[str, Any]], reply: str, original: str) -> str:
        """The result's JSON text with the fitted channels in place of the upstream's."""
        changes: list[tuple[Span, str]] = []
        if self.in_structured:
            content: list[Any] = [{"type": "text", "text": _stub(original)}]
            changes.append((self.found["structuredContent"].value, _structured_form(reply, original)))
        else:
            content = [*shown, self._text_block(reply)]
            if self.has_structured:
                changes.append((self.found["structuredContent"].value, _structured_form(None, original)))
        written = _json(content)
        if "content" in self.found:
            changes.append((self.found["content"].value, written))
        elif not self.in_structured:
            changes.append((Span(1, 1), f'"content":{written}{"," if self.found else ""}'))
        return spliced(self.text, changes)

    def _text_block(self, reply: str) -> dict[str, Any]:
        """The fitted text as a block; a result's only text keeps its annotations and metadata."""
        if len(self.content) == 1 and isinstance(self.content[0], dict):
            block = self.content[0]
            if block.get("type") == "text":
                return {**block, "text": reply}
            resource = block.get("resource")
            if block.get("type") == "resource" and isinstance(resource, dict) and "text" in resource:
                return {**block, "resource": {**resource, "text": reply}}
        return {"type": "text", "text": reply}

    def _keep_block(self, block: Mapping[str, Any], binary: Binary) -> str:
        """The key under which `more` gives a block as it is."""
        if block.get("type") == "text":
            return self.delivery.keep(as_document(block["text"], self.rule.tool), self.rule.tool, self.rule.arguments)
        label = f"[{binary.label}, ~{binary.tokens:,} tokens]"
        # Read by a `more` that knows only text, the key gives the label.
        held = {"document": label, "name": self.rule.tool, "lines_before": 0, "fence": "", "block": block}
        return self.delivery.keep(json.dumps(held), self.rule.tool, self.rule.arguments)


def _last_lines(text: str, room: int, profile: Profile) -> str:
    """The longest end of a text, in whole lines, that measures at most `room`."""
    lines = text.splitlines(keepends=True)
    taken: list[str] = []
    for line in reversed(lines):
        room -= profile.measure(line)
        if room < 0:
            break
        taken.append(line)
    if not taken and lines:
        # The last line alone is too long: its end is what says most.
        line, size = lines[-1], 64
        while size < len(line) and profile.measure(line[-2 * size :]) <= room + profile.measure(line):
            size *= 2
        return line[-min(size, len(line)) :]
    return "".join(reversed(taken))


def _structured_form(text: str | None, key: str) -> str:
    held = {"more": key} if text is None else {"text": text, "more": key}
    return _json({KEY: held})


def _stub(key: str) -> str:
    return f'more("{key}")'


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        # Halves of surrogate pairs go back as the escapes they came as.
        return json.dumps(value, separators=(",", ":"))
    return text


__all__ = ["LONGEST_LINE", "Fitted", "Rule", "fit_resource", "fit_result", "passed_price"]
