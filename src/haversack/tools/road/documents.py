"""Fitting a document: as many of its lines as the budget holds, and where the next page begins."""

from collections.abc import Callable

from haversack.errors import BudgetTooSmall
from haversack.tokens import PROFILES, Budget, LeftOut, cut
from haversack.tokens.o200k import starts_cleanly
from haversack.tokens.pages import measure_up_to
from haversack.tools.road.drafts import DEAREST_KEY, Draft, Remainder, Reply, settle
from haversack.tools.road.layouts import Frame, Layout, TextLayout
from haversack.tools.road.outcomes import NO_FACTS, Document
from haversack.values import replace

_COUNTED = 100_000
"""Characters of a document that are counted to price it; of a longer one, as many from all over it."""
_SLICES = 25
_COUNTED_AS_JSON = 4_000
_UNLIMITED = 10**12
_ENOUGH = 10**6
"""A budget that holds every page."""


def fit_document(document: Document, budget: Budget, layout: Layout) -> Draft:
    """A page of a document within the budget, from its beginning on; the rest is priced."""
    return _Paging(document, budget, layout).draft()


class _Paging:
    """The fitting of one document to one budget."""

    def __init__(self, document: Document, budget: Budget, layout: Layout) -> None:
        self.document, self.budget, self.layout = document, budget, layout
        self.profile, self.measure = budget.profile, budget.profile.measure
        text = document.text
        self.lines = text.count("\n") + bool(text and not text.endswith("\n"))
        self.total = document.lines_before + self.lines

    def draft(self) -> Draft:
        if not self._is_far_over() and (draft := self._whole()):
            return draft
        frame = Frame(self.budget.tokens, self.budget.tokens, self.total, True, None)
        for each in (frame, replace(frame, bare=True)):
            if draft := self._page(each):
                return draft
        raise BudgetTooSmall(
            f"max_tokens is {self.budget.tokens}, too small for a page of this document", hint="ask for 256 or more"
        )

    def _is_far_over(self) -> bool:
        """Whether the beginning of the text alone is over the budget, so that the whole need not be counted."""
        document, room = self.document, self.budget.units
        if len(document.text) > 64 * self.budget.tokens:
            return True
        if self.layout.is_json and document.facts and not document.lines_before:
            return False
        return measure_up_to(document.text, room, self.measure) > room + room // 2 + 64

    def _whole(self) -> Draft | None:
        frame = Frame(self.budget.tokens, self.budget.tokens, self.lines, False, None)
        document, shown = self.document, self.document.text
        if self.layout.is_json and document.facts and not document.lines_before:
            shown = ""  # its facts are complete
        elif not self.layout.is_json:
            shown = _dressed(document)
        reply = self._written(shown, frame)
        return Draft(lambda _: reply) if reply.tokens <= self.budget.tokens else None

    def _page(self, frame: Frame) -> Draft | None:
        document, layout = self.document, self.layout
        units = self._units()
        worst = LeftOut(DEAREST_KEY, self.total, self.profile.tokens(2 * units), exact=True)
        empty = replace(frame, left=worst, allows=layout.notes.spendable)
        room = self.budget.units - sum(map(self.measure, self._around(empty))) - 2
        for _ in range(8):
            page = cut(document.text, max(room, 1), lambda part: self.measure(layout.page(part)), fence=document.fence)
            taken = document.text[: len(document.text) - len(page.rest)]
            # A program that reads JSON puts the pages together again, so it gets the text as it is.
            draft = self._draft(taken, taken if layout.is_json else page.shown, page.fence, units, frame)
            over = draft.reply(DEAREST_KEY).tokens - self.budget.tokens
            if over <= 0 and taken:
                return draft
            room -= self.profile.room(max(over, 1)) + 1
        return None

    def _draft(self, taken: str, shown: str, fence: str, units: int, frame: Frame) -> Draft:
        document, lines = self.document, taken.count("\n")
        after = replace(
            document,
            text=document.text[len(taken) :],
            head="",
            facts=NO_FACTS,
            lines_before=document.lines_before + lines,
            fence=fence,
            offset=document.offset + len(taken) if document.snapshot else 0,
            profile=self.profile.name,
            brief="",
        )
        # Escaped as JSON, or too long to be counted whole, the rest is priced by a part of it.
        exact = not self.layout.is_json and len(document.text) <= _COUNTED
        price, units_after = (self._counted if exact else self._likely)(taken, after, units)
        after = replace(after, units=units_after)
        body = self.measure(self.layout.page(shown))
        items = self.total - after.lines_before
        frame = replace(
            frame,
            shown=max(lines, 1 if taken else 0),
            part=bool(taken) and not lines,
            allows=self.layout.notes.allows(self.profile.tokens(body), items, price),
        )

        def write(key: str) -> Reply:
            return self._written(shown, replace(frame, left=LeftOut(key, items, price, exact=exact)))

        return Draft(write, Remainder(document=after))

    def _counted(self, taken: str, after: Document, units: int) -> tuple[int, int | None]:
        """The tokens `more` sends for the rest when it fits in one page, and its units where it is one text."""
        body = self.layout.page(_dressed(after))
        is_plain = body == self.layout.page(after.text)
        if is_plain and taken.endswith("\n") and starts_cleanly(body) and self._is_known_profile():
            units_after = units - self.measure(self.layout.page(taken))
        else:
            units_after = self.measure(body)
        adding_up = units_after if self._is_known_profile() else None
        frame = Frame(0, _ENOUGH, self.total, False, None)
        layout = self.layout.of_page() if isinstance(self.layout, TextLayout) else self.layout

        def around(frame: Frame) -> tuple[str, str]:
            return layout.document_head(after, frame), layout.document_tail(after, frame, self.total)

        tokens = settle(around, body, adding_up, frame, Budget(_ENOUGH, self.profile))[1]
        return tokens, units_after if is_plain else None

    def _likely(self, taken: str, after: Document, units: int) -> tuple[int, int | None]:
        """The estimated tokens and units of a rest that is too long to be counted."""
        left = max(1, units - max(1, self.measure(taken)))
        one_page = sum(map(self.measure, self._around(Frame(10_000, _ENOUGH, self.total, False, None), after)))
        price = self.profile.tokens(max(1, round(left * self._dearer())) + one_page)
        return price, left if self.layout.is_json or len(after.text) > _COUNTED else None

    def _is_known_profile(self) -> bool:
        """Whether lines add up: in a channel of its own a line feed may be written otherwise."""
        return PROFILES.get(self.profile.name) is self.profile

    def _dearer(self) -> float:
        """How much more a unit of text costs in this layout, where characters may have to be escaped."""
        if not self.layout.is_json:
            return 1.0
        some = self.document.text[:_COUNTED_AS_JSON]
        return self.measure(self.layout.page(some)) / max(1, self.measure(some))

    def _units(self) -> int:
        """The units of the document: exact, or estimated from slices where counting all would take long."""
        document = self.document
        if document.units is not None and document.profile == self.profile.name:
            return document.units
        text = self.document.text if self.layout.is_json else self.layout.page(document.text)
        if len(document.text) <= _COUNTED:
            return self.measure(text)
        size = _COUNTED // _SLICES
        starts = [number * (len(text) - size) // (_SLICES - 1) for number in range(_SLICES)]
        return sum(self.measure(text[start : start + size]) for start in starts) * len(text) // (size * _SLICES)

    def _written(self, shown: str, frame: Frame) -> Reply:
        body = self.layout.body(self.layout.page(shown), frame)
        # The text of a page may begin in any way, so it is counted together with the lines around it.
        around: Callable[[Frame], tuple[str, str]] = self._around
        text, tokens = settle(around, body, None, frame, self.budget)
        return Reply(text, tokens, 0 if frame.part else frame.shown, self.total, frame.left)

    def _around(self, frame: Frame, document: Document | None = None) -> tuple[str, str]:
        page_of = document or self.document
        return self.layout.document_head(page_of, frame), self.layout.document_tail(page_of, frame, self.total)


def _dressed(document: Document) -> str:
    """The whole text with an open fence closed."""
    return cut(document.text, _UNLIMITED, lambda _: 0, fence=document.fence).shown


__all__ = ["fit_document"]
