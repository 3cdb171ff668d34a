"""The lines at the end of a reply: what was left out, its price, and what the reply cost."""

from haversack.values import record

SHORT_FORM_BELOW = 256
"""Budgets under this get the short budget line: the long one would be a fifth of the reply."""
LONG_FORM_FROM = 400
"""Budgets from this on always get the long line; those between do where an item need not give way to it."""


@record
class LeftOut:
    """What a reply does not show: the key that gets it, how many items, and their price in tokens.

    Without a key it could not be kept.
    """

    key: str
    items: int
    price: int

    def long(self) -> str:
        if not self.key:
            return f" {self.items} left, ~{self.price} tokens, not kept: the store cannot be written."
        return f' More: more("{self.key}"), {self.items} left, ~{self.price} tokens.'

    def short(self) -> str:
        if not self.key:
            return f" ~{self.price} tokens not kept: read-only store."
        return f' more("{self.key}"), ~{self.price} tokens.'


def token_footer(tokens: int) -> str:
    """The last line of every reading reply, with the line break before it."""
    return f"\n📏 ~{tokens:,} tokens"


def navigation_hint(showing: int, total: int, hint: str = "", *, noun: str = "results") -> str:
    """`Showing X of Y results. <hint>`, or the empty string when nothing is hidden."""
    if showing >= total:
        return ""
    return f"Showing {showing} of {total} {noun}. {hint}".rstrip()


def budget_line(
    used: int,
    budget: int,
    *,
    shown: int,
    total: int,
    noun: str,
    advice: str,
    left: LeftOut | None,
    short: bool = False,
) -> str:
    """The line that says the budget did the cutting, in the short form for small budgets and on demand."""
    line = f"⚡ Budget: ~{used}/{budget} tokens used. {shown} of {total} {noun} shown."
    if short or budget < SHORT_FORM_BELOW:
        return line + (left.short() if left else "")
    return f"{line} {advice}{left.long() if left else ''}"
