"""Fitting: from a result and a budget to a reply within the budget and its remainder; nothing is read or written."""

from collections.abc import Sequence
from functools import cache

from haversack.errors import BudgetTooSmall
from haversack.tokens import Budget, Candidate, Choice, LeftOut, cut, pack_auto
from haversack.tokens.footers import ALERT_FROM, LONG_FORM_FROM
from haversack.tools.road.drafts import DEAREST_KEY, Draft, Remainder, Reply, settle
from haversack.tools.road.layouts import Frame, JsonLayout, Layout, Piece, TextLayout, in_order
from haversack.tools.road.outcomes import LEVELS, NO_FACTS, Block, Facts, Result
from haversack.tools.road.prices import Prices
from haversack.values import replace

WORTH = {"summary": 0.35, "standard": 0.75, "full": 1.0}
"""The relative worth of a block's renderings."""
# More than all other blocks together, so that a mixture begins with what the call is about.
_FIRST = 1e6
# At these budgets the footer itself grows: by a digit, by a sentence, by a warning.
_STEPS = (*(10**digits for digits in range(2, 10)), LONG_FORM_FROM, ALERT_FROM)
_LONGEST_NAME = 60
"""Characters of a block's name that stand for it where its rendering does not fit."""
_HEAVIER = 2
"""A block whose weight exceeds the room by this factor is not rendered, since it will not fit."""


def fit(result: Result, budget: Budget, level: str, layout: Layout) -> Draft:
    """The best of a result within the budget, in rank order; what is left out is priced.

    Each block is rendered at most once at a level, and only where it may be shown or its price must be known.
    """
    fitting = _Fitting(result, budget, level, layout)
    return fitting.everything() or fitting.cut() or fitting.least()


