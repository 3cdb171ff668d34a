"""How a reply looks: text for models and people, or JSON. A layout only writes; fitting decides.

A reply is a head, a body of items and a tail. Head and body end with a line feed, so that what they cost adds up.
"""

from collections.abc import Callable, Sequence

from haversack.tokens import LeftOut, budget_line, navigation_hint
from haversack.tokens.footers import ALERT_FROM, LONG_FORM_FROM, token_line
from haversack.tools.road.outcomes import Block, Document, Facts, Result
from haversack.tools.road.quoting import FENCE_CLOSING, FENCE_OPENING, unfenced
from haversack.values import record

ADVICE_FOR_LESS = " or use detail_level=summary"
"""The part of an advice that helps only where a poorer level is left to choose."""


@record
class Piece:
    """A block as it will be printed: which one, and at which level (or cut to a text of its own)."""

    block: Block
    level: str
    shortened: str = ""


@record
class Notes:
    """What the account in force adds to a reply: a warning, and how many more items it would pay for.

    `spendable` is what replies may still use of the account; None leaves the number of items out. `reason` says why
    a reply that was cut has a smaller budget than usual.
    """

    alert: str = ""
    spendable: int | None = None
    reason: str = ""

    def allows(self, tokens: int, left: int, price: int) -> int | None:
        """How many of the items left the account would pay for after these tokens, at their mean price (two digits).

        None where it would pay for none, or for all of them.
        """
        if self.spendable is None:
            return None
        number = max(0, self.spendable - tokens) * left // max(1, price)
        step = 10 ** max(0, len(str(number)) - 2)
        rounded = int(number // step * step)
        return rounded if 0 < rounded < left else None


NO_NOTES = Notes()


@record
class Frame:
    """What the lines around the items say.

    A `bare` one leaves out all optional lines. `part` says that not even one line of a
    document is shown whole, `names` are those of the blocks shown.
    """

    tokens: int
    budget: int
    shown: int
    cut_by_budget: bool
    left: LeftOut | None
    level: str = ""
    omitted: tuple[Facts, ...] = ()
    allows: int | None = None
    bare: bool = False
    part: bool = False
    names: tuple[str, ...] = ()

    @property
    def is_small(self) -> bool:
        return self.bare or self.budget < LONG_FORM_FROM


class TextLayout:
    """Plain text with the footer lines; `footer=False` keeps them off text that is made to be pasted.

    `worded` rewrites advice, which names tools and parameters, in the words of a door. `fenced` puts
    what was recalled between two lines that nothing in it can imitate.
    """

    is_json = False

    def __init__(
        self,
        *,
        footer: bool = True,
        notes: Notes = NO_NOTES,
        worded: Callable[[str], str] | None = None,
        fenced: bool = False,
    ) -> None:
        self.footer = footer
        self.fenced = fenced
        self.notes = notes
        self.worded = worded or str

    def of_page(self) -> "TextLayout":
        """The layout of a page that `more` sends later: with a footer, and without what the account may add by then."""
        return TextLayout(worded=self.worded, fenced=self.fenced)

    def item(self, result: Result, piece: Piece) -> str:
        """One item with what separates it from the next."""
        text = piece.shortened or piece.block.text(piece.level)
        return (unfenced(text) if self.fenced else text) + separator_at(result, piece.level)

    def last_item(self, result: Result, piece: Piece) -> str:
        """An item as it stands at the end, where nothing is to be separated."""
        return self.item(result, piece).removesuffix(separator_at(result, piece.level)) + "\n"

    def section(self, block: Block) -> str:
        section = unfenced(block.section) if self.fenced else block.section
        return f"{section}\n" if section else ""

    def body(self, items: str, frame: Frame) -> str:
        """The items as they stand between head and tail."""
        return items

    def hole(self, missing: int) -> str:
        """The line that stands where a sequence is interrupted."""
        return f"… {missing:,} not on this page …\n"

    def head(self, result: Result, frame: Frame) -> str:
        heading = "" if frame.bare else self._heading(result, frame)
        if not frame.names and result.total == 0 and result.empty:
            heading = f"{heading}\n{result.empty}" if heading else result.empty
        if result.aside:
            aside = self.worded(result.aside.text)
            heading = f"{heading}\n{aside}" if heading else aside
        head = f"{heading}\n" if heading else ""
        return head + self._opening(frame) if frame.names else head

    def _heading(self, result: Result, frame: Frame) -> str:
        if self.footer and result.lean_heading:
            return result.lean_heading(frame.shown, frame.is_small)
        return result.heading if isinstance(result.heading, str) else result.heading(frame.shown, frame.tokens)

    def tail(self, result: Result, frame: Frame) -> str:
        return self._closed(self._hint(result, frame), frame, fenced=bool(frame.names))

    def document_head(self, document: Document, frame: Frame) -> str:
        return ("" if frame.bare or not document.head else f"{document.head}\n") + self._opening(frame)

    def page(self, page: str) -> str:
        """A page of a document as it is written, ending with a line feed."""
        page = unfenced(page) if self.fenced else page
        return page.removesuffix("\n") + "\n" if page else ""

    def document_tail(self, document: Document, frame: Frame, total: int) -> str:
        hint = ""
        if frame.cut_by_budget:
            advice = self.worded(document.advice) + _allowance(frame)
            hint = _budget_hint(frame, total, "lines", advice, self._left(frame, with_items=False))
        return self._closed(hint, frame, fenced=True)

    def _hint(self, result: Result, frame: Frame) -> str:
        # How many are left follows from the counts, except on later pages and in windows on something longer.
        hidden = result.total - frame.shown
        with_items = frame.left is not None and frame.left.items != hidden and not frame.is_small
        if frame.cut_by_budget:
            advice = result.advice
            if frame.level in ("summary", "auto"):
                advice = advice.replace(ADVICE_FOR_LESS, "")
            advice = self.worded(advice) + _allowance(frame)
            return _budget_hint(frame, result.total, result.noun, advice, self._left(frame, with_items=with_items))
        if not frame.left and frame.shown + result.already_shown >= result.total:
            return ""  # the last page hides nothing, although it shows a part
        more = "" if frame.is_small else self.worded(result.limit_hint) + _allowance(frame)
        hint = navigation_hint(frame.shown, result.total, more, noun=result.noun)
        return hint + (self._left(frame, with_items=with_items) if hint else "")

    def _left(self, frame: Frame, *, with_items: bool) -> str:
        """The sentence on what was left out, with the way to it as this door knows it."""
        if frame.left is None:
            return ""
        way = self.worded(frame.left.way) if frame.left.key else ""
        return frame.left.sentence(way, with_items=with_items)

    def _opening(self, frame: Frame) -> str:
        return f"{FENCE_OPENING}\n" if self.fenced and not frame.bare else ""

    def _closed(self, hint: str, frame: Frame, *, fenced: bool) -> str:
        lines = [FENCE_CLOSING] if self.fenced and fenced and not frame.bare else []
        if self.footer:
            lines += [_alert(self.notes, frame), hint, token_line(frame.tokens)]
        return "\n".join(line for line in lines if line)


class JsonLayout:
    """One JSON document, an item to a line, with the same facts as the footer lines."""

    is_json = True

    def __init__(self, *, notes: Notes = NO_NOTES) -> None:
        self.notes = notes

    def item(self, result: Result, piece: Piece) -> str:
        facts: Facts = {"text": piece.shortened} if piece.shortened else piece.block.facts(piece.level)
        return _json(facts) + ",\n"

    def last_item(self, result: Result, piece: Piece) -> str:
        return self.item(result, piece).removesuffix(",\n") + "\n"

    def listed(self, facts: Facts) -> str:
        """What is left out, as it stands in a list."""
        return _json(facts) + ","

    def section(self, block: Block) -> str:
        return ""

    def body(self, items: str, frame: Frame) -> str:
        return items.removesuffix("\n") if frame.bare else items

    def hole(self, missing: int) -> str:
        return ""

    def head(self, result: Result, frame: Frame) -> str:
        held = result.facts
        facts = {} if frame.bare else dict(held(frame.names) if callable(held) else held)
        if not frame.names and result.empty and result.total == 0:
            facts["reason"] = result.empty
        facts |= result.aside.facts if result.aside else {}
        opening = _json(facts)[1:-1]
        name = result.items_name or result.noun
        return f'{{{opening}{"," if opening else ""}"{name}":[' + ("\n" if frame.names and not frame.bare else "")

    def tail(self, result: Result, frame: Frame) -> str:
        named = {"omitted": list(frame.omitted)} if result.lists_omitted and not frame.bare else {}
        # A page that ends a result costs the same whatever budget it was asked for with: its price was told before.
        is_last = result.goes_on and not frame.left
        return "]," + self._closing(frame, result.total, result.tokens_name, named, with_budget=not is_last)

    def document_head(self, document: Document, frame: Frame) -> str:
        if document.facts and not frame.cut_by_budget and not document.lines_before:
            return _json(document.facts)[:-1] + ",\n"
        facts: dict[str, object] = {} if frame.bare else {"name": document.name}
        facts["first_line"] = document.lines_before + 1
        return _json(facts)[:-1] + ',"text":' + ("" if frame.bare else "\n")

    def page(self, page: str) -> str:
        return _json(page) + "\n" if page else ""

    def document_tail(self, document: Document, frame: Frame, total: int) -> str:
        whole = document.facts and not frame.cut_by_budget and not document.lines_before
        return ("" if whole else ",") + self._closing(frame, total)

    def _closing(
        self,
        frame: Frame,
        total: int,
        tokens_name: str = "tokens",
        named: Facts | None = None,
        *,
        with_budget: bool = True,
    ) -> str:
        facts: dict[str, object] = {**(named or {}), "shown": frame.shown, "total": total}
        if frame.left:
            more: dict[str, object] = {"key": frame.left.key or None}
            if not frame.is_small:
                more["left"] = frame.left.items
            # An estimate has a name of its own, which costs no more than the other: a figure cannot be marked.
            facts["more"] = more | {"tokens" if frame.left.exact else "estimate": frame.left.price}
            if frame.allows is not None and not frame.is_small:
                facts["budget_allows"] = frame.allows
        if alert := _alert(self.notes, frame):
            facts["alert"] = alert
        if with_budget and not frame.is_small:
            facts["budget"] = frame.budget
        facts[tokens_name] = frame.tokens
        return _json(facts)[1:]


Layout = TextLayout | JsonLayout


def _budget_hint(frame: Frame, total: int, noun: str, advice: str, left: str) -> str:
    return budget_line(
        frame.tokens,
        frame.budget,
        shown=frame.shown,
        total=total,
        noun=noun,
        advice=advice,
        left=left,
        part=frame.part,
    )


def _allowance(frame: Frame) -> str:
    return "" if frame.allows is None else f" Budget allows ~{frame.allows:,} more."


def _alert(notes: Notes, frame: Frame) -> str:
    """The warning, or why a cut reply is smaller than usual, in replies that have room for it."""
    if frame.budget < ALERT_FROM:
        return ""
    return notes.alert or (notes.reason if frame.cut_by_budget else "")


def separator_at(result: Result, level: str) -> str:
    """What stands between two items of a result at a level: items in full are at least a blank line apart."""
    return result.separator if level != "full" or "\n" in result.separator[1:] else "\n\n"


def in_order(pieces: Sequence[Piece], *, by_section: bool) -> list[Piece]:
    """Pieces in the order in which they are printed: by place where they have one, and under their sections."""
    if any(piece.block.place is not None for piece in pieces):
        pieces = sorted(pieces, key=lambda piece: piece.block.place or 0)
    if not by_section:
        return list(pieces)
    groups: dict[str, list[Piece]] = {}
    for piece in pieces:
        groups.setdefault(piece.block.section, []).append(piece)
    return [piece for group in groups.values() for piece in group]


def _json(value: object) -> str:
    encode = _encoder()
    return encode(value)


def _encoder() -> Callable[[object], str]:
    from json import JSONEncoder  # text replies never pay for it

    return JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
