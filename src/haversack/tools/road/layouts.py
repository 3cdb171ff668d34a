"""How a reply looks: text for models and people, or JSON. A layout only writes; fitting decides."""

from collections.abc import Callable, Sequence

from haversack.tokens import LeftOut, budget_line, navigation_hint, token_footer
from haversack.tokens.footers import SHORT_FORM_BELOW
from haversack.tools.road.outcomes import Block, Document, Facts, Result
from haversack.values import record


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

    def allows(self, items: int, tokens: int) -> int | None:
        """How many items more the account would pay for after these, at their mean price, in two digits."""
        if self.spendable is None or items <= 0:
            return None
        number = max(0, self.spendable - tokens) * items // max(1, tokens)
        step = 10 ** max(0, len(str(number)) - 2)
        return int(number // step * step)


NO_NOTES = Notes()


@record
class Frame:
    """What the lines around the items say.

    A `short` one has the short budget line; a `bare` one leaves out what the caller knows or can do without.
    """

    tokens: int
    budget: int
    shown: int
    cut_by_budget: bool
    left: LeftOut | None
    omitted: tuple[Facts, ...] = ()
    allows: int | None = None
    short: bool = False
    bare: bool = False


class TextLayout:
    """Plain text with the footer lines; `footer=False` keeps them off text that is made to be pasted."""

    def __init__(self, *, footer: bool = True, notes: Notes = NO_NOTES) -> None:
        self.footer = footer
        self.notes = notes

    def item(self, result: Result, piece: Piece) -> str:
        text = piece.shortened or piece.block.text(piece.level)
        return text + (result.separator if piece.level != "full" or "\n" in result.separator[1:] else "\n\n")

    def section(self, block: Block) -> str:
        return f"{block.section}\n" if block.section else ""

    def reply(self, result: Result, pieces: Sequence[Piece], frame: Frame) -> str:
        heading = result.heading if isinstance(result.heading, str) else result.heading(frame.shown, frame.tokens)
        body = f"{heading}\n" if heading else ""
        last = result.separator
        for title, group in _by_section(pieces):
            body += f"{title}\n" if title else ""
            for piece in group:
                item = self.item(result, piece)
                body += item
                last = item[len(item.rstrip("\n-")) :]
        if not pieces and result.empty and result.total == 0:
            body += result.empty + "\n"
            last = "\n"
        body = body.removesuffix(last) if pieces else body.removesuffix("\n")
        return self._closed(body, self.hint(result, frame), frame)

    def document(self, document: Document, page: str, frame: Frame, total: int) -> str:
        hint = ""
        if frame.cut_by_budget:
            hint = _budget_hint(frame, total, "lines", document.advice + _allowance(frame))
        return self._closed(page.removesuffix("\n"), hint, frame)

    def hint(self, result: Result, frame: Frame) -> str:
        if frame.cut_by_budget:
            return _budget_hint(frame, result.total, result.noun, result.advice + _allowance(frame))
        if not frame.left and frame.shown + result.already_shown >= result.total:
            return ""  # the last page hides nothing, although it shows a part
        hint = navigation_hint(frame.shown, result.total, result.limit_hint + _allowance(frame), noun=result.noun)
        return hint + (frame.left.long() if hint and frame.left else "")

    def _closed(self, body: str, hint: str, frame: Frame) -> str:
        if not self.footer:
            return body + "\n"
        lines = [part for part in (body, _alert(self.notes, frame), hint) if part]
        return ("\n".join(lines) + token_footer(frame.tokens)).removeprefix("\n" if not lines else "")


class JsonLayout:
    """One JSON document, an item to a line, with the same facts as the footer lines."""

    def __init__(self, *, notes: Notes = NO_NOTES) -> None:
        self.notes = notes

    def item(self, result: Result, piece: Piece) -> str:
        facts: Facts = {"text": piece.shortened} if piece.shortened else piece.block.facts(piece.level)
        return _json(facts) + ",\n"

    def listed(self, facts: Facts) -> str:
        """What is left out, as it stands in a list."""
        return _json(facts) + ","

    def section(self, block: Block) -> str:
        return ""

    def reply(self, result: Result, pieces: Sequence[Piece], frame: Frame) -> str:
        items = "".join(self.item(result, piece) for piece in _in_order(pieces)).removesuffix(",\n")
        held = result.facts
        facts = dict(held([piece.block.name for piece in pieces]) if callable(held) else held)
        if not pieces and result.empty and result.total == 0:
            facts["reason"] = result.empty
        head = _json(facts)[1:-1]
        name = result.items_name or result.noun
        listed = f"[\n{items}\n]" if items else "[]"
        opening = f'{{{head}{"," if head else ""}"{name}":{listed},'
        named = {"omitted": list(frame.omitted)} if result.lists_omitted else {}
        return opening + self._closing(frame, result.total, result.tokens_name, named)

    def document(self, document: Document, page: str, frame: Frame, total: int) -> str:
        if document.facts and not frame.cut_by_budget and not document.lines_before:
            facts = dict(document.facts)
        else:
            facts = {} if frame.bare else {"name": document.name}
            facts |= {"first_line": document.lines_before + 1, "text": page}
        return _json(facts)[:-1] + "," + self._closing(frame, total)

    def _closing(self, frame: Frame, total: int, tokens_name: str = "tokens", named: Facts | None = None) -> str:
        facts: dict[str, object] = {**(named or {}), "shown": frame.shown, "total": total}
        if frame.left:
            facts["more"] = {"key": frame.left.key, "left": frame.left.items, "tokens": frame.left.price}
            if frame.bare:
                facts["more"] = {"key": frame.left.key, "tokens": frame.left.price}
            elif frame.allows is not None:
                facts["budget_allows"] = frame.allows
            if not frame.left.key:
                facts["more"] = {"left": frame.left.items, "tokens": frame.left.price, "kept": False}
        if alert := _alert(self.notes, frame):
            facts["alert"] = alert
        if not frame.bare:
            facts["budget"] = frame.budget
        facts[tokens_name] = frame.tokens
        return _json(facts)[1:]


Layout = TextLayout | JsonLayout


def _budget_hint(frame: Frame, total: int, noun: str, advice: str) -> str:
    return budget_line(
        frame.tokens,
        frame.budget,
        shown=frame.shown,
        total=total,
        noun=noun,
        advice=advice,
        left=frame.left,
        short=frame.short,
    )


def _allowance(frame: Frame) -> str:
    return "" if frame.allows is None else f" Budget allows ~{frame.allows:,} more."


def _alert(notes: Notes, frame: Frame) -> str:
    """The warning, or why a cut reply is smaller than usual, in replies that have room for it."""
    if frame.budget < SHORT_FORM_BELOW:
        return ""
    return notes.alert or (notes.reason if frame.cut_by_budget else "")


def _in_order(pieces: Sequence[Piece]) -> list[Piece]:
    if any(piece.block.place is not None for piece in pieces):
        return sorted(pieces, key=lambda piece: piece.block.place or 0)
    return list(pieces)


def _by_section(pieces: Sequence[Piece]) -> list[tuple[str, list[Piece]]]:
    """Pieces under their headings, headings in the order in which they first appear."""
    groups: dict[str, list[Piece]] = {}
    for piece in _in_order(pieces):
        groups.setdefault(piece.block.section, []).append(piece)
    return list(groups.items())


def _json(value: object) -> str:
    encode = _encoder()
    return encode(value)


def _encoder() -> Callable[[object], str]:
    from json import JSONEncoder  # text replies never pay for it

    return JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
