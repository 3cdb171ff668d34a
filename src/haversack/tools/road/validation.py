"""Arguments as callers send them, turned into the values a tool's function takes."""

from collections.abc import Mapping
from typing import Any

from haversack.errors import InvalidArgument
from haversack.tokens import parse_max_tokens
from haversack.tools.declaration import ALIASES, Parameter, Tool, unknown_parameter

_TRUE = {"true", "1", "yes", "on"}
_FALSE = {"false", "0", "no", "off"}


def validate(tool: Tool, arguments: Mapping[str, object]) -> dict[str, Any]:
    """Every parameter of the tool with its value; an error names the first thing that is wrong."""
    known = {parameter.name: parameter for parameter in tool.parameters}
    given: dict[str, object] = {}
    for name, value in arguments.items():
        actual = ALIASES.get(name, name) if name not in known else name
        if actual not in known:
            raise unknown_parameter(tool, name)
        if actual in given:
            raise InvalidArgument(f"{actual} is given twice", hint=f"{name} is another name for it")
        if value is not None:
            given[actual] = value
    values: dict[str, Any] = {}
    for name, parameter in known.items():
        if name in given:
            values[name] = convert(parameter, given[name])
        elif parameter.required:
            raise InvalidArgument(f"{tool.name} needs {name}", hint=parameter.about or f"give {name}")
        else:
            values[name] = parameter.default
    return values


def with_whole_characters(arguments: Mapping[str, object]) -> Mapping[str, object]:
    """The arguments; an error for halves of surrogate pairs, which can be neither stored nor sent back.

    Only a query is mended instead: whatever was typed can be searched for.
    """
    query = arguments.get("query")
    if isinstance(query, str) and _is_broken(query):
        arguments = {**arguments, "query": query.encode("utf-16", "surrogatepass").decode("utf-16", "replace")}
    for name, value in arguments.items():
        if _holds_broken([name, value]):
            named = "an argument's name" if _is_broken(name) else name
            raise InvalidArgument(f"{named} holds half of a surrogate pair", hint="send whole characters")
    return arguments


def _holds_broken(waiting: list[object]) -> bool:
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if _is_broken(value):
                return True
        elif isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value
    return False


def _is_broken(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def convert(parameter: Parameter, value: object) -> Any:
    """One value as its parameter's kind; numbers sent as strings are accepted, since models send those."""
    if parameter.name == "max_tokens":
        return parse_max_tokens(value)
    converted: Any = _CONVERSIONS[parameter.kind](parameter, value)
    # The default of a filter is an empty text: whoever sends it asks for no filter.
    if parameter.choices and converted not in parameter.choices and converted != parameter.default:
        raise InvalidArgument(f"{parameter.name} is {_shown(value)}", hint=f"allowed: {', '.join(parameter.choices)}")
    if parameter.range and not parameter.range.least <= converted <= parameter.range.most:
        least, most = parameter.range.least, parameter.range.most
        raise InvalidArgument(f"{parameter.name} is {_shown(value)}, not between {least:,} and {most:,}")
    return converted


def _string(parameter: Parameter, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(parameter, value, "text")
    return value


DIGITS = 18
"""The most a whole number has: what a store can hold."""


def _integer(parameter: Parameter, value: object) -> int:
    if isinstance(value, str):
        text = value.strip().removeprefix("#")
        bare = text.removeprefix("-")
        if bare.isascii() and bare.isdigit():
            if len(bare) <= DIGITS:
                return int(text)
            raise _wrong(parameter, value, f"a whole number of at most {DIGITS} digits")
    elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return value
    raise _wrong(parameter, value, "a whole number")


def _number(parameter: Parameter, value: object) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = float("nan")
        if abs(number) < float("inf"):
            return number
    raise _wrong(parameter, value, "a number")


def _boolean(parameter: Parameter, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in _TRUE | _FALSE:
        return value.strip().lower() in _TRUE
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    raise _wrong(parameter, value, "true or false")


def _items(parameter: Parameter, value: object) -> list[object]:
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            import json

            try:
                decoded = json.loads(text)
            except (ValueError, RecursionError):
                raise _wrong(parameter, value, "a list") from None
            return _items(parameter, decoded)
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return [value]
    raise _wrong(parameter, value, "a list")


def _strings(parameter: Parameter, value: object) -> list[str]:
    return [_string(parameter, item) for item in _items(parameter, value)]


def _integers(parameter: Parameter, value: object) -> list[int]:
    return [_integer(parameter, item) for item in _items(parameter, value)]


def _object(parameter: Parameter, value: object) -> dict[str, float]:
    if isinstance(value, str):
        import json

        try:
            value = json.loads(value) if value.strip().startswith("{") else _pairs(value)
        except (ValueError, RecursionError):
            raise _wrong(parameter, value, "a JSON object or name:number, ...") from None
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise _wrong(parameter, value, "an object of names and numbers")
    return {name: _number(parameter, number) for name, number in value.items()}


def _pairs(text: str) -> dict[str, str]:
    """`name:number, name:number` as an object."""
    parts = [part.rpartition(":") for part in text.split(",") if part.strip()]
    if not parts or not all(name.strip() and number.strip() for name, _, number in parts):
        raise ValueError(text)
    return {name.strip(): number.strip() for name, _, number in parts}


_CONVERSIONS = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "strings": _strings,
    "integers": _integers,
    "object": _object,
}


def _wrong(parameter: Parameter, value: object, wanted: str) -> InvalidArgument:
    return InvalidArgument(f"{parameter.name} is {_shown(value)}, not {wanted}", hint=parameter.about)


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        # Nested deeper, or a number longer, than Python will write.
        text = f"a {type(value).__name__} too large to show"
    return text if len(text) <= 60 else text[:57] + "..."