class _Fitting:
    """The fitting of one result to one budget."""

    def __init__(self, result: Result, budget: Budget, level: str, layout: Layout) -> None:
        self.result, self.budget, self.level, self.layout = result, budget, level, layout
        self.profile, self.measure = budget.profile, budget.profile.measure
        self.frame = Frame(0, budget.tokens, 0, False, None, level)
        remembering = [_remembering(block) for block in result.blocks]
        self.rank = {id(block): rank for rank, block in enumerate(remembering)}
        # First things first: what the call is about leads the ranking.
        self.blocks = sorted(remembering, key=lambda block: not block.required)
        self.levels = LEVELS if level == "auto" else (level,)
        self.prices = Prices(result, self.levels[0], layout, budget.profile)

    def everything(self) -> Draft | None:
        """The reply with every block at the richest level, when that fits, and the asides if there is room."""
        draft = self._whole()
        if draft is None and self.result.aside:
            # No item gives way to it, so that a larger budget never shows fewer of them.
            self.result = replace(self.result, aside=None)
            draft = self._whole()
        return draft

    def _whole(self) -> Draft | None:
        level, used, opened = self.levels[-1], 0, {""}
        for block in self.blocks:
            used += self.prices.cost(block, level) + self.prices.opening(block, opened)
            if used > self.budget.units:
                return None
        return self._checked([Piece(block, level) for block in self.blocks], [], cut_by_budget=False)

    def cut(self) -> Draft | None:
        """The reply with what fits in the rendering asked for; None when nothing does."""
        room = self._room()
        for _ in range(8):
            pieces, left_out = self._pack(room)
            if self.blocks and not pieces:
                return None
            draft, over = self._draft(pieces, left_out, cut_by_budget=True)
            if over <= 0:
                return draft
            # Pieces that do not begin cleanly may cost a little more together than one by one.
            room -= self.profile.room(over) + 1
        return None

    def least(self) -> Draft:
        """The smallest reply: one block in its cheapest rendering, else its beginning, and the key of the rest.

        The block is what the call is about, else the one that would fit first in a larger budget: a larger
        budget shows that one too, or one that ranks before it.
        """
        lead = [block for block in self.blocks if block.required]
        if not lead and self.blocks:
            lead = [self.blocks[0] if self.result.sequence else min(self.blocks, key=self._level_cost)]
        others = [block for block in self.blocks if block not in lead]
        cheapest = [Piece(block, LEVELS[0]) for block in lead]
        whole = self.result
        is_cut = bool(others) or whole.total > 0
        for bare in (False, True):
            self.frame = replace(self.frame, bare=bare)
            if draft := self._checked(cheapest, others, cut_by_budget=is_cut):
                return draft
        self.result = replace(whole, heading="", lean_heading=None, facts=NO_FACTS, lists_omitted=False)
        # The heading of a section may be as long as a path: the block's own beginning comes before it.
        alone = [replace(block, section="") for block in lead]
        self.rank |= {id(bare): self.rank[id(block)] for bare, block in zip(alone, lead, strict=True)}
        room = self.budget.units
        while room > 0:
            self.result = replace(self.result, empty=cut(whole.empty, room, self.measure).shown)
            # The name stands for the block, at worst its first letter: below the room for that nothing can be shown.
            names = [cut(_short_name(block), room, self.measure).shown.rstrip() or block.name[:1] for block in alone]
            pieces = [self._beginning(block, room, name) for block, name in zip(alone, names, strict=True)]
            draft, over = self._draft(pieces, others, cut_by_budget=is_cut)
            if over <= 0:
                return draft
            room = min(room - 1, room - self.profile.room(over))
        raise BudgetTooSmall(
            f"max_tokens is {self.budget.tokens}, too small for this reply's frame",
            hint=f"ask for {self.budget.tokens + over:,} or more",
        )

    def _level_cost(self, block: Block) -> int:
        return self.prices.cost(block, self.levels[0]) + self.prices.heading(block)

    def _room(self) -> int:
        """Units for the items: the budget less its frame, and never more than a larger budget would have.

        The frame grows in steps (another digit, the long footer, a warning). Without the second condition a slightly
        larger budget could show less.
        """
        near = [step for step in _STEPS if self.budget.tokens < step < self.budget.tokens + 96]
        left = LeftOut(DEAREST_KEY, self.result.total, self.prices.likely(self.blocks, self.blocks), exact=True)
        return min(self._room_at(tokens, left) for tokens in (self.budget.tokens, *near))

    def _room_at(self, tokens: int, left: LeftOut) -> int:
        names = tuple(block.name for block in self.blocks[:1])
        shown, allows = self.result.total, self.layout.notes.spendable
        frame = replace(
            self.frame, tokens=tokens, budget=tokens, shown=shown, left=left, allows=allows, cut_by_budget=True
        )
        frame = replace(frame, names=names)
        used = self.measure(self.layout.head(self.result, frame)) + self.measure(self.layout.tail(self.result, frame))
        if self.level == "auto":
            opened = {""}
            used += sum(self.prices.opening(block, opened) for block in self.blocks)
        if self.result.sequence:
            used += self.measure(self.layout.hole(self.result.total))
        return self.profile.room(tokens) - used

    def _pack(self, room: int) -> tuple[list[Piece], list[Block]]:
        lead: list[Piece] = []
        for block in self.blocks:
            if not block.required or (self.level == "auto" and self._level_cost(block) <= room):
                break
            piece = self._leading_piece(block, room)
            room -= self.measure(self.layout.item(self.result, piece)) + self.prices.heading(block)
            lead.append(piece)
        others = self.blocks[len(lead) :]
        opened = {"", *(piece.block.section for piece in lead)}
        if self.level == "auto":
            pieces, left_out = self._mixed(others, room)
        else:
            pieces, left_out = self._first_fit(others, room, opened)
        return [*lead, *pieces], left_out

    def _first_fit(self, blocks: Sequence[Block], room: int, opened: set[str]) -> tuple[list[Piece], list[Block]]:
        """Blocks in rank order at the level asked for; what does not fit is skipped, or ends a sequence."""
        pieces: list[Piece] = []
        left_out: list[Block] = []
        for block in blocks:
            heading = 0 if block.section in opened else self.prices.heading(block)
            ended = self.result.sequence and left_out
            if ended or self._is_heavier(block, room) or (cost := self.prices.cost(block, self.level) + heading) > room:
                left_out.append(block)
                continue
            room -= cost
            opened.add(block.section)
            pieces.append(Piece(block, self.level))
        return pieces, left_out

    def _is_heavier(self, block: Block, room: int) -> bool:
        """Whether a block is certainly too large, so that it need not be rendered."""
        if block.weight is None or self.prices.is_known(block, self.level):
            return False
        return block.weight(self.level) * self.prices.units_per_weight(self.level) > _HEAVIER * room

    def _mixed(self, blocks: Sequence[Block], room: int) -> tuple[list[Piece], list[Block]]:
        """Each block at the level that is best for the whole; of a sequence, as many as fit, and then richer."""
        taken = len(blocks)
        if self.result.sequence:
            running, taken = 0, 0
            for block in blocks:
                if (running := running + self.prices.cost(block, self.levels[0])) > room:
                    break
                taken += 1
        first = _FIRST if self.result.sequence else 0.0
        candidates = [
            Candidate(
                tuple(
                    Choice(
                        self.prices.cost(block, level), block.worth * WORTH[level] + max(first, _FIRST * block.required)
                    )
                    for level in self.levels
                )
            )
            for block in blocks[:taken]
        ]
        chosen = pack_auto(candidates, room).chosen
        pairs = list(zip(blocks[:taken], chosen, strict=True))
        pieces = [Piece(block, self.levels[choice]) for block, choice in pairs if choice is not None]
        return pieces, [*(block for block, choice in pairs if choice is None), *blocks[taken:]]

    def _leading_piece(self, block: Block, room: int) -> Piece:
        """A required block at the richest level that fits, up to the one asked for; at worst its beginning."""
        highest = LEVELS.index(self.levels[-1]) if self.levels[-1] in LEVELS else 0
        for level in reversed(LEVELS[: highest + 1]):
            if self.prices.cost(block, level) + self.prices.heading(block) <= room:
                return Piece(block, level)
        return self._beginning(block, room - self.prices.heading(block) - self.measure("…\n\n"), _short_name(block))

    def _beginning(self, block: Block, room: int, name: str) -> Piece:
        """A block cut to as much of its title as there is room for; where that is not even its name, to `name`."""
        title = block.text("summary").split("\n")[0]
        beginning = cut(title, max(room, 1), self.measure).shown.rstrip()
        return Piece(block, "summary", (beginning if beginning.startswith(block.name) else name) + "…")

    def _checked(self, pieces: list[Piece], left_out: list[Block], *, cut_by_budget: bool) -> Draft | None:
        draft, over = self._draft(pieces, left_out, cut_by_budget=cut_by_budget)
        return draft if over <= 0 else None

    def _draft(self, pieces: list[Piece], left_out: list[Block], *, cut_by_budget: bool) -> tuple[Draft, int]:
        """A reply with these pieces, and by how much it is over the budget with the dearest key."""
        rest = self.result.rest
        remainder, left = None, None
        if left_out or rest:
            remainder = Remainder(tuple((block, self.levels[0]) for block in left_out), rest)
            price = self.prices.of(left_out, self.blocks)
            items = len(left_out) + (rest.items if rest else 0)
            left = LeftOut(DEAREST_KEY, items, price.tokens, exact=price.exact)
        writing = _Writing(self, pieces, left_out, left, cut_by_budget=cut_by_budget)

        def write(key: str) -> Reply:
            return writing.reply(replace(left, key=key) if left else None)

        return Draft(write, remainder), write(DEAREST_KEY).tokens - self.budget.tokens


