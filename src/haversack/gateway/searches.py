"""Looking inside a text that was cut: words or a regular expression, a range of lines, or a path into its JSON."""

import json
import re
from typing import Any

from haversack.errors import InvalidArgument
from haversack.gateway.renderings.tables import Literal, compact
from haversack.patterns import pattern

CONTEXT = 2
_LONG_LINE = 400
_AROUND = 160
_LONGEST_SEARCHED_LINE = 20_000
_PER_LINE = 20
_RANGE = pattern(r"^\s*(\d+)\s*(?:(-)\s*(\d*))?\s*$")
_STEP = pattern(r"\.([^.\[\]]+)|\[(\d+|-\d+)\]|\[(-?\d*):(-?\d*)\]|\[\*\]|\.\*|\['([^']*)'\]|\[\"([^\"]*)\"\]")
# A repeated group that itself ends in a repetition can take for ever on one line.
_EXPLOSIVE = pattern(r"[+*}]\)\s*[+*{]")
_decoder = json.JSONDecoder(parse_int=Literal, parse_float=Literal)


def lines_of(text: str, asked: str) -> tuple[str, int]:
    """The lines `"120-180"`, `"120-"` or `"120"` of a text, and how many stand before them."""
    match = _RANGE.match(asked)
    if not match:
        raise InvalidArgument(f"lines is {asked[:60]!r}, not a range", hint='write "120-180", "120-" or "120"')
    lines = text.splitlines(keepends=True)
    first = int(match[1])
    last = first if not match[2] else int(match[3]) if match[3] else len(lines)
    if not 1 <= first <= last or first > len(lines):
        raise InvalidArgument(f"there are no lines {asked.strip()}", hint=f"lines go from 1 to {len(lines):,}")
    return "".join(lines[first - 1 : last]), first - 1


def at_path(text: str, path: str) -> str:
    """The values at a path such as `$.rows[10:20].name` in a JSON text, one on each line."""
    try:
        value = _decoder.decode(text)
    except (ValueError, RecursionError):
        raise InvalidArgument("path needs a result that is JSON", hint="use query or lines") from None
    found = [value]
    place = 1 if path.startswith("$") else 0
    steps = path if place else f".{path}" if not path.startswith(("[", ".")) else path
    while place < len(steps):
        match = _STEP.match(steps, place)
        if not match:
            raise InvalidArgument(f"path is not understood at {steps[place : place + 40]!r}", hint=_HOW)
        found = [inner for each in found for inner in _step(each, match)]
        place = match.end()
    if not found:
        raise InvalidArgument(f"nothing stands at {path[:80]!r}", hint=_members(value))
    return "\n".join(map(compact, found))


_HOW = 'write it like "$.rows[10:20].name", with [*] for every item'


def _step(value: Any, match: "re.Match[str]") -> list[Any]:
    name = match[1] or match[5] or match[6]
    if name is not None:
        return [value[name]] if isinstance(value, dict) and name in value else []
    if match[2] is not None:
        place = int(match[2])
        return [value[place]] if isinstance(value, list) and -len(value) <= place < len(value) else []
    if isinstance(value, dict):
        return list(value.values()) if match[0] in ("[*]", ".*") else []
    if not isinstance(value, list):
        return []
    if match[3] is None:
        return value
    return value[int(match[3]) if match[3] else None : int(match[4]) if match[4] else None]


def _members(value: Any) -> str:
    if isinstance(value, dict):
        return f"members: {', '.join(list(value)[:20])}"
    return f"an array of {len(value):,}" if isinstance(value, list) else "the whole is one value"


def matches(text: str, query: str) -> str:
    """The lines that hold all words of the query, or match it as an expression, with the lines around them."""
    lines = text.splitlines()
    words = query.lower().split()
    if not words:
        raise InvalidArgument("query is empty", hint="give words or a regular expression")
    found = [place for place, line in enumerate(lines) if all(word in line.lower() for word in words)]
    phrase = query.strip().lower()
    # In a long line the words may stand anywhere; where the phrase itself occurs, that is what is shown.
    wanted = [phrase] if any(phrase in lines[place].lower() for place in found) else words
    expression = re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE)
    if not found:
        expression = _compiled(query)
        found = [place for place, line in enumerate(lines) if expression.search(line[:_LONGEST_SEARCHED_LINE])]
    if not found:
        return f"No match for {query[:80]!r} in {len(lines):,} lines."
    return f"{len(found):,} of {len(lines):,} lines match:\n" + "\n".join(_shown(lines, found, expression))


def _compiled(query: str) -> "re.Pattern[str]":
    if _EXPLOSIVE.search(query):
        raise InvalidArgument("this expression repeats a repetition, which may never end", hint="simplify it")
    try:
        return re.compile(query, re.IGNORECASE)
    except re.error:
        return re.compile(re.escape(query), re.IGNORECASE)


def _shown(lines: list[str], found: list[int], expression: "re.Pattern[str]") -> list[str]:
    shown: list[str] = []
    matching = set(found)
    last = -1
    for place in found:
        for near in range(max(last + 1, place - CONTEXT), min(len(lines), place + CONTEXT + 1)):
            if shown and near > last + 1 and last >= 0:
                shown.append("--")
            mark = ":" if near in matching else "-"
            shown += [f"{near + 1}{mark} {part}" for part in _parts(lines[near], expression, near in matching)]
            last = near
    return shown


def _parts(line: str, expression: "re.Pattern[str]", is_match: bool) -> list[str]:
    """A line as it is shown: whole, or around its matches where it is long."""
    if len(line) <= _LONG_LINE:
        return [line]
    if not is_match:
        return [line[:_AROUND] + "…"]
    parts, last = [], -1
    for match in expression.finditer(line[: _LONGEST_SEARCHED_LINE * 50]):
        if match.start() < last:
            continue
        start, last = max(0, match.start() - _AROUND), match.end() + _AROUND
        parts.append(f"{'…' if start else ''}{line[start:last]}{'…' if last < len(line) else ''}")
        if len(parts) == _PER_LINE:
            break
    return parts or [line[:_AROUND] + "…"]
