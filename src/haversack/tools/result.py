"""What a tool returns: blocks or one document to be fitted, or a short word on what was done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

LEVELS = ("summary", "standard", "full")
"""The renderings of a block, cheapest first; `auto` mixes them."""

Facts = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Block:
    """One item of a reply: shown whole at some level, or listed as left out.

    `text` gives the rendering of a level, beginning with neither white space nor a slash; `facts` the same for
    JSON. Blocks of one `section` are printed under that heading. A `required` block is placed before all
    others; `place` is where it is printed when that is not by rank.
    """

    name: str
    text: Callable[[str], str]
    facts: Callable[[str], Facts]
    section: str = ""
    worth: float = 1.0
    required: bool = False
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """Items that were not even rendered: how many, about what they would cost, and how to go on.

    `resume` names a function registered with `resumes`; `state` is the JSON text it goes on from.
    """

    items: int
    price: int
    resume: str
    state: str


@dataclass(frozen=True, slots=True)
class Result:
    """A reading tool's answer, before it is fitted: blocks in rank order, out of `total` that match.

    `already_shown` counts what earlier pages of the same result held.
    """

    blocks: Sequence[Block]
    noun: str
    total: int
    heading: str | Callable[[int, int], str] = ""
    empty: str = ""
    limit_hint: str = ""
    advice: str = "Increase max_tokens or use detail_level=summary for more."
    separator: str = "\n"
    items_name: str = ""
    rest: Rest | None = None
    already_shown: int = 0
    facts: Facts = field(default_factory=dict)
    brief: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One long text, shown in pages split at line ends.

    As JSON a document that fits whole is its `facts`; one that does not is pages of its text under its `name`.
    """

    text: str
    name: str = ""
    facts: Facts = field(default_factory=dict)
    lines_before: int = 0
    fence: str = ""
    brief: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A writing tool's answer: a sentence or two, and the same as facts."""

    message: str
    facts: Facts = field(default_factory=dict)
    brief: str = ""


Outcome = Result | Document | Done
