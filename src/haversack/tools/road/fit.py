"""Fitting: a result and a budget in, a reply within the budget out. The single exit every reply leaves by."""

from collections.abc import Callable, Sequence
from functools import cache
from math import ceil

from haversack.errors import BudgetTooSmall
from haversack.tokens import Budget, Candidate, Choice, LeftOut, cut, pack, pack_auto
from haversack.tokens.footers import LONG_FORM_FROM, SHORT_FORM_BELOW
from haversack.tools.road.layouts import Frame, JsonLayout, Layout, Piece, TextLayout
from haversack.tools.road.outcomes import LEVELS, NO_FACTS, Block, Document, Facts, Rest, Result
from haversack.values import record, replace

# A key is at most six characters and digits between letters keep them apart: no key costs more than this one.
_DEAREST_KEY = "7q7x7z"
WORTH = {"summary": 0.35, "standard": 0.75, "full": 1.0}
"""What the renderings of a block are worth beside each other."""
# More than all other blocks together, so that a mixture begins with what the call is about.
_FIRST = 1e6
# At these budgets the footer itself grows by a digit.
_STEPS = tuple(10**digits for digits in range(2, 10))


@record
class Remainder:
    """What a reply left out, to be stashed: blocks with their level, or the rest of a document."""

    blocks: tuple[tuple[Block, str], ...] = ()
    rest: Rest | None = None
    document: Document | None = None


@record
class Reply:
    """A reply that fits, with the facts its footer states."""

    text: str
    tokens: int
    shown: int = 0
    total: int = 0
    left: LeftOut | None = None
    names: tuple[str, ...] = ()


Stasher = Callable[[Remainder], str]


def fit(result: Result, budget: Budget, level: str, layout: Layout, stash: Stasher) -> Reply:
    """The best of a result within the budget, in rank order; what is left out is stashed and priced."""
    fitting = _Fitting(result, budget, level, layout, stash)
    return fitting.reply() or fitting.bare_reply()


