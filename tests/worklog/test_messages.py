"""Fitting conversations in the Anthropic and the OpenAI shape."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haversack.errors import BudgetTooSmall
from haversack.worklog import count_messages, fit_messages
from haversack.worklog.log import WorkLog, open_log

Message = dict[str, Any]
COMPRESSORS = {"grep": lambda text: f"{len(text.splitlines())} matches"}


def anthropic(results: list[str], *, task: str = "Find the bug.") -> list[Message]:
    messages: list[Message] = [{"role": "user", "content": task}]
    for number, result in enumerate(results):
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "grep", "input": {"pattern": f"p{number}"}}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": f"Step {number}."}, call]})
        answer = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": result}
        messages.append({"role": "user", "content": [answer]})
    return messages


def openai(results: list[str], *, task: str = "Find the bug.") -> list[Message]:
    messages: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": task}]
    for number, result in enumerate(results):
        function = {"name": "grep", "arguments": json.dumps({"pattern": f"p{number}"})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result})
    return messages


def responses(results: list[str], *, task: str = "Find the bug.") -> list[Message]:
    messages: list[Message] = [{"role": "user", "content": task}]
    for number, result in enumerate(results):
        call = {"type": "function_call", "call_id": f"c{number}", "name": "grep", "arguments": "{}"}
        messages += [call, {"type": "function_call_output", "call_id": f"c{number}", "output": result}]
    return messages


SHAPES = pytest.mark.parametrize("shape", [anthropic, openai, responses])
LONG = [f"src/file{number}.py:10: match\n" * 200 for number in range(8)]


def calls_and_answers(messages: list[Message]) -> tuple[list[str], list[str]]:
    calls, answers = [], []
    for message in messages:
        content = message.get("content")
        for block in content if isinstance(content, list) else []:
            calls += [block["id"]] if block.get("type") == "tool_use" else []
            answers += [block["tool_use_id"]] if block.get("type") == "tool_result" else []
        calls += [call["id"] for call in message.get("tool_calls") or []]
        answers += [message["tool_call_id"]] if message.get("role") == "tool" else []
        calls += [message["call_id"]] if message.get("type") == "function_call" else []
        answers += [message["call_id"]] if message.get("type") == "function_call_output" else []
    return calls, answers


@SHAPES
def test_a_conversation_that_fits_is_left_as_it_is(shape: Any, log: WorkLog) -> None:
    messages = shape(LONG)
    assert fit_messages(messages, count_messages(messages), log=log) == messages


@SHAPES
def test_old_results_become_their_line_and_the_newest_stay_whole(shape: Any, log: WorkLog) -> None:
    messages = shape(LONG)
    fitted = fit_messages(messages, 5_000, log=log, compressors=COMPRESSORS)
    assert count_messages(fitted) <= 5_000
    assert len(fitted) == len(messages)
    text = json.dumps(fitted)
    assert '200 matches [1,800 tokens in full: more(\\"' in text
    assert json.dumps(LONG[-1]) in text
    assert json.dumps(LONG[0]) not in text


@SHAPES
def test_what_a_line_stands_for_is_read_back_whole(shape: Any, log: WorkLog) -> None:
    fitted = fit_messages(shape(LONG), 3_000, log=log, compressors=COMPRESSORS)
    keys = [part.split('\\"')[0] for part in json.dumps(fitted).split('more(\\"')[1:]]
    assert LONG[0] in {log.expand(key) for key in keys}


@SHAPES
def test_when_lines_are_not_enough_the_oldest_turns_leave_with_their_calls(shape: Any, log: WorkLog) -> None:
    results = [f"result {number} " * 30 for number in range(40)]
    messages = shape(results)
    fitted = fit_messages(messages, 1_500, log=log)
    assert count_messages(fitted) <= 1_500
    calls, answers = calls_and_answers(fitted)
    assert calls == answers
    assert 0 < len(calls) < 40
    task = next(at for at, message in enumerate(messages) if message.get("content") == "Find the bug.")
    assert fitted[: task + 1] == messages[: task + 1]
    note = fitted[task + 1]["content"]
    assert note.startswith("[") and "earlier messages left out" in note
    gone = [json.loads(line) for line in log.expand(note.split('"')[1]).splitlines()]
    assert gone == messages[task + 1 : task + 1 + len(gone)]
    assert len(gone) + len(fitted[task + 2 :]) == len(messages[task + 1 :])


def test_without_a_log_a_line_names_the_call_it_stands_for() -> None:
    fitted = fit_messages(anthropic(LONG), 5_000, compressors=COMPRESSORS)
    assert fitted[2]["content"][0]["content"] == "200 matches [1,800 tokens in full: toolu_0]"


def test_the_newest_result_becomes_its_line_only_when_it_cannot_fit_at_all(log: WorkLog) -> None:
    messages = anthropic(["short result"] * 3 + LONG[:1])
    fitted = fit_messages(messages, 600, log=log, compressors=COMPRESSORS)
    assert count_messages(fitted) <= 600
    assert "200 matches" in fitted[-1]["content"][0]["content"]
    assert len(fitted) == len(messages)


@SHAPES
def test_earlier_turns_leave_before_the_newest_result_is_touched(shape: Any, log: WorkLog) -> None:
    messages = shape(["a short result"] * 30 + LONG[:1])
    fitted = fit_messages(messages, 2_600, log=log, compressors=COMPRESSORS)
    assert count_messages(fitted) <= 2_600
    assert fitted[-1] == messages[-1]
    assert len(fitted) < len(messages)


def test_parallel_calls_stay_with_all_their_results(log: WorkLog) -> None:
    messages: list[Message] = [{"role": "user", "content": "Go."}]
    for turn in range(6):
        ids = [f"t{turn}_{number}" for number in range(3)]
        messages.append(
            {"role": "assistant", "content": [{"type": "tool_use", "id": i, "name": "x", "input": {}} for i in ids]}
        )
        messages.append(
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": i, "content": f"{i} word " * 40} for i in ids],
            }
        )
    for budget in range(1_000, 4_000, 100):
        calls, answers = calls_and_answers(fit_messages(messages, budget, log=log))
        assert calls == answers
        assert calls[-3:] == ["t5_0", "t5_1", "t5_2"]


def test_results_in_several_blocks_and_with_images_are_kept_whole(log: WorkLog) -> None:
    blocks = [{"type": "text", "text": "a word " * 200}, {"type": "image", "source": {"data": "QUJD" * 200}}]
    messages = anthropic(["x"])
    messages[2]["content"][0]["content"] = blocks
    messages += anthropic(["new result"])[1:]
    fitted = fit_messages(messages, 400, log=log)
    line = fitted[2]["content"][0]["content"]
    assert json.loads(log.expand(line.split('more("')[1].split('"')[0])) == blocks


def test_the_messages_given_are_not_changed(log: WorkLog) -> None:
    messages = anthropic(LONG)
    before = copy.deepcopy(messages)
    fit_messages(messages, 2_000, log=log)
    assert messages == before


def test_the_same_history_gives_the_same_bytes_in_another_log() -> None:
    first = fit_messages(openai(LONG), 2_500, log=open_log(), compressors=COMPRESSORS)
    second = fit_messages(openai(LONG), 2_500, log=open_log(), compressors=COMPRESSORS)
    assert json.dumps(first) == json.dumps(second)


def test_fitting_what_was_fitted_changes_nothing(log: WorkLog) -> None:
    fitted = fit_messages(anthropic(LONG), 2_500, log=log)
    assert fit_messages(fitted, 2_500, log=log) == fitted


def test_a_budget_too_small_for_the_task_is_an_error_that_names_what_it_takes(log: WorkLog) -> None:
    with pytest.raises(BudgetTooSmall, match="too small") as caught:
        fit_messages(openai(LONG, task="word " * 500), 300, log=log)
    assert "alone take" in caught.value.hint


def test_a_conversation_of_messages_alone_is_fitted_too(log: WorkLog) -> None:
    messages = [{"role": ("user", "assistant")[at % 2], "content": f"message {at} " * 20} for at in range(21)]
    fitted = fit_messages(messages, 400, log=log)
    assert count_messages(fitted) <= 400
    assert fitted[0] == messages[0]
    assert fitted[-1] == messages[-1]


@given(
    st.sampled_from([anthropic, openai, responses]),
    st.lists(st.text(max_size=1_200), max_size=8),
    st.integers(100, 3_000),
    st.booleans(),
)
def test_whatever_the_history_the_whole_fits_and_every_call_has_its_result(
    shape: Any, results: list[str], budget: int, logged: bool
) -> None:
    messages = shape(results)
    log = open_log(profile="bytes4") if logged else None
    try:
        fitted = fit_messages(messages, budget, log=log, profile="bytes4")
    except BudgetTooSmall:
        assert count_messages(messages, profile="bytes4") > budget
        return
    assert count_messages(fitted, profile="bytes4") <= budget
    calls, answers = calls_and_answers(fitted)
    assert calls == answers
    if count_messages(messages, profile="bytes4") <= budget:
        assert fitted == messages
