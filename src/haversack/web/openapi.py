"""The JSON interface described for programs, made from the tools' declarations."""

from haversack.mcp.definitions import TYPES
from haversack.tools.declaration import Parameter, Tool
from haversack.version import __version__
from haversack.web.rights import scope_for

Json = dict[str, object]

_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {name: {"type": "string"} for name in ("code", "message", "hint")},
        }
    },
}
_FACTS = {
    "Haversack-Tokens": "Tokens of the body, as the profile counts them",
    "Haversack-Shown": "Items in this reply",
    "Haversack-Total": "Items that match in all",
    "Haversack-More": "Key with which the tool `more` gives the rest",
    "Haversack-Left": "Items left out",
    "Haversack-Left-Tokens": "What those cost",
    "Haversack-Ids": "Ids of the observations shown, in order",
}
_ERRORS = {
    "400": "A wrong argument",
    "401": "No valid token",
    "403": "The token may not do this",
    "404": "No such tool, id or key",
    "409": "It contradicts what is there",
    "412": "It has changed meanwhile",
    "429": "Too many calls",
    "503": "Busy; try again after Retry-After",
    "507": "No room on the disk",
}


def document(tools: list[Tool], server: str) -> Json:
    """The description of every tool as OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Haversack",
            "version": __version__,
            "description": "Every reply is within max_tokens, as the profile counts the whole body.",
        },
        "servers": [{"url": server}],
        "security": [{"token": []}],
        "paths": {f"/api/v1/tools/{tool.name}": _path(tool) for tool in tools},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
            "headers": {name: {"description": about, "schema": {"type": "string"}} for name, about in _FACTS.items()},
            "responses": {
                status: {
                    "description": about,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                }
                for status, about in _ERRORS.items()
            },
        },
    }


def _path(tool: Tool) -> Json:
    operations: Json = {"post": _operation(tool, "post") | {"requestBody": _body(tool)}}
    if not tool.writes:
        operations["get"] = _operation(tool, "get") | {"parameters": [_parameter(each) for each in tool.parameters]}
    return operations


def _operation(tool: Tool, method: str) -> Json:
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in _FACTS}
    content = {"text/markdown": {"schema": {"type": "string"}}, "application/json": {"schema": {"type": "object"}}}
    replies: Json = {"200": {"description": "The reply", "headers": headers, "content": content}}
    return {
        "operationId": tool.name if method == "post" else f"{tool.name}_get",
        "summary": tool.title,
        "description": f"{tool.about} Scope: {scope_for(tool, {})}.",
        "tags": [tool.group],
        "responses": replies | {status: {"$ref": f"#/components/responses/{status}"} for status in _ERRORS},
    }


def _body(tool: Tool) -> Json:
    schema = parameters_schema(tool)
    return {"required": bool(schema.get("required")), "content": {"application/json": {"schema": schema}}}


def parameters_schema(tool: Tool) -> Json:
    """Every parameter of a tool as JSON Schema, including those that `tools/list` leaves out."""
    properties = {
        each.name: _schema(each) | ({"description": each.about} if each.about else {}) for each in tool.parameters
    }
    schema: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [each.name for each in tool.parameters if each.required]:
        schema["required"] = required
    return schema


def _parameter(parameter: Parameter) -> Json:
    described: Json = {"name": parameter.name, "in": "query", "required": parameter.required}
    if parameter.about:
        described["description"] = parameter.about
    return described | {"schema": _schema(parameter)}


def _schema(parameter: Parameter) -> Json:
    schema: Json = dict(TYPES[parameter.kind])
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.range:
        schema |= {"minimum": parameter.range.least, "maximum": parameter.range.most}
    return schema