class _Fitting:
    """One result on its way into one budget."""

    def __init__(self, result: Result, budget: Budget, level: str, layout: Layout, stash: Stasher) -> None:
        self.result, self.budget, self.level, self.layout, self.stash = result, budget, level, layout, stash
        self.measure = budget.profile.measure
        self.frame = Frame(0, budget.tokens, 0, False, None)
        # First things first: what the call is about leads the ranking.
        remembering = [_remembering(block) for block in result.blocks]
        self.blocks = sorted(remembering, key=lambda block: not block.required)
        self.levels = LEVELS if level == "auto" else (level,)
        self.costs = [
            tuple(self.measure(layout.item(result, Piece(block, each))) for each in self.levels)
            for block in self.blocks
        ]
        self.rank = {id(block): rank for rank, block in enumerate(remembering)}
        self.cost_at = {
            (id(block), each): cost
            for block, costs in zip(self.blocks, self.costs, strict=True)
            for each, cost in zip(self.levels, costs, strict=True)
        }
        self.cheapest = {id(block): costs[0] for block, costs in zip(self.blocks, self.costs, strict=True)}
        self.headings = {block.section: self.measure(layout.section(block)) for block in self.blocks}

    def reply(self) -> Reply | None:
        """The reply with its whole frame; None when the budget is too small for that."""
        everything = self._everything()
        if everything is not None:
            return everything
        room = self._room()
        for _ in range(8):
            pieces, left_out = self._pack(room)
            reply = self._compose(pieces, left_out, cut_by_budget=True)
            if reply.tokens <= self.budget.tokens:
                return reply
            # Pieces that do not begin cleanly may cost a little more together than one by one.
            room -= self.budget.profile.room(reply.tokens - self.budget.tokens) + 1
        return None

    def bare_reply(self) -> Reply:
        """The smallest reply: no heading, the beginning of what the call is about, and the way to the rest.

        Nothing else enters, although a title might: a larger budget, which pays for the heading, has no room for it.
        """
        full = self.result
        self.frame = replace(self.frame, bare=True)
        lead = [block for block in self.blocks if block.required]
        room = self.budget.units
        while room > 0:
            empty = cut(full.empty, room, self.measure).shown
            self.result = replace(full, heading="", facts=NO_FACTS, lists_omitted=False, empty=empty)
            pieces = [self._beginning(block, room) for block in lead]
            reply = self._compose(pieces, self.blocks[len(lead) :], cut_by_budget=full.total > 0)
            if reply.tokens <= self.budget.tokens:
                return reply
            room = min(room - 1, room - self.budget.profile.room(reply.tokens - self.budget.tokens))
        raise BudgetTooSmall(
            f"max_tokens is {self.budget.tokens}, too small for this reply's frame", hint="ask for 256 or more"
        )

    def _everything(self) -> Reply | None:
        """The reply with every block at the richest level, when that fits."""
        richest = len(self.levels) - 1
        used = sum(costs[richest] for costs in self.costs) + sum(self.headings.values())
        if used > self.budget.units:
            return None
        pieces = [Piece(block, self.levels[richest]) for block in self.blocks]
        rest = self.result.rest
        probe = LeftOut(_DEAREST_KEY, rest.items, rest.price) if rest else None
        if self._compose_with(pieces, probe, cut_by_budget=False).tokens > self.budget.tokens:
            return None
        reply = self._compose(pieces, [], cut_by_budget=False)
        return reply if reply.tokens <= self.budget.tokens else None

    def _room(self) -> int:
        """Units for the items: the budget less its frame, and never more than a larger budget would have.

        The frame grows in steps (another digit, a warning). Without the second condition a slightly larger budget
        could show less.
        """
        steps = (*_STEPS, SHORT_FORM_BELOW) if self.layout.notes.alert or self.layout.notes.reason else _STEPS
        near = [step for step in steps if self.budget.tokens < step < self.budget.tokens + 96]
        return min(self._room_at(tokens) for tokens in (self.budget.tokens, *near))

    def _room_at(self, tokens: int) -> int:
        budget = replace(self.budget, tokens=tokens)
        left = LeftOut(_DEAREST_KEY, self.result.total, self._price_of_everything())
        frame = Frame(tokens, tokens, self.result.total, True, left, allows=self.layout.notes.spendable)
        sections = sum(self.headings.values()) if self.level == "auto" else 0
        room = budget.units - self.measure(self.layout.reply(self.result, [], frame)) - sections
        if not SHORT_FORM_BELOW <= tokens < LONG_FORM_FROM:
            return room
        # The room for the long form is set aside little by little, or a slightly larger budget would show less.
        short = self.measure(self.layout.reply(self.result, [], replace(frame, short=True)))
        larger = budget.units - short - sections
        progress = (tokens - SHORT_FORM_BELOW) / (LONG_FORM_FROM - SHORT_FORM_BELOW)
        return larger - ceil((larger - room) * progress)

    def _pack(self, room: int) -> tuple[list[Piece], list[Block]]:
        lead: list[Piece] = []
        for block in self.blocks:
            if not block.required or (self.level == "auto" and self._cost(Piece(block, LEVELS[0])) <= room):
                break
            piece = self._leading_piece(block, room)
            room -= self._cost(piece)
            lead.append(piece)
        others = self.blocks[len(lead) :]
        costs = self.costs[len(lead) :]
        opened = {piece.block.section for piece in lead}
        candidates = [
            Candidate(
                tuple(
                    Choice(cost, block.worth * WORTH[level] + _FIRST * block.required)
                    for cost, level in zip(each, self.levels, strict=True)
                ),
                "" if block.section in opened else block.section,
                self.headings[block.section],
            )
            for block, each in zip(others, costs, strict=True)
        ]
        chosen = (pack_auto if self.level == "auto" else pack)(candidates, room).chosen
        pieces, left_out = lead, []
        for block, choice in zip(others, chosen, strict=True):
            if choice is None:
                left_out.append(block)
            else:
                pieces.append(Piece(block, self.levels[choice]))
        return pieces, left_out

    def _leading_piece(self, block: Block, room: int) -> Piece:
        """A required block at the richest level that fits, up to the one asked for; at worst its beginning."""
        highest = LEVELS.index(self.levels[-1]) if self.levels[-1] in LEVELS else 0
        for level in reversed(LEVELS[: highest + 1]):
            piece = Piece(block, level)
            if self._cost(piece) <= room:
                return piece
        return self._beginning(block, room - self.headings[block.section] - self.measure("…\n\n"))

    def _beginning(self, block: Block, room: int) -> Piece:
        title = block.text("summary").split("\n")[0]
        beginning = cut(title, max(room, 1), self.measure).shown.rstrip()
        return Piece(block, "summary", (beginning if beginning.startswith(block.name) else block.name) + "…")

    def _cost(self, piece: Piece) -> int:
        return self.measure(self.layout.item(self.result, piece)) + self.headings[piece.block.section]

    def _compose(self, pieces: list[Piece], left_out: list[Block], *, cut_by_budget: bool) -> Reply:
        left = None
        rest = self.result.rest
        if left_out or rest:
            base = self.levels[0]
            key = self.stash(Remainder(tuple((block, base) for block in left_out), rest))
            left = LeftOut(key, len(left_out) + (rest.items if rest else 0), self._price(left_out))
        if not self.result.lists_omitted or isinstance(self.layout, TextLayout):
            return self._compose_with(pieces, left, cut_by_budget=cut_by_budget)
        return self._naming_omitted(pieces, left, left_out, cut_by_budget=cut_by_budget)

    def _naming_omitted(
        self, pieces: list[Piece], left: LeftOut | None, left_out: list[Block], *, cut_by_budget: bool
    ) -> Reply:
        """The reply with as many of the left-out blocks named as there is room for."""
        assert isinstance(self.layout, JsonLayout)
        profile = self.budget.profile
        names = [
            {**{k: v for k, v in block.facts("summary").items() if k in {"id", "title"}},
             "tokens": profile.tokens(self.cheapest[id(block)])}
            for block in left_out
        ]  # fmt: skip
        reply = self._compose_with(pieces, left, cut_by_budget=cut_by_budget)
        room = profile.room(self.budget.tokens - reply.tokens)
        count = 0
        while count < len(names) and (room := room - self.measure(self.layout.listed(names[count]))) >= 0:
            count += 1
        # Measured one by one they may cost a little less than together.
        while count:
            with_names = self._compose_with(pieces, left, cut_by_budget=cut_by_budget, omitted=tuple(names[:count]))
            if with_names.tokens <= self.budget.tokens:
                return with_names
            count -= 1
        return reply

    def _compose_with(
        self, pieces: list[Piece], left: LeftOut | None, *, cut_by_budget: bool, omitted: tuple[Facts, ...] = ()
    ) -> Reply:
        shown = sum(piece.block.counted for piece in pieces)
        units = sum(self.cost_at.get((id(piece.block), piece.level), 0) for piece in pieces)
        allows = self.layout.notes.allows(shown, self.budget.profile.tokens(units))
        frame = replace(self.frame, shown=shown, cut_by_budget=cut_by_budget, left=left, omitted=omitted, allows=allows)
        ordered = sorted(pieces, key=lambda piece: self.rank[id(piece.block)])

        def written(frame: Frame) -> Reply:
            return _settled(
                lambda now: self.layout.reply(self.result, ordered, now), frame, self.budget, self.result.total
            )

        reply = written(frame)
        if reply.tokens > self.budget.tokens >= SHORT_FORM_BELOW and self.budget.tokens < LONG_FORM_FROM:
            reply = written(replace(frame, short=True))
        return replace(reply, names=tuple(piece.block.name for piece in ordered))

    def _price(self, blocks: Sequence[Block]) -> int:
        units = sum(self.cheapest[id(block)] for block in blocks)
        return self.budget.profile.tokens(units) + (self.result.rest.price if self.result.rest else 0)

    def _price_of_everything(self) -> int:
        return self._price(self.blocks)


