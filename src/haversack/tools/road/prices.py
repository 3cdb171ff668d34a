"""Prices: the cost of each block in a reply, and of everything a reply leaves out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

from haversack.tokens import PROFILES, Budget, Profile
from haversack.tokens.o200k import starts_cleanly
from haversack.tools.road.drafts import settle
from haversack.tools.road.layouts import Frame, JsonLayout, Layout, Piece, TextLayout, in_order
from haversack.tools.road.outcomes import NO_FACTS, Block, Rest, Result
from haversack.values import record, replace

_EXACTLY_PRICED = 32
"""Blocks that are rendered only to be priced; further ones are priced by their weights."""
_LEARNED_FROM = 24
"""Blocks, spread evenly, that are rendered to learn what a weight costs."""
_SHARES = (3, 2, 1)
"""Of a sample one block in so many is rendered first, then more while the price is still doubtful."""
_FEW = 16
"""The fewest blocks that are rendered to learn what a weight costs."""
_SURE = 0.025
"""Standard error of a price, as a share of it, at which no more of the sample is rendered: a stated price is within a
tenth of what following the key costs."""
_STRIDE, _STRIDES = 40_503, 65_536
"""Blocks of a sample are taken in an order without a period: memories that alternate would be met by one kind alone."""
TYPICAL = 60
"""Tokens of an item of which nothing else is known."""
_COUNTED_WHOLE = 100_000
"""Characters of a page that are counted once more where its lines do not add up; a longer one has a likely price."""
_ENOUGH = 10**6
"""A budget that holds every page."""


@record
class Price:
    """The tokens that following a key costs; not `exact` where some of it was not rendered to be counted."""

    tokens: int
    exact: bool


@record
class _Line:
    """What blocks cost by their weights: a regression line through some of them, and its error."""

    mean: float
    middle: float
    slope: float
    error: float

    def of(self, items: int, weight: int | None) -> int:
        """The total cost of `items` items with that total weight; without a weight, by the mean."""
        beyond = self.slope * (weight - items * self.middle) if weight is not None else 0.0
        return max(0, round(items * self.mean + beyond))


def _line_through(costs: Sequence[int], weights: Sequence[int]) -> _Line:
    count = len(costs)
    mean, middle = sum(costs) / count, sum(weights) / count
    spread = sum((each - middle) ** 2 for each in weights)
    slope = sum((each - middle) * cost for each, cost in zip(weights, costs, strict=True)) / spread if spread else 0
    # The slope is at least 0, and at most the mean cost per weight.
    slope = min(max(slope, 0.0), mean / middle if middle else 0.0)
    away = (cost - mean - slope * (each - middle) for each, cost in zip(weights, costs, strict=True))
    return _Line(mean, middle, slope, (sum(each**2 for each in away) / (count * max(1, count - 2))) ** 0.5)


class Prices:
    """What the blocks of one result cost in one layout; each is rendered when its cost is first asked for."""

    def __init__(self, result: Result, level: str, layout: Layout, profile: Profile) -> None:
        self.result, self.level, self.layout, self.profile = result, level, layout, profile
        self.measure = profile.measure
        self._costs: dict[tuple[int, str], int] = {}
        self._headings: dict[str, int] = {"": 0}
        # What was rendered at each level costs in all with its sections, and its weight: from that follows what
        # other blocks cost.
        self._known: dict[str, tuple[int, int]] = {}
        self._known_sections: set[tuple[str, str]] = set()
        self._sample = cache(result.rest.sample) if result.rest and result.rest.sample else tuple

    def cost(self, block: Block, level: str) -> int:
        """What a block costs at a level, in units; it is rendered when this is asked for the first time."""
        key = (id(block), level)
        if key not in self._costs:
            cost = self._costs[key] = self.measure(self.layout.item(self.result, Piece(block, level)))
            costs, weights = self._known.get(level, (0, 0))
            if (block.section, level) not in self._known_sections:
                self._known_sections.add((block.section, level))
                costs += self.heading(block)
            self._known[level] = costs + cost, weights + (block.weight(level) if block.weight else 0)
        return self._costs[key]

    def is_known(self, block: Block, level: str) -> bool:
        """Whether a block has been rendered at a level."""
        return (id(block), level) in self._costs

    def heading(self, block: Block) -> int:
        """What the heading of a block's section costs."""
        if block.section not in self._headings:
            self._headings[block.section] = self.measure(self.layout.section(block))
        return self._headings[block.section]

    def opening(self, block: Block, opened: set[str]) -> int:
        """What the heading of a block's section costs, unless it stands there already."""
        if block.section in opened:
            return 0
        opened.add(block.section)
        return self.heading(block)

    def units_per_weight(self, level: str) -> float:
        """What a unit of weight costs in this layout and profile, by the blocks that were rendered."""
        costs, weights = self._known.get(level, (0, 0))
        return costs / weights if weights else self.profile.room(1_000) / 1_000

    def parts(self, result: Result, layout: Layout, pieces: Sequence[Piece]) -> Iterator[tuple[str, int]]:
        """The lines of a body with what they measure, which is known of whole items."""
        section, before = "", None
        for piece in pieces:
            if piece.block.section != section:
                section = piece.block.section
                written = layout.section(piece.block)
                yield written, self.measure(written)
            place = piece.block.place
            if result.sequence and place is not None and before is not None and place > before + 1:
                written = layout.hole(place - before - 1)
                yield written, self.measure(written)
            before = place
            if piece is pieces[-1] or piece.shortened:
                is_last = piece is pieces[-1]
                written = (layout.last_item if is_last else layout.item)(result, piece)
                yield written, self.measure(written)
            else:
                yield layout.item(result, piece), self.cost(piece.block, piece.level)

    def adds_up(self, parts: Sequence[tuple[str, int]]) -> bool:
        """Whether the lines of a body cost together what they cost one by one."""
        # A profile of a channel of its own, in which a line feed may be written otherwise, counts the whole.
        return PROFILES.get(self.profile.name) is self.profile and all(starts_cleanly(text) for text, _ in parts)

    def of(self, left_out: Sequence[Block], blocks: Sequence[Block]) -> Price:
        """The price of the left-out blocks, as defined by `LeftOut.price`."""
        rest = self.result.rest
        if not left_out and not rest:
            return Price(0, True)
        if not self._only_weighed(left_out) and (not rest or self._is_all_of(rest)):
            tokens = self._of_page([*left_out, *(self._sample() if rest else ())], left_out, blocks)
            if tokens is not None:
                return Price(tokens, True)
        return Price(self.likely(left_out, blocks), False)

    def likely(self, left_out: Sequence[Block], blocks: Sequence[Block]) -> int:
        """The estimated price: rendered blocks by their cost, others by their weight, and a frame."""
        rest = self.result.rest
        weighed = self._only_weighed(left_out)
        skipped, opened = set(map(id, weighed)), {""}
        units = sum(
            self.cost(block, self.level) + self.opening(block, opened) for block in left_out if id(block) not in skipped
        )
        if weighed:
            learned = [block for block in left_out if block.weight and id(block) not in skipped]
            weight = sum(block.weight(self.level) for block in weighed if block.weight)
            units += self._line(learned).of(len(weighed), weight)
            units += sum(self.opening(block, opened) for block in weighed)
        if rest:
            units += self._units_of_rest(rest, blocks, opened)
        return self.profile.tokens(units + self._units_of_one_page)

    def _of_page(self, page: Sequence[Block], left_out: Sequence[Block], blocks: Sequence[Block]) -> int | None:
        """The tokens `more` sends for these blocks in one page; None where counting them would take long."""
        shown = sum(block.counted for block in blocks) - sum(block.counted for block in left_out)
        result = replace(self._result_of_page(), already_shown=self.result.already_shown + shown)
        layout = self._layout_of_page()
        pieces = in_order([Piece(block, self.level) for block in page], by_section=not layout.is_json)
        parts = list(self.parts(result, layout, pieces))
        body = "".join(text for text, _ in parts)
        units = sum(units for _, units in parts) if self.adds_up(parts) else None
        if units is None and len(body) > _COUNTED_WHOLE:
            return None
        counted = sum(block.counted for block in page)
        frame = Frame(0, _ENOUGH, counted, False, None, names=tuple(block.name for block in page))

        def around(frame: Frame) -> tuple[str, str]:
            return layout.head(result, frame), layout.tail(result, frame)

        return settle(around, body, units, frame, Budget(_ENOUGH, self.profile))[1]

    def _only_weighed(self, left_out: Sequence[Block]) -> list[Block]:
        """The blocks that are too many to be rendered for their price; some of them are, to learn from."""
        weighed = [block for block in left_out if block.weight and not self.is_known(block, self.level)]
        if len(weighed) <= _EXACTLY_PRICED:
            return []
        for block in weighed[:: max(1, len(weighed) // _LEARNED_FROM)]:
            self.cost(block, self.level)
        return [block for block in weighed if not self.is_known(block, self.level)]

    def _is_all_of(self, rest: Rest) -> bool:
        return len(self._sample()) == rest.items

    def _units_of_rest(self, rest: Rest, at_hand: Sequence[Block], opened: set[str]) -> int:
        """The cost of the rest, estimated from a sample of it, or from the rendered blocks without one."""
        sample = self._sample() or at_hand[:: max(1, len(at_hand) // _LEARNED_FROM)]
        if not sample:
            return self.profile.room(TYPICAL * rest.items)
        if self._is_all_of(rest):
            return sum(self.cost(block, self.level) + self.opening(block, opened) for block in sample)
        sections = self._units_of_sections(rest, sample, opened)
        weight = rest.weight(self.level) if rest.price else None
        if weight is not None and not any(block.weight for block in sample):
            return sections + self.profile.room(weight)
        weight = weight if all(block.weight for block in sample) else None
        return sections + self._surest_line(sample).of(rest.items, weight)

    def _surest_line(self, sample: Sequence[Block]) -> _Line:
        """The line through as many blocks of a sample as make a price sure."""
        mixed = sorted(range(len(sample)), key=lambda place: place * _STRIDE % _STRIDES)
        for share in _SHARES:
            some = [sample[place] for place in mixed[: len(sample) // share]]
            if len(some) >= min(_FEW, len(sample)):
                line = self._line(some)
                if line.error <= _SURE * line.mean:
                    break
        return line

    def _line(self, sample: Sequence[Block]) -> _Line:
        costs = [self.cost(block, self.level) for block in sample]
        return _line_through(costs, [block.weight(self.level) if block.weight else 0 for block in sample])

    def _units_of_sections(self, rest: Rest, sample: Sequence[Block], opened: set[str]) -> int:
        """What the headings of the rest cost: of as many sections as are known, or as a sample makes likely."""
        counts = Counter(block.section for block in sample)
        headings = {block.section: self.heading(block) for block in sample}
        number = likely_kinds(counts, rest.items) if rest.sections is None else rest.sections
        fresh = sum(section not in opened for section in counts)
        return sum(headings.values()) * number * fresh // len(counts) ** 2

    @cached_property
    def _units_of_one_page(self) -> int:
        result, layout = self._result_of_page(), self._layout_of_page()
        frame = Frame(10_000, _ENOUGH, result.total, False, None, names=("",))
        return self.measure(layout.head(result, frame)) + self.measure(layout.tail(result, frame))

    def _result_of_page(self) -> Result:
        """The result as a page of `more` says it: with its heading, also where this reply is too small for that."""
        heading = self.result.heading if isinstance(self.result.heading, str) else ""
        plain = replace(self.result, facts=NO_FACTS, aside=None, lists_omitted=False, tokens_name="tokens")
        return replace(plain, heading=heading, lean_heading=None, goes_on=True)

    def _layout_of_page(self) -> Layout:
        """The layout of a later page: without account notes, and with a footer, even where this reply has none."""
        return self.layout.of_page() if isinstance(self.layout, TextLayout) else JsonLayout()


def likely_kinds(counts: Counter[str], items: int) -> int:
    """How many kinds there are among so many items, by how often a sample of them met each kind.

    This is Chao's estimate: the more kinds were met only once, the more there are that were not met at all.
    """
    if sum(counts.values()) >= items:
        return len(counts)
    once, twice = (sum(count == number for count in counts.values()) for number in (1, 2))
    return min(items, len(counts) + once * (once - 1) // (2 * (twice + 1)))
