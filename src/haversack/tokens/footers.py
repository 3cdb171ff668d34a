"""The lines at the end of a reply: what was left out, its price, and what the reply cost."""

from haversack.values import record

LONG_FORM_FROM = 400
"""Budgets from this on get the long budget line; in smaller ones it would be a fifth of the reply."""
ALERT_FROM = 256
"""Budgets from this on have room for a warning about the account."""


@record
class LeftOut:
    """What a reply does not show: the key that gets it, how many items, and their price in tokens.

    The price is what `more` sends for the key when its budget holds everything that is left: the items in the
    rendering asked for, and the frame of that one page. Read in smaller pages it costs each page's frame besides.
    It is `exact`, or within a tenth where not every item was rendered. Without a key it could not be kept.
    """

    key: str
    items: int
    price: int
    exact: bool

    @property
    def way(self) -> str:
        """The call that gets it."""
        return f'more("{self.key}")'

    def sentence(self, way: str = "", *, with_items: bool = False) -> str:
        """The end of a hint line; `with_items` adds how many items are left."""
        count = f"{self.items:,} left, " if with_items else ""
        if not self.key:
            return f" {count}~{self.price:,} tokens not kept."
        return f" {way or self.way}, {count}~{self.price:,} tokens."


def token_line(tokens: int) -> str:
    """The last line of every reading reply."""
    return f"📏 ~{tokens:,} tokens"


def token_footer(tokens: int) -> str:
    """The last line of every reading reply, with the line break before it."""
    return "\n" + token_line(tokens)


def navigation_hint(showing: int, total: int, hint: str = "", *, noun: str = "results") -> str:
    """`Showing X of Y results. <hint>`, or the empty string when nothing is hidden."""
    if showing >= total:
        return ""
    return f"Showing {showing:,} of {total:,} {noun}. {hint}".rstrip()


def budget_line(
    used: int, budget: int, *, shown: int, total: int, noun: str, advice: str, left: str = "", part: bool = False
) -> str:
    """The line that says the budget did the cutting: short below `LONG_FORM_FROM`, else with what to do about it.

    `left` is the sentence on what was left out; `part` says that what is shown is not even whole.
    """
    said = f"{'Part of ' if part else ''}{shown:,} of {total:,} {noun} shown."
    if budget < LONG_FORM_FROM:
        return f"⚡ {said}{left}"
    return f"⚡ Budget: ~{used:,}/{budget:,} tokens used. {said} {advice}{left}"