def _remembering(block: Block) -> Block:
    """The block with each rendering made only once, however often the reply is put together."""
    return replace(block, text=cache(block.text), facts=cache(block.facts))


def _settled(write: Callable[[Frame], str], frame: Frame, budget: Budget, total: int) -> Reply:
    """The reply whose stated figure is its own cost: writing the figure may change the cost, so it is repeated."""
    tokens = 0
    for _ in range(12):
        text = write(replace(frame, tokens=tokens))
        cost = budget.profile.count(text)
        if cost == tokens:
            break
        tokens = max(cost, tokens)
    return Reply(text, cost, frame.shown, total, frame.left)


def fit_document(document: Document, budget: Budget, layout: Layout, stash: Stasher) -> Reply:
    """The first page of a document within the budget; the rest is stashed and priced."""
    lines = document.text.count("\n") + bool(document.text and not document.text.endswith("\n"))
    total = document.lines_before + lines
    whole = Frame(budget.tokens, budget.tokens, lines, False, None)
    if len(document.text) <= 64 * budget.tokens:
        shown = document.text
        if isinstance(layout, TextLayout):
            shown = cut(document.text, 10**12, budget.profile.measure, fence=document.fence).shown
        reply = _settled(lambda now: layout.document(document, shown, now, total), whole, budget, total)
        if reply.tokens <= budget.tokens:
            return reply
    frame = Frame(budget.tokens, budget.tokens, total, True, None)
    for each in (frame, replace(frame, bare=True)):
        page = _first_page(document, budget, layout, stash, each)
        if page is not None:
            return page
    raise BudgetTooSmall(
        f"max_tokens is {budget.tokens}, too small for a page of this document", hint="ask for 256 or more"
    )


