"""A server made with the Python SDK that has what the official conformance suite asks a server for, on both wires."""

import base64
import json
from typing import Annotated, Any

import anyio
from mcp.server import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

from tests.gateway.torture_server import png

server = MCPServer(
    name="conformance", version="1", request_state_security=RequestStateSecurity(keys=[b"only for tests, " * 3])
)
PICTURE = ImageContent(type="image", data=png(1, 1), mime_type="image/png")
SOUND = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0").decode()


def words(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def embedded(address: str, text: str, kind: str = "text/plain") -> EmbeddedResource:
    held = TextResourceContents(uri=address, mime_type=kind, text=text)
    return EmbeddedResource(type="resource", resource=held)


# Contents of every kind.


@server.tool()
def test_simple_text() -> str:
    """Answers with a text"""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> list[ImageContent]:
    """Answers with a picture"""
    return [PICTURE]


@server.tool()
def test_audio_content() -> list[AudioContent]:
    """Answers with audio"""
    return [AudioContent(type="audio", data=SOUND, mime_type="audio/wav")]


@server.tool()
def test_embedded_resource() -> list[EmbeddedResource]:
    """Answers with a resource"""
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@server.tool()
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Answers with a text, a picture and a resource"""
    both = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [words("Multiple content types test:"), PICTURE, both]


@server.tool()
def test_error_handling() -> str:
    """Fails"""
    raise RuntimeError("This tool intentionally returns an error for testing")


@server.tool()
def test_x_mcp_header(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "") -> str:
    """Takes a parameter that also stands in a header"""
    return f"region={region}"


@server.tool()
def json_schema_2020_12_tool() -> str:
    """Has an input schema with the keywords of 2020-12"""
    return "done"


def _set_schema() -> None:
    # The SDK has no public way to give a tool a schema of one's own.
    server._tool_manager._tools["json_schema_2020_12_tool"].parameters = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"city": {"type": "string"}}}},
        "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
        "if": {"required": ["name"]},
        "then": {"required": ["name"]},
        "else": {"required": ["address"]},
        "additionalProperties": False,
    }


_set_schema()

# What a server tells and asks the client while a tool runs.


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs three messages"""
    for step in ("started", "goes on", "ends"):
        await ctx.info(f"Tool {step}")
        await anyio.sleep(0.05)
    return "done"


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports progress three times"""
    for done in (0, 50, 100):
        await ctx.report_progress(progress=done, total=100, message=f"{done} of 100")
        await anyio.sleep(0.05)
    return "done"


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model"""
    asked = [SamplingMessage(role="user", content=words(prompt))]
    result = await ctx.session.create_message(messages=asked, max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {getattr(result.content, 'text', '')}"


class Response(BaseModel):
    response: str = Field(description="what the user says")


class Defaults(BaseModel):
    name: str = Field(default="John Doe")
    age: int = Field(default=30)
    score: float = Field(default=95.5)
    status: str = Field(default="active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = Field(default=True)


def _titled(kind: str, **titles: str) -> dict[str, Any]:
    return {kind: [{"const": value, "title": title} for value, title in titles.items()]}


class Choices(BaseModel):
    untitledSingle: str = Field(json_schema_extra={"enum": ["option1", "option2", "option3"]})
    titledSingle: str = Field(json_schema_extra=_titled("oneOf", value1="First", value2="Second", value3="Third"))
    legacyEnum: str = Field(json_schema_extra={"enum": ["a", "b", "c"], "enumNames": ["A", "B", "C"]})
    untitledMulti: list[str] = Field(json_schema_extra={"items": {"type": "string", "enum": ["x", "y", "z"]}})
    titledMulti: list[str] = Field(json_schema_extra={"items": _titled("anyOf", v1="First", v2="Second", v3="Third")})


async def _elicited(ctx: Context, message: str, schema: type[BaseModel]) -> str:
    result = await ctx.elicit(message=message, schema=schema)
    held = result.data.model_dump_json() if result.action == "accept" else "{}"
    return f"action={result.action}, content={held}"


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user"""
    return f"User response: {await _elicited(ctx, message, Response)}"


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks the user, with defaults"""
    return f"Elicitation completed: {await _elicited(ctx, 'Please say who you are', Defaults)}"


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks the user to choose"""
    return f"Elicitation completed: {await _elicited(ctx, 'Please choose', Choices)}"


@server.tool()
async def test_missing_capability(ctx: Context) -> str:
    """Needs a client with sampling"""
    declared = ctx.session.client_capabilities
    if declared is None or declared.sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message="sampling is needed", data=needed)
    return "done"


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    """Says that the tools changed"""
    await ctx.notify_tools_changed()
    return "done"


@server.tool()
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Says that the prompts changed"""
    await ctx.notify_prompts_changed()
    return "done"


# Results that need more input first (2026-07-28).


def asking(message: str, **properties: str) -> ElicitRequest:
    fields = {name: {"type": kind} for name, kind in properties.items()}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(text: str) -> CreateMessageRequest:
    asked = [SamplingMessage(role="user", content=words(text))]
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=asked, max_tokens=100))


def said(answer: Any, name: str) -> str:
    return str((answer.content or {}).get(name)) if isinstance(answer, ElicitResult) else "?"


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """Needs a name"""
    given = ctx.input_responses or {}
    if "user_name" in given:
        return f"Hello, {said(given['user_name'], 'name')}!"
    return InputRequiredResult(input_requests={"user_name": asking("What is your name?", name="string")})


@server.tool()
async def test_input_required_result_sampling(ctx: Context) -> str | InputRequiredResult:
    """Needs a model's answer"""
    if "capital_question" in (ctx.input_responses or {}):
        return "The model answered."
    return InputRequiredResult(input_requests={"capital_question": sampling("What is the capital of France?")})


@server.tool()
async def test_input_required_result_list_roots(ctx: Context) -> str | InputRequiredResult:
    """Needs the client's roots"""
    if "client_roots" in (ctx.input_responses or {}):
        return "The roots came."
    return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


@server.tool()
async def test_input_required_result_request_state(ctx: Context) -> str | InputRequiredResult:
    """Needs its state back"""
    if "confirm" in (ctx.input_responses or {}) and ctx.request_state == "kept":
        return "state-ok"
    return InputRequiredResult(input_requests={"confirm": asking("Sure?", ok="boolean")}, request_state="kept")


@server.tool()
async def test_input_required_result_tampered_state(ctx: Context) -> str | InputRequiredResult:
    """Refuses a state it did not give"""
    if ctx.request_state is not None:
        return "state-ok"
    return InputRequiredResult(input_requests={"confirm": asking("Sure?", ok="boolean")}, request_state="kept")


@server.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> str | InputRequiredResult:
    """Needs three things at once"""
    if {"user_name", "greeting", "client_roots"} <= set(ctx.input_responses or {}):
        return "All inputs received."
    wanted: dict[str, Any] = {
        "user_name": asking("What is your name?", name="string"),
        "greeting": sampling("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    return InputRequiredResult(input_requests=wanted, request_state="several")


@server.tool()
async def test_input_required_result_multi_round(ctx: Context) -> str | InputRequiredResult:
    """Needs two things, one after the other"""
    state, given = json.loads(ctx.request_state or '{"round": 0}'), ctx.input_responses or {}
    if state["round"] == 2 and "step2" in given:
        return f"{state['name']} likes {said(given['step2'], 'color')}."
    if state["round"] == 1 and "step1" in given:
        kept = json.dumps({"round": 2, "name": said(given["step1"], "name")})
        return InputRequiredResult(
            input_requests={"step2": asking("Which colour?", color="string")}, request_state=kept
        )
    first: dict[str, Any] = {"step1": asking("Which name?", name="string")}
    return InputRequiredResult(input_requests=first, request_state=json.dumps({"round": 1}))


@server.tool()
async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult:
    """Asks for what the client can do"""
    declared = ctx.client_capabilities
    wanted: dict[str, Any] = {}
    if declared is None or declared.sampling is not None:
        wanted["sample"] = sampling("Say hello")
    if declared is None or declared.elicitation is not None:
        wanted["ask"] = asking("What is your name?", name="string")
    return InputRequiredResult(input_requests=wanted, request_state="chosen")


# Resources and prompts.


@server.resource("test://static-text")
def static_text() -> str:
    """A text"""
    return "This is the content of the static text resource."


@server.resource("test://static-binary")
def static_binary() -> bytes:
    """A picture"""
    return base64.b64decode(PICTURE.data)


@server.resource("test://template/{id}/data")
def template(id: str) -> str:
    """A text made for an id"""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource")
def watched() -> str:
    """A text that can be watched"""
    return "watched"


def message(content: Any) -> UserMessage:
    return UserMessage(role="user", content=content)


@server.prompt()
def test_simple_prompt() -> list[UserMessage]:
    """Has no arguments"""
    return [message(words("This is a simple prompt for testing."))]


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    """Has two arguments"""
    return [message(words(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    """Holds a resource"""
    return [message(embedded(resourceUri, "Embedded resource content for testing.")), message(words("Read it."))]


@server.prompt()
def test_prompt_with_image() -> list[UserMessage]:
    """Holds a picture"""
    return [message(PICTURE), message(words("Look at it."))]


@server.prompt()
async def test_input_required_result_prompt(ctx: Context) -> list[UserMessage] | InputRequiredResult:
    """Needs input first"""
    given = ctx.input_responses or {}
    if "user_context" in given:
        return [message(words(f"Use this: {said(given['user_context'], 'context')}"))]
    return InputRequiredResult(input_requests={"user_context": asking("Which context?", context="string")})


@server.completion()  # type: ignore[no-untyped-call,untyped-decorator]
async def complete(ref: object, argument: object, context: object) -> Completion:
    """Knows nothing to complete"""
    return Completion(values=[], total=0, has_more=False)


async def _accepted(ctx: ServerRequestContext, params: object) -> EmptyResult:
    return EmptyResult()


for method, kind in (
    ("logging/setLevel", SetLevelRequestParams),
    ("resources/subscribe", SubscribeRequestParams),
    ("resources/unsubscribe", UnsubscribeRequestParams),
):
    # The SDK has no public way to take these requests beside the decorated functions.
    server._lowlevel_server.add_request_handler(method, kind, _accepted)


if __name__ == "__main__":
    server.run(transport="stdio")
