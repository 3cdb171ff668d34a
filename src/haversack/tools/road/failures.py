"""Errors within a budget: what is wrong comes first, then what to do, each cut where it must be."""

from collections.abc import Callable

from haversack.errors import HaversackError
from haversack.text.clipping import clipped
from haversack.tokens import Budget

Form = Callable[[HaversackError], str]
"""How a door writes an error."""


def shorten(error: HaversackError, budget: Budget, form: Form) -> None:
    """Cut an error's hint, and then its message, until the form of it fits the budget; a cut ends in `…`."""

    def fits() -> bool:
        return budget.holds(form(error))

    if fits():
        return
    message, hint = error.message, error.hint
    error.hint = ""
    part = "hint" if fits() else "message"

    def fits_with(text: str) -> bool:
        setattr(error, part, text)
        return fits()

    setattr(error, part, _longest(hint if part == "hint" else message, fits_with))


def _longest(text: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning of a text that fits with its ellipsis; nothing where not even that does."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(clipped(text, middle)):
            low = middle
        else:
            high = middle - 1
    # Costs do not grow quite evenly with length, so the halving may land a little over.
    while low and not fits(clipped(text, low)):
        low -= 1
    return clipped(text, low) if low else ""
