"""Ids of requirements (`FR-001`, `NFR-001`, `BRC-001`) and tasks (`TASK-001`): read, cited and given.

Ids are read leniently (`fr-1`, `Task 3`, `T-3`, `T3`) and written in one form, with at least three digits. A
range (`FR-001..FR-004`, `FR-001 to FR-004`) cites its ends, and by implication what lies between.
"""

import re
from collections.abc import Iterable, Mapping

from haversack.patterns import pattern
from haversack.sdd.documents import markdown
from haversack.values import record

_LONGEST_RANGE = 500


@record
class Family:
    """A family of ids: `mention` finds one anywhere, `label` at the beginning of an entry."""

    mention: re.Pattern[str]
    label: re.Pattern[str]
    prefix: str = ""

    def name(self, found: re.Match[str]) -> str:
        return spell(self.prefix or found["prefix"].upper().rstrip("-"), int(found["number"]))


@record
class Citation:
    """An id that a text names; `implied` when it only lies inside a range."""

    id: str
    line: int
    implied: bool = False


def _family(spelling: str, prefix: str = "") -> Family:
    unit = rf"(?P<prefix>{spelling})(?P<number>\d{{1,6}})(?!\w)"
    plain = rf"(?:{spelling})\d{{1,6}}(?!\w)"
    reach = rf"\s*(?:(?:\.{{2,3}}|…)\s*(?:\d{{1,6}}(?!\w)|{plain})|(?:[-–—]|to|through)\s*{plain})"
    mention = rf"(?<![\w-]){unit}(?P<reach>{reach})?"
    label = (
        rf"(?P<open>[*_`\[(]*){unit}(?!{reach})(?P<close>[*_`\])]*)"
        r"(?:\s*[:.|](?=\s|[*_|]|$)|\s+[-–—](?=\s)|(?=\s|$))(?P<close_after>[*_]*)\s*"
    )
    return Family(pattern(mention, re.IGNORECASE), pattern(label, re.IGNORECASE), prefix)


REQUIREMENTS = _family(r"(?:NFR|FR|BRC)-")
TASKS = _family(r"TASK[-_ ]?|(?-i:T)-?", "TASK")


def spell(prefix: str, number: int) -> str:
    """An id in its one form, such as `FR-001`."""
    return f"{prefix}-{number:03d}"


def citations(text: str, family: Family, first_line: int = 1) -> tuple[Citation, ...]:
    """Every id that `text` names, with its line, in order, an id once per line."""
    found: dict[tuple[int, str], Citation] = {}
    for number, line in enumerate(text.split("\n"), first_line):
        for match in family.mention.finditer(line):
            for citation in _expanded(match, family, number):
                found.setdefault((number, citation.id), citation)
    return tuple(found.values())


def cited(text: str, family: Family) -> tuple[str, ...]:
    """The ids that `text` names, each once, in order."""
    return tuple(dict.fromkeys(citation.id for citation in citations(text, family)))


def split_label(head: str, family: Family) -> tuple[str, str]:
    """The id an entry begins with, and the rest of it; an empty id when it begins with none."""
    table = head.lstrip("| ") if head.startswith("|") else head
    found = family.label.match(table)
    if not found:
        return "", head
    rest = table[found.end() :]
    if found["open"] and not found["close"] and not found["close_after"]:
        rest = found["open"] + rest
    return family.name(found), rest


class Labeller:
    """Gives ids to the entries of one artifact's texts that have none.

    An entry worded as in an `earlier` version keeps the id it had there. A new id follows the highest number
    among `taken`, so that no id ever comes to mean something else. `given` lists the new ids in order.
    """

    def __init__(self, family: Family, *, taken: Iterable[str], earlier: Mapping[str, str] | None = None) -> None:
        self.family = family
        self.given: list[str] = []
        self._earlier = dict(earlier or {})
        self._highest: dict[str, int] = {}
        for name in taken:
            prefix = name.rpartition("-")[0]
            self._highest[prefix] = max(self._highest.get(prefix, 0), number_of(name))

    def label(self, text: str, prefix: str) -> str:
        """`text` with an id on every entry; entries that only say "none" stay as they are."""
        replaced: dict[int, str] = {}
        for item in markdown.items(text, self.family.label):
            name, rest = split_label(item.head, self.family)
            if not name and markdown.is_nothing(item.head):
                continue
            name = name or self._earlier.pop(gist(item.head), "") or self._next(prefix)
            bullet = f"{'#' * item.level} {name}" if item.level else f"- **{name}**"
            replaced[item.line] = f"{bullet}: {rest}" if rest else bullet
        return markdown.replace_lines(text, replaced)

    def _next(self, prefix: str) -> str:
        self._highest[prefix] = self._highest.get(prefix, 0) + 1
        self.given.append(spell(prefix, self._highest[prefix]))
        return self.given[-1]


def labels(texts: Iterable[str], family: Family) -> tuple[str, ...]:
    """The ids that the entries of `texts` begin with."""
    entries = (item for text in texts for item in markdown.items(text, family.label))
    return tuple(name for item in entries if (name := split_label(item.head, family)[0]))


def gist(text: str) -> str:
    """The wording of an entry for comparison, without case, spacing and closing punctuation."""
    return " ".join(text.casefold().split()).rstrip(".;, ")


def number_of(name: str) -> int:
    """The number in an id."""
    return int(name.rpartition("-")[2])


def _expanded(match: re.Match[str], family: Family, line: int) -> Iterable[Citation]:
    first = family.name(match)
    yield Citation(first, line)
    if not match["reach"]:
        return
    closing = re.search(r"(\d+)$", match["reach"])
    prefix = first.rpartition("-")[0]
    last = int(closing[1]) if closing else 0
    end = family.mention.search(match["reach"].lstrip(" .…–—-"))
    if end and family.name(end) != spell(prefix, last):
        # The two ends are of different kinds, so this is no range but two ids beside a dash.
        yield Citation(family.name(end), line)
        return
    if number_of(first) < last <= number_of(first) + _LONGEST_RANGE:
        yield from (Citation(spell(prefix, n), line, implied=True) for n in range(number_of(first) + 1, last))
    yield Citation(spell(prefix, last), line)
