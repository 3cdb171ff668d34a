"""Drafts: a reply that fits, what it leaves out, and the figure that states its own cost."""

from collections.abc import Callable

from haversack.tokens import Budget, LeftOut
from haversack.tokens.o200k import starts_cleanly
from haversack.tools.road.layouts import Frame
from haversack.tools.road.outcomes import Block, Document, Rest
from haversack.values import record, replace

# All keys have one shape, which makes them cost the same: none costs more than this one.
DEAREST_KEY = "mx474z"


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


@record
class Draft:
    """A reply that fits whatever its key will be, and what it leaves out; nothing where it shows everything."""

    write: Callable[[str], Reply]
    remainder: Remainder | None = None

    def reply(self, key: str = "") -> Reply:
        """The reply, with the key under which its remainder is kept; without one it says that it is not kept."""
        return self.write(key)


def settle(
    around: Callable[[Frame], tuple[str, str]], body: str, units: int | None, frame: Frame, budget: Budget
) -> tuple[str, int]:
    """A reply whose stated figure is its own cost: writing the figure may change the cost, so it is repeated.

    `units` is the measure of the body, where it adds up with the lines around it.
    """
    profile, tokens = budget.profile, 0
    for _ in range(12):
        head, tail = around(replace(frame, tokens=tokens))
        text = head + body + tail
        if units is not None and (body or not head) and starts_cleanly(tail):
            cost = profile.tokens(profile.measure(head) + units + profile.measure(tail))
        else:
            cost = profile.count(text)
        if cost == tokens:
            break
        tokens = max(cost, tokens)
    return text, cost