def _first_page(document: Document, budget: Budget, layout: Layout, stash: Stasher, frame: Frame) -> Reply | None:
    profile, total = budget.profile, frame.shown
    worst = LeftOut(_DEAREST_KEY, total, profile.count(document.text[:100_000]) * (1 + len(document.text) // 100_000))
    empty = replace(frame, left=worst, allows=layout.notes.spendable)
    room = budget.units - profile.measure(layout.document(document, "", empty, total)) - 2
    as_json = isinstance(layout, JsonLayout)

    def measure(page: str) -> int:
        if as_json:
            from json import dumps

            return profile.measure(dumps(page, ensure_ascii=False))
        return profile.measure(page)

    for _ in range(8):
        page = cut(document.text, max(room, 1), measure, fence=document.fence)
        taken = document.text[: len(document.text) - len(page.rest)]
        lines = taken.count("\n")
        after = replace(
            document, text=page.rest, lines_before=document.lines_before + lines, fence=page.fence, brief=""
        )
        # Long remainders are priced by the page just measured: counting megabytes to print one figure is waste.
        price = (
            profile.count(page.rest)
            if len(page.rest) < 100_000
            else max(1, profile.tokens(measure(page.shown)) * len(page.rest) // max(len(taken), 1))
        )
        left = LeftOut(stash(Remainder(document=after)), total - after.lines_before, price)
        allows = layout.notes.allows(lines, profile.tokens(measure(page.shown)))
        now = replace(frame, tokens=0, shown=max(lines, 1 if taken else 0), left=left, allows=allows)
        # A program that reads JSON puts the pages together again, so it gets the text as it is.
        shown = taken if as_json else page.shown
        reply = _settled(lambda now, shown=shown: layout.document(document, shown, now, total), now, budget, total)  # type: ignore[misc]
        if reply.tokens <= budget.tokens and taken:
            return reply
        room -= profile.room(max(reply.tokens - budget.tokens, 1)) + 1
    return None


__all__ = ["JsonLayout", "Remainder", "Reply", "TextLayout", "fit", "fit_document"]
