"""Other people's tools: random results in every profile and view, and servers that end after any byte of a reply."""

import json
import re
import subprocess
import sys
from typing import Any

from attack.trial import Trial, attack
from haversack.app import App
from haversack.config import load
from haversack.gateway.fitting.delivery import Delivery
from haversack.gateway.fitting.prices import binary
from haversack.gateway.fitting.results import Fitted, Rule, fit_result
from haversack.gateway.fitting.views import View
from haversack.gateway.own_tools import OwnTools
from haversack.gateway.upstream.spool import Spools
from haversack.tokens import Profile

PROFILES = ("o200k", "bytes4", "claude", "cl100k", "llama3", "qwen")
VIEWS: tuple[View, ...] = ("content", "structured", "both")
BUDGETS = (64, 70, 90, 128, 150, 256, 400, 1_000, 2_000, 8_000)
PARTS = (
    "plain words here ", "漢字かな交じり文", "🎒👩‍👩‍👧 café ", 'quotes " and \\ ', "\t\x0b\x1f", "\ud800", "\r\n", "\n\n\n",
    "2026-11-18 10:00:01 ERROR disk full\n", "| a | b |\n", "<div>text</div>", "```\ncode\n", "deadbeef" * 9, "A" * 90,
    '{"a":1}\n', "\u202e\u0301", "0123456789 ", "at frame (file.js:1:2)\n", "=== 3 failed ===\n", "@@ -1,2 +1,2 @@\n",
)  # fmt: skip
KEY = re.compile(r'(?:(?:more|find_in)\(\\?|"more":)"(\w+)')
PNG = "iVBORw0KGgoAAAANSUhEUgAA"


@attack("gateway")
def run(trial: Trial) -> None:
    """Fit random results: within the budget whatever is shown, the same twice, and the rest within reach."""
    deliveries = {}
    for name in PROFILES:
        home = str(trial.folder / name)
        config = load(
            {"HAVERSACK_HOME": home, "HAVERSACK_TOKENS_PROFILE": name, "HAVERSACK_BUDGET_TOTAL": "1000000000"}
        )
        deliveries[name] = Delivery(lambda config=config: App(config))  # type: ignore[misc]
    while trial.goes_on():
        delivery = deliveries[PROFILES[trial.tried % len(PROFILES)]]
        result, view, tokens = _result(trial), trial.random.choice(VIEWS), trial.random.choice(BUDGETS)
        rule = Rule("tool", tokens, view=view, compress=trial.random.random() < 0.8)
        # What the fitting itself promises is looked at each time, what takes as long again now and then.
        problem = _problem(result, rule, delivery, again=trial.tried % 5 == 0, goes_on=trial.tried % 3 == 0)
        trial.judge(f"{delivery.profile.name} {view} {tokens}: {problem}", not problem)
    for delivery in deliveries.values():
        delivery.close()


def _problem(result: dict[str, Any], rule: Rule, delivery: Delivery, *, again: bool, goes_on: bool) -> str:
    """What is wrong with a fitted result; empty where nothing is."""
    profile, text = delivery.profile, json.dumps(result)
    outcome = fit_result(text, rule, delivery)
    if not isinstance(outcome, Fitted):
        return "" if cost(result, rule.view, profile) <= rule.tokens else "passed, but over the budget"
    fitted = json.loads(outcome.text)
    if (paid := cost(fitted, "both", profile)) > rule.tokens:
        return f"{paid} tokens"
    if fitted.get("isError") != result.get("isError") or fitted.get("kept") != 1.5:
        return "a field was lost"
    if again and fit_result(text, rule, delivery) != outcome:
        return "another reply to the same call"
    key = KEY.search(outcome.text)
    if key is None:
        return f"no key for the rest: {outcome.text[:150]!r}"
    if not goes_on:
        return ""
    own = OwnTools(delivery, Spools())
    answer = own.answer("more", {"key": key[1], "max_tokens": 2_000}, None)
    if "call more with max_tokens=" in str(answer):
        answer = own.answer("more", {"key": key[1], "max_tokens": 20_000}, None)
    return f"its key does not work: {answer}" if answer.get("isError") else ""


