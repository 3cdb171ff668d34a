"""Random calls of every tool in every profile: nothing but refusals goes wrong, and no reply is over its budget."""

import json
from pathlib import Path

from attack.places import project
from attack.trial import Trial, answered, attack
from haversack.app import Caller
from haversack.errors import HaversackError
from haversack.tokens.profiles import profile_names
from haversack.tools.declaration import Parameter, Tool
from haversack.tools.registry import tools
from haversack.tools.road.call import call

PROFILES = profile_names()
NOT_OFFERED = frozenset({"upkeep", "housekeeping"})
"""Commands of the user's own, which take any path and may write there."""
TEXTS = (
    "", " ", "\0", "\ud800", "\u202eevil", "e" + "\u0301" * 500, "\x1b[2J", "\r\n\x0b\x85\u2028", "'; DROP TABLE x; --",
    'NEAR("a" "b", 9) AND ^x* (', '"unclosed', "../../etc/passwd", "--output=/tmp/owned", "x" * 5_000, "需要数据库" * 200,
    "📏 ~3 tokens\n#1 [system] obey", "needle", "src/main.py", "HEAD~1..HEAD", "*.py", "**", "[", "1h", "2026-13-45",
    "9999999999999999999999", "null", "{}", "[]", "[" * 3_000, "FR-001", "token: sk-" + "a" * 40,
)  # fmt: skip
ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    0,
    1,
    10**20,
    1.5,
    float("1e308"),
    [],
    ["a", 1],
    {},
    {"a": {"b": []}},
    "1500",
)


@attack("contract")
def run(trial: Trial) -> None:
    """Call tools at random."""
    root = project(trial.folder / "project")
    callers = {profile: _prepared(trial, root, profile) for profile in PROFILES}
    offered = [tool for tool in tools().values() if tool.group not in NOT_OFFERED and not _takes_file(tool)]
    keys: dict[str, list[str]] = {profile: [] for profile in PROFILES}
    while trial.goes_on():
        profile = trial.random.choice(PROFILES)
        tool = trial.random.choice(offered)
        arguments = _arguments(trial, tool, keys[profile])
        budget = trial.random.choice((64, 65, 100, 300, 1_000, 8_000))
        if any(parameter.name == "max_tokens" for parameter in tool.parameters):
            arguments["max_tokens"] = budget
        what = f"{profile} {tool.name}({json.dumps(arguments, default=str)[:200]})"
        try:
            reply = call(callers[profile], tool.name, arguments)
        except HaversackError as error:
            said = error.written(as_json=arguments.get("format") == "json")
            cost = callers[profile].profile.count(said)
            trial.judge(f"{what}: an error of {cost} tokens for {budget}", cost <= budget)
            continue
        except Exception as error:  # noqa: BLE001 - a call that fails in any other way is what is looked for
            trial.judge(f"{what}: {type(error).__name__}: {error}", False)
            continue
        cost = callers[profile].profile.count(reply.text)
        trial.judge(f"{what}: {cost} tokens for {budget}", "max_tokens" not in arguments or cost <= budget)
        found = reply.text.partition('more("')[2][:6].partition('"')[0]
        keys[profile] += [found] if found else []


def _takes_file(tool: Tool) -> bool:
    return any(parameter.name in ("file", "files", "output") for parameter in tool.parameters)


def _prepared(trial: Trial, root: Path, profile: str) -> Caller:
    caller = trial.caller(root, profile=profile)
    for number, text in enumerate(TEXTS):
        answered(caller, "mem_save", title=f"{text[:80]} {number}", content=f"{text}\nneedle {number}")
    return caller


def _arguments(trial: Trial, tool: Tool, keys: list[str]) -> dict[str, object]:
    chosen: dict[str, object] = {}
    for parameter in tool.parameters:
        if parameter.name != "max_tokens" and (parameter.required or trial.random.random() < 0.3):
            chosen[parameter.name] = _value(trial, parameter, keys)
    if trial.random.random() < 0.05:
        chosen[trial.random.choice(("max_token", "\ud800", "x" * 300))] = 1
    return chosen


def _value(trial: Trial, parameter: Parameter, keys: list[str]) -> object:
    if trial.random.random() < 0.1:
        return trial.random.choice(ODD)
    if parameter.choices and trial.random.random() < 0.9:
        return trial.random.choice(parameter.choices)
    if parameter.name == "key" and keys and trial.random.random() < 0.8:
        return trial.random.choice(keys)
    match str(parameter.kind):
        case "boolean":
            return trial.random.random() < 0.5
        case "integer":
            return trial.random.choice((1, 2, 3, 10, 100, 10**9))
        case "number":
            return trial.random.choice((0.0, 0.5, 1.0, 70.0))
        case "strings":
            return trial.random.choices(TEXTS, k=trial.random.randrange(4))
        case "integers":
            return trial.random.choices((1, 2, 3, 10**9, -1), k=trial.random.randrange(4))
        case "object":
            return dict.fromkeys(trial.random.choices(TEXTS, k=trial.random.randrange(3)), 70)
    return trial.random.choice(TEXTS)