class _Writing:
    """The pieces of one reply, written once; only the lines around them are written anew."""

    def __init__(
        self,
        fitting: _Fitting,
        pieces: list[Piece],
        left_out: Sequence[Block],
        left: LeftOut | None,
        *,
        cut_by_budget: bool,
    ) -> None:
        self.fitting, self.left_out = fitting, left_out
        self.result, self.layout = fitting.result, fitting.layout
        ranked = sorted(pieces, key=lambda piece: fitting.rank[id(piece.block)])
        ordered = in_order(ranked, by_section=not self.layout.is_json)
        parts = list(fitting.prices.parts(self.result, self.layout, ordered))
        self.body = self.layout.body("".join(text for text, _ in parts), fitting.frame)
        adds_up = fitting.prices.adds_up(parts) and not fitting.frame.bare
        self.units = sum(units for _, units in parts) if adds_up else None
        shown = sum(piece.block.counted for piece in ranked)
        tokens = fitting.profile.tokens(self.units if self.units is not None else fitting.measure(self.body))
        self.frame = replace(
            fitting.frame,
            shown=shown,
            cut_by_budget=cut_by_budget,
            names=tuple(piece.block.name for piece in ranked),
            allows=self.layout.notes.allows(tokens, left.items, left.price) if left else None,
        )

    def reply(self, left: LeftOut | None) -> Reply:
        """The reply with its key; as JSON, with as many of the left-out blocks named as there is room for."""
        frame = replace(self.frame, left=left)
        reply = self._settled(frame)
        if not self.result.lists_omitted or frame.bare or not isinstance(self.layout, JsonLayout):
            return reply
        profile = self.fitting.profile
        room, names = profile.room(self.fitting.budget.tokens - reply.tokens), []
        for block in self.left_out:
            named = self._named(block)
            if (room := room - self.fitting.measure(self.layout.listed(named))) < 0:
                break
            names.append(named)
        # Measured one by one they may cost a little less than together.
        while names:
            with_names = self._settled(replace(frame, omitted=tuple(names)))
            if with_names.tokens <= self.fitting.budget.tokens:
                return with_names
            names.pop()
        return reply

    def _named(self, block: Block) -> Facts:
        facts = {name: value for name, value in block.facts("summary").items() if name in {"id", "title"}}
        cost = self.fitting.prices.cost(block, self.fitting.levels[0])
        return {**facts, "tokens": self.fitting.profile.tokens(cost)}

    def _settled(self, frame: Frame) -> Reply:
        def around(frame: Frame) -> tuple[str, str]:
            return self.layout.head(self.result, frame), self.layout.tail(self.result, frame)

        text, tokens = settle(around, self.body, self.units, frame, self.fitting.budget)
        return Reply(text, tokens, frame.shown, self.result.total, frame.left, frame.names)


def _short_name(block: Block) -> str:
    return block.name[:_LONGEST_NAME]


def _remembering(block: Block) -> Block:
    """The block with each rendering made only once, however often the reply is put together."""
    return replace(block, text=cache(block.text), facts=cache(block.facts))


__all__ = ["Draft", "JsonLayout", "Remainder", "Reply", "TextLayout", "fit", "settle"]
