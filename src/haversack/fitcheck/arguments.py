"""Made-up arguments for a tool, from its schema and from earlier replies of its server."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from haversack.patterns import pattern

_WORD = pattern(r"\w[\w'-]{2,30}")
_NUMBER = pattern(r"#(\d{1,9})\b")
_PATH = pattern(r"[\w.-]+(?:/[\w.-]+)+|[\w-]+\.(?:py|md|txt|js|ts|json|toml)\b")
_REMEMBERED = 400
BUDGET_NAMES = (
    "max_tokens", "token_budget", "maxTokens", "tokenBudget", "max_output_tokens", "budget_tokens", "tokens", "budget"
)  # fmt: skip


def budget_parameter(tool: Mapping[str, Any]) -> str:
    """The name of the parameter that takes a token budget; empty when there is none."""
    properties = (tool.get("inputSchema") or {}).get("properties") or {}
    return next((name for name in BUDGET_NAMES if name in properties), "")


class Inventor:
    """Makes up arguments; the words, ids and paths that replies showed are used again, so that calls find something."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._words = ["the", "a", "error", "file", "main"]
        self._numbers = [1, 2, 3]
        self._paths = [".", "README.md"]
        self._asked: set[str] = set()

    def learn(self, text: str) -> None:
        """Remember words, ids and paths of a reply."""
        sample = text[:4_000]
        self._words = self._kept(self._words, _WORD.findall(sample))
        self._numbers = self._kept(self._numbers, [int(each) for each in _NUMBER.findall(sample)])
        self._paths = self._kept(self._paths, _PATH.findall(sample))

    def arguments(self, tool: Mapping[str, Any], skip: str) -> dict[str, Any]:
        """Arguments that the tool's schema allows, without the parameter to `skip`."""
        schema = tool.get("inputSchema") or {}
        required = set(schema.get("required") or ())
        # Random words suit few options: the first call, which should show most, and every second one omit them.
        chance = self._random.choice((0.0, 0.25)) if tool["name"] in self._asked else 0.0
        self._asked.add(tool["name"])
        made: dict[str, Any] = {}
        for name, described in (schema.get("properties") or {}).items():
            if name != skip and (name in required or self._random.random() < chance):
                made[name] = self._value(name, described if isinstance(described, dict) else {})
        return made

    def _kept(self, before: list[Any], found: list[Any]) -> list[Any]:
        held = list(dict.fromkeys([*before, *self._random.sample(found, min(len(found), 12))]))
        return held[-_REMEMBERED:]

    def _value(self, name: str, described: Mapping[str, Any]) -> Any:
        choices = described.get("enum") or described.get("examples")
        if choices:
            return self._random.choice(choices)
        for option in described.get("anyOf") or described.get("oneOf") or ():
            if option.get("type") != "null":
                return self._value(name, option)
        kind = described.get("type")
        kind = next((each for each in kind if each != "null"), "string") if isinstance(kind, list) else kind
        if kind in ("integer", "number"):
            return self._number(name, described)
        if kind == "boolean":
            return self._random.random() < 0.5
        if kind == "array":
            return [self._value(name, described.get("items") or {})]
        if kind == "object":
            return {}
        return self._text(name)

    def _number(self, name: str, described: Mapping[str, Any]) -> int | float:
        if name.lower() == "id" or name.lower().endswith(("_id", "ids", "number")):
            return int(self._random.choice(self._numbers))
        least = described.get("minimum", 1)
        most = min(described.get("maximum", least + 40), least + 200)
        if described.get("type") == "number" and most - least <= 2:
            return float(least)
        return self._random.randint(int(least), int(max(least, most)))

    def _text(self, name: str) -> str:
        if any(part in name.lower() for part in ("path", "file", "dir", "glob")):
            return str(self._random.choice(self._paths))
        if "query" in name.lower() or "pattern" in name.lower():
            return " ".join(self._random.choices(self._words, k=self._random.randint(1, 3)))
        return str(self._random.choice(self._words))


def shown(arguments: Mapping[str, Any]) -> str:
    """Arguments as JSON, so that the call can be repeated."""
    return json.dumps(arguments, ensure_ascii=False)[:300]
