"""The outcome of a tool: blocks or one document to be fitted, or a short confirmation."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from haversack.values import record

LEVELS = ("summary", "standard", "full")
"""The renderings of a block, cheapest first; `auto` mixes them."""

Facts = Mapping[str, object]
NO_FACTS: Facts = MappingProxyType({})
Brief = str | Callable[[], str]
"""The line a result has in the work log, or how to make it, should it be needed: one that fails costs nothing."""
OnSent = Callable[[Sequence[str]], None]
"""Called with the names of the blocks a reply shows, in the transaction that records the reply."""


@record
class Block:
    """One item of a reply: shown whole at some level, or listed as left out.

    `text` gives the rendering of a level, beginning with neither white space nor a slash; `facts` the same for
    JSON. Blocks of one `section` are printed under that heading. A `required` block is placed before all
    others; `place` is where it is printed when that is not by rank. What is shown beside the items a result is
    about (the sessions of a context) is not `counted`. No rendering costs less than a poorer one; `weight` is about
    how much text a level has beside other blocks, in whatever unit, for prices of what is not rendered.
    """

    name: str
    text: Callable[[str], str]
    facts: Callable[[str], Facts]
    section: str = ""
    worth: float = 1.0
    required: bool = False
    place: int | None = None
    counted: bool = True
    weight: Callable[[str], int] | None = None


@record
class Rest:
    """Items that were not rendered: their number, their estimated cost, and how to go on.

    `price` is the sum of their weights (see `Block`), for each level where that makes a difference; without one they
    are taken to cost what those that were rendered cost on average. `sample` gives some of them, spread evenly, to
    learn from what a weight costs; where it gives all of them, they are priced exactly. `sections` is the number of
    headings they stand under, where that is known. `resume` names a function registered with `resumes`; `state` is
    what it goes on from, as JSON values.
    """

    items: int
    price: int | Mapping[str, int]
    resume: str
    state: Mapping[str, Any]
    sample: "Callable[[], Sequence[Block]] | None" = None
    sections: int | None = None

    def weight(self, level: str) -> int:
        """The sum of the weights at a level."""
        return self.price if isinstance(self.price, int) else self.price[level]


@record
class Aside:
    """What a reply adds where everything it is about fits and there is room left: a line, and the same for JSON."""

    text: str
    facts: Facts


@record
class Result:
    """A reading tool's answer, before it is fitted: blocks in rank order, out of `total` that match.

    `already_shown` counts what earlier pages of the same result held, and `extend` gives what comes behind, for
    replies that have room for more than was rendered. `lists_omitted` asks JSON replies to name
    what was left out, as far as there is room for it. `facts` may depend on the names of the blocks shown; what
    they cost must not. A `sequence` (a log, a timeline) is shown without holes: from its beginning, or around what
    it is about, as far as it fits. `lean_heading` is the heading of text whose footer states the figures, by how many
    items are shown and whether the reply is small. `refer` makes one rest of blocks that were left out and what comes
    behind them, for tools that can render them again from the store; other blocks are stashed as they look. A page of
    `more` `goes_on` from an earlier reply, at the `level` that one had.
    """

    blocks: Sequence[Block]
    noun: str
    total: int
    heading: str | Callable[[int, int], str] = ""
    lean_heading: Callable[[int, bool], str] | None = None
    empty: str = ""
    limit_hint: str = ""
    advice: str = "Increase max_tokens or use detail_level=summary for more."
    separator: str = "\n"
    items_name: str = ""
    tokens_name: str = "tokens"
    lists_omitted: bool = False
    rest: Rest | None = None
    already_shown: int = 0
    extend: "Callable[[Rest], tuple[list[Block], Rest | None]] | None" = None
    facts: Facts | Callable[[Sequence[str]], Facts] = NO_FACTS
    brief: Brief = ""
    on_sent: OnSent | None = None
    sequence: bool = False
    refer: "Callable[[Sequence[Block]], Rest] | None" = None
    goes_on: bool = False
    aside: Aside | None = None
    level: str = ""


@record
class Document:
    """One long text, shown in pages split at line ends.

    As JSON a document that fits whole is its `facts`; one that does not is pages of its text under its `name`.
    `advice` is what a reader of the first page can do besides asking for more.
    `head` stands above the text on its first page and is not one of its lines. Further pages are positions in one
    text, kept under the key `snapshot`: each goes on from `offset`. `units` is what the text measures in `profile`,
    once that is known.
    """

    text: str
    name: str = ""
    facts: Facts = NO_FACTS
    head: str = ""
    lines_before: int = 0
    fence: str = ""
    advice: str = "Increase max_tokens for more."
    snapshot: str = ""
    offset: int = 0
    units: int | None = None
    profile: str = ""
    brief: Brief = ""
    on_sent: OnSent | None = None


@record
class Done:
    """A writing tool's answer: a sentence or two, the same as facts, and what the caller can do about it."""

    message: str
    facts: Facts = NO_FACTS
    brief: Brief = ""
    hint: str = ""


Outcome = Result | Document | Done
