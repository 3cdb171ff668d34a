"""Adding and removing one table of a TOML file, leaving every other byte as it is."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from haversack.patterns import pattern

_HEADER = pattern(r"(?m)^[ \t]*\[\[?[ \t]*([^\]\n]+?)[ \t]*\]\]?[ \t]*(?:#[^\n]*)?\r?$")


class BrokenToml(ValueError):
    """The text is not TOML."""


def checked(text: str) -> Mapping[str, Any]:
    """The values in the text; an error when it is not TOML."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BrokenToml(str(error)) from None


def with_table(text: str, keys: tuple[str, ...], values: Mapping[str, object]) -> str:
    """The text with a table of plain values at its end; one of that name is replaced where it stands."""
    checked(text)
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(keys)}]", *(f"{name} = {_written(value)}" for name, value in values.items())]
    table = line_end.join(lines) + line_end
    span = _span(text, keys)
    if span is not None:
        new = text[: span[0]] + table + text[span[1] :]
    elif text.strip():
        new = text + ("" if text.endswith("\n") else line_end) + line_end + table
    else:
        new = text + table
    checked(new)
    return new


def with_values(text: str, keys: tuple[str, ...], values: Mapping[str, object]) -> str:
    """The text with plain values of a table that has a header of its own put in the place of those it has."""
    held = dict(checked(text))
    for name, value in values.items():
        text = _with_value(text, keys, name, value)
    found: Any = checked(text)
    for key in keys:
        found, held = found[key], dict(held.get(key, {}))
    if found != {**held, **values}:
        raise BrokenToml(f"[{'.'.join(keys)}] cannot be edited safely")
    return text


def _with_value(text: str, keys: tuple[str, ...], name: str, value: object) -> str:
    body = _body(text, keys)
    if body is None:
        raise BrokenToml(f"there is no table [{'.'.join(keys)}] of its own")
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = text[body[0] : body[1]].splitlines(keepends=True)
    written = f"{name} = {_written(value)}{line_end}"
    for place, line in enumerate(lines):
        if line.partition("=")[0].strip().strip("\"'") != name:
            continue
        for last in range(place + 1, len(lines) + 1):  # a list may go over many lines
            if _is_whole("".join(lines[place:last])):
                lines[place:last] = [written]
                return text[: body[0]] + "".join(lines) + text[body[1] :]
    return text[: body[0]] + written + text[body[0] :]


def _is_whole(line: str) -> bool:
    try:
        tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _body(text: str, keys: tuple[str, ...]) -> tuple[int, int] | None:
    """Where the lines of a table's own values begin and end, before any other header."""
    start = None
    for found in _HEADER.finditer(text):
        if start is not None:
            return start, found.start()
        if tuple(part.strip().strip("\"'") for part in found[1].split(".")) == keys:
            start = min(len(text), found.end() + 1)
    return None if start is None else (start, len(text))


def without_table(text: str, keys: tuple[str, ...]) -> str:
    """The text without a table, and without the empty line that was put before it."""
    span = _span(text, keys)
    if span is None:
        return text
    before = text[: span[0]]
    for empty in ("\r\n\r\n", "\n\n"):
        if before.endswith(empty):
            before = before[: -len(empty) // 2] if empty == "\n\n" else before[:-2]
            break
    return before + text[span[1] :]


def _span(text: str, keys: tuple[str, ...]) -> tuple[int, int] | None:
    """Where a table begins and ends: behind its last value, before what stands above the next header."""
    start, end = None, len(text)
    for found in _HEADER.finditer(text):
        name = tuple(part.strip().strip("\"'") for part in found[1].split("."))
        if start is None:
            if name == keys:
                start = found.start()
        elif name[: len(keys)] != keys:
            end = found.start()
            break
    if start is None:
        return None
    lines = text[start:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return start, start + len("".join(lines))


def _written(value: object) -> str:
    """A value in TOML; a string of JSON is one of TOML's too."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_written(held)}" for name, held in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