def cost(result: dict[str, Any], view: View, profile: Profile) -> int:
    """What a client with this view pays for a result."""
    structured, total = result.get("structuredContent"), 0
    if structured is not None and view != "content":
        total += profile.measure(_compact(structured))
    if structured is None or view != "structured":
        for block in result["content"]:
            held = binary(block, profile)
            if held is not None:
                total += -(-held.tokens * profile.denominator // profile.numerator)
            else:
                total += profile.measure(_text(block))
    return profile.tokens(total)


def _text(block: Any) -> str:
    if block.get("type") == "text":
        return str(block["text"])
    if block.get("type") == "resource" and "text" in block["resource"]:
        return str(block["resource"]["text"])
    return _compact(block)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _words(trial: Trial) -> str:
    chance = trial.random
    count = chance.choice((0, 1, 3, 20, 100, 400))
    return "".join(chance.choices(PARTS, k=count))


def _result(trial: Trial) -> dict[str, Any]:
    chance = trial.random
    content = [_block(trial) for _ in range(chance.choice((0, 1, 1, 1, 2, 5)))]
    result: dict[str, Any] = {"content": content, "kept": 1.5}
    if chance.random() < 0.5:
        result["structuredContent"] = _value(trial, 4)
        if chance.random() < 0.5:
            result["content"] = [{"type": "text", "text": json.dumps(result["structuredContent"])}]
    if chance.random() < 0.2:
        result["isError"] = True
    return result


def _block(trial: Trial) -> dict[str, Any]:
    chance = trial.random
    kind = chance.choice(("text", "text", "text", "rows", "image", "audio", "resource", "blob", "link", "unknown"))
    words = _words(trial)
    if kind == "text":
        return {"type": "text", "text": words, "annotations": {"priority": 1}}
    if kind == "rows":
        rows = [{"id": n, "name": words[:50], "more": {"x": n * 1.5}} for n in range(chance.choice((3, 50, 400)))]
        return {"type": "text", "text": json.dumps(rows)}
    if kind in ("image", "audio"):
        return {"type": kind, "data": (PNG if kind == "image" else "") + "AAAA" * len(words), "mimeType": f"{kind}/x"}
    if kind == "resource":
        return {"type": "resource", "resource": {"uri": "a://b", "text": words}}
    if kind == "blob":
        return {"type": "resource", "resource": {"uri": "a://b", "blob": "QUJD" * len(words)}}
    if kind == "link":
        return {"type": "resource_link", "uri": "a://b", "name": words[:200]}
    return {"type": "hologram", "depth": words[:500]}


def _value(trial: Trial, depth: int) -> Any:
    chance = trial.random
    kind = chance.choice(("text", "number", "list", "object", "object") if depth else ("text", "number"))
    if kind == "text":
        return _words(trial)[:400]
    if kind == "number":
        return chance.choice((None, True, 0, -1.5, 10**25))
    size = chance.choice((0, 1, 3, 12))
    if kind == "list":
        return [_value(trial, depth - 1) for _ in range(size)]
    return {f"{_words(trial)[:8]}{n}": _value(trial, depth - 1) for n in range(size)}


@attack("gateway-deaths")
def deaths(trial: Trial) -> None:
    """End a server after every byte of its reply: the call is answered once, and the exit code is the server's."""
    reply = json.dumps({"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "whole é"}]}})
    whole = reply.encode() + b"\n"
    for size in range(len(whole) + 1):
        if not trial.goes_on():
            break
        answers, code = _answered(trial, whole[:size])
        expected = "whole" if size >= len(whole) - 1 else "exit code 7"
        held = len(answers) == 1 and answers[0].get("id") == 7 and expected in json.dumps(answers) and code == 7
        trial.judge(f"after {size} bytes: {code} {answers}", held)


def _answered(trial: Trial, sent: bytes) -> tuple[list[Any], int]:
    """What a client is told when a server reads a call, writes some bytes and ends, and the exit code."""
    code = f"import os, sys; sys.stdin.buffer.readline(); os.write(1, {sent!r}); os._exit(7)"
    command = [sys.executable, "-m", "haversack", "wrap", "--", sys.executable, "-S", "-c", code]
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "x", "arguments": {}}}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**_environment(), "HAVERSACK_HOME": str(trial.folder / "home")},
    )  # fmt: skip
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(call).encode() + b"\n")
    process.stdin.flush()
    answers = [json.loads(line) for line in process.stdout]
    process.stdin.close()
    process.stdout.close()
    return answers, process.wait(timeout=60)


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith("HAVERSACK_")}
