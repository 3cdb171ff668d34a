"""Output schemas that also admit the cut form of a result, so that a cut result still validates."""

from typing import Any

KEY = "haversack"
_HARD = frozenset(
    (
        "anyOf", "oneOf", "allOf", "not", "if", "$ref", "$dynamicRef", "minProperties", "maxProperties",
        "propertyNames", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties",
        "enum", "const",
    )
)  # fmt: skip
"""Keywords at the root with which one more optional property is not enough."""
_ORIGINAL = "haversackOriginal"
_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_VALUES = frozenset(("enum", "const", "default", "examples"))


def widened(schema: Any) -> Any:
    """A schema that admits what the given one admits, and the cut form."""
    if not isinstance(schema, dict):
        # `true` admits everything already; anything else is left for the client to judge.
        return schema
    plain = schema.get("type") == "object" and not _HARD & schema.keys()
    # A pattern could forbid the new name, and a `$id` would change what references mean.
    if plain and "patternProperties" not in schema and isinstance(schema.get("properties", {}), dict):
        return _with_property(schema)
    return _either(schema)


def _with_property(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema open to one more name: without what it requires, and without the word that it admits no others.

    Whatever says more is paid for with every tool by clients that load output schemas; what it says of its own
    properties stays.
    """
    closed = schema.get("additionalProperties") is False
    wide = {
        name: value
        for name, value in schema.items()
        if name != "required" and not (closed and name == "additionalProperties")
    }
    # Where other names must be of some type, or the name means something else, the new one is named.
    if KEY in schema.get("properties", {}) or schema.get("additionalProperties", True) not in (True, False, {}):
        wide["properties"] = {**schema.get("properties", {}), KEY: {}}
    return wide


def _either(schema: dict[str, Any]) -> dict[str, Any]:
    """The original or the cut form, the original under `$defs` and its own references pointing there."""
    cut = {"type": "object", "required": [KEY]}
    original = schema if "$id" in schema else _rerooted(schema)
    wide: dict[str, Any] = {}
    if "$schema" in schema:
        wide["$schema"] = schema["$schema"]
        original = {name: value for name, value in original.items() if name != "$schema"}
    if schema.get("type") == "object":
        wide["type"] = "object"
    return {**wide, "anyOf": [{"$ref": f"#/$defs/{_ORIGINAL}"}, cut], "$defs": {_ORIGINAL: original}}


def _rerooted(schema: Any) -> Any:
    """The schema with references to its own root pointing to where it now stands."""
    if isinstance(schema, list):
        return [_rerooted(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _rerooted_keyword(name, value) for name, value in schema.items()}


def _rerooted_keyword(name: str, value: Any) -> Any:
    if name in ("$ref", "$dynamicRef") and isinstance(value, str):
        if value == "#" or value.startswith("#/"):
            return f"#/$defs/{_ORIGINAL}{value[1:]}"
        return value
    if name in _VALUES:
        return value
    if name in _NAMED and isinstance(value, dict):
        return {key: _rerooted(part) for key, part in value.items()}
    return _rerooted(value)


_NOISE = frozenset(("$schema", "title", "examples", "$comment"))


def slimmed(schema: Any) -> Any:
    """An input schema without what a model does not need: titles, examples, comments, `additionalProperties: false`."""
    if isinstance(schema, list):
        return [slimmed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    slim: dict[str, Any] = {}
    for name, value in schema.items():
        if name in _NOISE and not isinstance(value, dict):
            continue
        if name == "additionalProperties" and value is False:
            continue
        if name in _VALUES:
            slim[name] = value
        elif name in _NAMED and isinstance(value, dict):
            # Here the names are the author's own: a property called `title` stays.
            slim[name] = {key: slimmed(part) for key, part in value.items()}
        else:
            slim[name] = slimmed(value)
    return slim
