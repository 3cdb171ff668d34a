"""Errors within a budget: what is wrong comes first, then what to do, each cut where it must be."""

from collections.abc import Callable

from haversack.errors import HaversackError
from haversack.text.clipping import clipped
from haversack.tokens import Budget


def shorten(error: HaversackError, budget: Budget, *, as_json: bool = False) -> None:
    """Cut an error's hint, and then its message, until it can be sent within the budget; a cut ends in `…`."""

    def fits() -> bool:
        return budget.holds(error.written(as_json=as_json))

    if fits():
        return
    message, hint = error.message, error.hint
    error.hint = ""
    if fits():
        error.hint = _longest(hint, lambda part: budget.holds(_with_hint(error, part, as_json=as_json)))
        return
    error.message = _longest(message, lambda part: budget.holds(_with_message(error, part, as_json=as_json)))


def _with_hint(error: HaversackError, hint: str, *, as_json: bool) -> str:
    error.hint = hint
    return error.written(as_json=as_json)


def _with_message(error: HaversackError, message: str, *, as_json: bool) -> str:
    error.message = message
    return error.written(as_json=as_json)


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
