"""Arrays of objects as tables: the names once, then one JSON array for each row, numbers as they were written."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from haversack.gateway.renderings.rendering import Rendering

FEWEST_ROWS = 3
MISSING = "{}"
_string = json.encoder.encode_basestring


class Literal(str):
    """A number as it was written."""


_decoder = json.JSONDecoder(parse_int=Literal, parse_float=Literal)


def table(text: str) -> Rendering | None:
    """A JSON text that is an array of objects, or an object around one, as a table."""
    value = _decoder.decode(text)
    if _is_rows(value):
        lines = rows(value)
        return _made(len(value), "", lines, text)
    if not isinstance(value, dict):
        return None
    arrays = [(name, held) for name, held in value.items() if _is_rows(held)]
    if not arrays:
        return None
    name, held = max(arrays, key=lambda pair: len(pair[1]))
    around = {key: other for key, other in value.items() if key != name}
    lines = rows(held)
    if lines is None:
        return None
    first = [compact(around)] if around else []
    return _made(len(held), f" {_string(name)[:80]}", [*first, *lines], text)


def _made(count: int, name: str, lines: list[str] | None, text: str) -> Rendering | None:
    if lines is None:
        return None
    made = "\n".join(lines)
    if len(made) >= len(text):
        return None
    return Rendering(f"table{name}: {count:,} rows below the names; {MISSING} = absent", made)


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and len(value) >= FEWEST_ROWS and all(isinstance(row, dict) and row for row in value)


def rows(values: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """The line of names and the rows; None where a table could not be read back."""
    nested = _nested(values)
    flat = [dict(_flattened(row, nested)) for row in values]
    names = list(dict.fromkeys(name for row in flat for name in row))
    for name in names:
        # An empty object in a column from which rows are missing could not be told from a missing one.
        if any(row.get(name, 0) == {} for row in flat) and any(name not in row for row in flat):
            return None
    lines = [compact(names)]
    lines += ["[" + ",".join(compact(row[name]) if name in row else MISSING for name in names) + "]" for row in flat]
    return lines


def _nested(values: Sequence[Mapping[str, Any]], depth: int = 0) -> dict[str, Any]:
    """The members that are objects in every row that has them, and theirs in turn."""
    if any("." in name for row in values for name in row):
        return {}
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for row in values for name in row):
        inner = [row[name] for row in values if name in row]
        if depth < 4 and all(isinstance(each, dict) and each for each in inner) and not _has_dots(inner):
            found[name] = _nested(inner, depth + 1)
    return found


def _has_dots(values: Iterable[Mapping[str, Any]]) -> bool:
    return any("." in name for row in values for name in row)


def _flattened(row: Mapping[str, Any], nested: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in row.items():
        if name in nested:
            yield from _flattened(value, nested[name], f"{prefix}{name}.")
        else:
            yield prefix + name, value


def compact(value: Any) -> str:
    """A value as JSON without white space, numbers as they were written."""
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_string(name)}:{compact(held)}" for name, held in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return json.dumps(value)
