"""A tool as `tools/list` sends it: every byte is paid for in each conversation, so only what helps is there."""

from collections.abc import Mapping

from haversack.tools.declaration import Parameter, Tool

Json = dict[str, object]

TYPES: Mapping[str, Json] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "integers": {"type": "array", "items": {"type": "integer"}},
    "object": {"type": "object", "additionalProperties": {"type": "number"}},
}
"""JSON Schema of each kind of parameter."""
# Explained once, in the instructions, instead of once per tool.
_EXPLAINED = {"detail_level", "project", "namespace"}
# Only programs want them, and they read the reference.
UNLISTED = {"format", "expected_hash", "first", "without"}
# A bound that no caller reaches is not worth its tokens.
_PLENTY = 1_000_000


# Clients that load tools when they are searched for keep these in view all the time.
_IN_VIEW: Json = {"anthropic/alwaysLoad": True}


def definition(tool: Tool) -> Json:
    """The definition of a tool in `tools/list`."""
    told: Json = {
        "name": tool.name,
        "description": tool.about,
        "inputSchema": input_schema(tool),
        "annotations": annotations(tool),
    }
    return told | {"_meta": _IN_VIEW} if tool.always_loaded else told


def input_schema(tool: Tool) -> Json:
    """The tool's parameters as JSON Schema 2020-12, an object without combinators at its root."""
    unlisted = UNLISTED | {"max_tokens"} if tool.confirms else UNLISTED
    listed = [parameter for parameter in tool.parameters if parameter.listed and parameter.name not in unlisted]
    schema: Json = {"type": "object", "properties": {each.name: _property(each) for each in listed}}
    if required := [each.name for each in listed if each.required]:
        schema["required"] = required
    return schema


def annotations(tool: Tool) -> Json:
    """The hints by which a client decides whether to ask a person first, without those that are its defaults."""
    if not tool.writes:
        return {"readOnlyHint": True, "openWorldHint": False}
    hints: Json = {"readOnlyHint": False, "destructiveHint": tool.destructive}
    return hints | ({"idempotentHint": True} if tool.idempotent else {}) | {"openWorldHint": False}


def _property(parameter: Parameter) -> Json:
    schema = dict(TYPES[parameter.kind])
    if parameter.about and parameter.name not in _EXPLAINED:
        schema["description"] = parameter.about
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    return schema | _bounds(parameter)


def _bounds(parameter: Parameter) -> Json:
    """The bounds a caller could run into without knowing them."""
    if parameter.range is None or parameter.name in _EXPLAINED:
        return {}
    bounds: Json = {}
    if parameter.kind == "number" or parameter.range.least > 1:
        bounds["minimum"] = parameter.range.least
    if parameter.range.most < _PLENTY:
        bounds["maximum"] = parameter.range.most
    return bounds
