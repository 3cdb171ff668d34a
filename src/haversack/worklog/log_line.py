"""Compressing: a tool's result as one line for the work log."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from haversack.text.clipping import one_line

LINE = 500
"""The most characters of an entry in the work log."""
ARGUMENTS = 120
"""The most characters of it that the arguments take."""
VALUE = 40
"""The most characters that one argument takes."""

Compressor = Callable[[Any], str]
NO_COMPRESSORS: Mapping[str, Compressor] = MappingProxyType({})


def compress(
    tool: str, result: object, *, compressors: Mapping[str, Compressor] = NO_COMPRESSORS, limit: int = LINE
) -> str:
    """A result as one line of at most `limit` characters, by the tool's own compressor.

    Without a compressor, or when it fails or says more than the result itself, the line is the result's beginning.
    """
    text = result if isinstance(result, str) else _text(result)
    brief = attempt(lambda: compressors[tool](result)) if tool in compressors else ""
    return shortest(brief, text, limit)


def attempt(compressor: Callable[[], str]) -> str:
    """What a compressor makes; empty when it fails."""
    try:
        return compressor()
    except Exception:  # noqa: BLE001 - any compressor may be handed in, and none may cost the caller the result
        return ""


def shortest(brief: str, text: str, limit: int = LINE) -> str:
    """The brief on one line, unless it is empty or longer than the text it stands for."""
    line = one_line(brief, limit)
    if line and len(line) <= len(text):
        return line
    return one_line(text, limit)


def written(arguments: Mapping[str, object], *, each: int, limit: int = 10**9) -> str:
    """Arguments as one would write them in a call, each value cut to `each` characters."""
    parts = []
    for name, value in arguments.items():
        shown = f'"{one_line(value, each)}"' if isinstance(value, str) else one_line(_text(value), each)
        parts.append(f"{name}={shown}")
    return one_line(", ".join(parts), limit)


def _text(value: object) -> str:
    from json import dumps

    try:
        return dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))
    except (RecursionError, ValueError):  # nested too deep, or in itself
        return f"({type(value).__name__})"
