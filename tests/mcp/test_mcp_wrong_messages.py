"""A client that does everything wrong is answered, line by line, and the door stays open."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haversack.app import Caller, open_caller
from haversack.config import Config, ServerSettings
from haversack.protocol.lines import Giant, Lines
from haversack.stdio.server import serve
from tests.mcp.talking import Talk, answer_to, called, hello, request


@pytest.mark.parametrize(
    "line",
    [
        b"{\n",
        b"nonsense\n",
        b'{"jsonrpc":"2.0","id":1,"method":"pi\n',
        b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}\n',
        b'\xff\xfe{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_what_is_not_json_is_a_parse_error_and_the_next_line_is_answered(talk: Talk, line: bytes) -> None:
    answers = talk(line, request(2, "ping"))
    assert answers[0]["id"] is None
    assert answers[0]["error"]["code"] == -32700
    assert answer_to(2, answers)["result"] == {}


@pytest.mark.parametrize(
    ("message", "number"),
    [
        (5, None),
        ("ping", None),
        (None, None),
        ([], None),
        ({}, None),
        ({"jsonrpc": "1.0", "id": 1, "method": "ping"}, 1),
        ({"id": 1, "method": "ping"}, 1),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 1),
        ({"jsonrpc": "2.0", "id": 1}, 1),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}, None),
    ],
)
def test_what_is_not_a_request_is_refused_with_its_id_where_it_has_one(
    talk: Talk, message: object, number: int | None
) -> None:
    (answer,) = talk(message)
    assert answer["id"] == number
    assert answer["error"]["code"] == -32600


@pytest.mark.parametrize("params", [[1, 2], "x", 7, None])
def test_params_that_are_not_an_object_are_refused(talk: Talk, params: object) -> None:
    (answer,) = talk({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": params})
    assert answer["error"]["code"] == -32602


def test_the_id_goes_back_as_it_came(talk: Talk) -> None:
    for number in (0, -5, 10**15, "", "1", "é🎒", "\ud800"):
        assert talk(request(number, "ping"))[0]["id"] == number


def test_lone_surrogates_anywhere_are_answered_in_valid_unicode(talk: Talk) -> None:
    answers = talk(
        hello(),
        called(1, "mem_save", title="half \ud800", content="a \udfff b"),
        called(2, "mem_search", query="\ud83d half"),
        called(3, "\ud800"),
        request(4, "resources/read", uri="haversack://\udc00"),
        request(5, "\udead"),
        request(6, "prompts/get", name="recall", arguments={"topic": "\ud800"}),
    )
    assert {each["id"] for each in answers} == set(range(7))
    for each in answers:
        json.dumps(each, ensure_ascii=False).encode()


def test_empty_lines_are_passed_over(talk: Talk) -> None:
    assert [each["id"] for each in talk(b"\n", b"  \r\n", request(1, "ping"), b"\n")] == [1]


def test_a_byte_order_mark_and_carriage_returns_are_no_obstacle(talk: Talk) -> None:
    line = b"\xef\xbb\xbf" + json.dumps(request(1, "ping")).encode() + b"\r\n"
    assert talk(line)[0]["result"] == {}


def test_a_last_line_without_its_end_is_answered(talk: Talk) -> None:
    assert talk(json.dumps(request(1, "ping")).encode())[0]["result"] == {}


def test_an_id_that_is_still_being_answered_is_refused(talk: Talk) -> None:
    many = [called("same", "mem_save", title=f"t{n}", content=f"c{n}") for n in range(50)]
    answers = [each for each in talk(hello(), *many) if each["id"] == "same"]
    assert len(answers) == 50
    assert any("result" in each for each in answers)


def test_a_thousand_calls_at_once_are_all_answered(talk: Talk) -> None:
    calls = [called(number, "mem_stats" if number % 2 else "mem_suggest_topic_key") for number in range(1, 1001)]
    answers = talk(hello(), *calls)
    assert sorted(each["id"] for each in answers) == list(range(1001))
    assert all("result" in each for each in answers)


@pytest.fixture
def narrow(tmp_path: Path) -> Caller:
    return open_caller(Config(home=str(tmp_path), server=ServerSettings(max_line_bytes=1_000)), directory=str(tmp_path))


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"%s"}}', 7),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": "seven", "params": {"x":"%s"}}', "seven"),
        (b'{"method":"ping","params":{"x":"%s"},"jsonrpc":"2.0","id":7}', 7),
        (b'{"method":"ping","params":{"x":"%s"},"id":7}', 7),
        (b'{"method":"ping","params":{"x":"%s","y":{},"id":7}}', None),
        (b'{"method":"ping","params":{"id":7,"x":"%s"}}', None),
        (b"%s", None),
    ],
)
def test_a_giant_line_is_refused_under_its_own_id_and_the_next_is_answered(
    talk: Talk, narrow: Caller, line: bytes, number: object
) -> None:
    giant = line.replace(b"%s", b"x" * 300_000) + b"\n"
    answers = talk(giant, request(99, "ping"), using=narrow)
    assert answers[0]["id"] == number
    assert answers[0]["error"]["code"] == -32600
    assert "max_line_bytes" in answers[0]["error"]["message"]
    assert answer_to(99, answers)["result"] == {}


@given(st.binary(max_size=300), st.integers(1, 80))
def test_every_line_within_the_limit_is_read_and_every_other_is_a_giant(content: bytes, limit: int) -> None:
    by_newline = content.split(b"\n")
    lines = [part + b"\n" for part in by_newline[:-1]] + ([by_newline[-1]] if by_newline[-1] else [])
    expected = [line if len(line) <= limit else None for line in lines]
    read = [None if isinstance(line, Giant) else line for line in Lines(BytesIO(content), limit)]
    assert read == expected


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_methods = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "prompts/get", "resources/read", "completion/complete", "x"]
)
_params = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["mem_search", "mem_get_observation", "more", "recall"]) | _json,
        "arguments": st.dictionaries(st.sampled_from(["query", "id", "limit", "key", "max_tokens"]), _json) | _json,
        "uri": st.just("haversack://observation/1") | _json,
        "protocolVersion": _json,
        "_meta": _json,
        "argument": _json,
        "cursor": _json,
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(_methods, _params | _json), max_size=6))
def test_every_request_is_answered_exactly_once_whatever_is_in_it(
    caller: Caller, requests: list[tuple[str, object]]
) -> None:
    messages = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(requests, start=1)
    ]
    source = BytesIO(b"".join(json.dumps(each).encode() + b"\n" for each in [hello(), *messages]))
    target = BytesIO()
    serve(caller, stdin=source, stdout=target)
    answers = [json.loads(line) for line in target.getvalue().splitlines()]
    assert sorted(each["id"] for each in answers) == list(range(len(messages) + 1))
