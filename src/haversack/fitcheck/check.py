"""`fitcheck`: does an MCP server keep to the token budgets it is given, and can what it leaves out be reached?"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from haversack.errors import NotFound
from haversack.fitcheck import filling
from haversack.fitcheck.arguments import Inventor, budget_parameter, shown
from haversack.fitcheck.candidates import PAGER, candidates
from haversack.patterns import pattern
from haversack.protocol.client import Answer, Refused, StdioClient, own_server
from haversack.terminal import ProgressLine
from haversack.text.fences import open_fence
from haversack.tokens import Profile, profile_named
from haversack.values import record

BUDGETS = (64, 80, 100, 150, 200, 256, 300, 500, 800, 1_500, 3_000, 8_000)
PLENTY = 1_000_000
ATTEMPTS = 8
"""Calls that a tool may refuse before it is left alone without a single reply."""
PAGES = 2_000
"""A chain of more pages than this counts as endless."""
PATIENCE = 8
"""Pages followed at one budget; then the budget is doubled, so that a long rest at a small budget comes to its end."""
COLUMNS = {"over budget": "over", "footer not counted": "footer", "cut characters": "cut", "open fence": "fence",
           "no totals": "totals", "wrong totals": "wrong", "out of reach": "reach", "lost items": "lost"}  # fmt: skip
FAULTS = tuple(COLUMNS)

_KEY = pattern(r'\bmore\(\\?"([\w-]{2,40})\\?"\)|"more":\s*\{"key":\s*"([\w-]{2,40})"')
_TOTALS = pattern(r'\d[\d,]* of \d[\d,]*|"total[a-z_]*":\s*\d')
_FOUND = pattern(r'\b[Ff]ound (\d[\d,]*)\b|"total":\s*(\d+)')
_SHOWN = pattern(r"(\d[\d,]*) of (\d[\d,]*)")
_ITEM = pattern(r'^(?:\[\d+\] )?#(\d{1,9})\b|^\{?"id":(\d{1,9})\b', 8)  # re.MULTILINE


@record
class CheckOptions:
    """The options of an examination: the number of replies, the token profile, and the calls to make first."""

    replies: int = 1_000
    profile: str = "o200k"
    seed: int = 1
    tools: Sequence[str] = ()
    prepare: str = ""
    fill: str = ""


class Record:
    """The results of the calls of one tool."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.replies = self.refused = self.pages = 0
        self.worst = {"o200k": 0.0, "bytes4": 0.0}
        self.faults = dict.fromkeys(FAULTS, 0)
        self.examples: dict[str, str] = {}

    @property
    def violations(self) -> int:
        return sum(self.faults.values())

    def blame(self, fault: str, example: str) -> None:
        self.faults[fault] += 1
        self.examples.setdefault(fault, example)

    def facts(self) -> dict[str, object]:
        return {
            "tool": self.name, "replies": self.replies, "refused": self.refused, "pages": self.pages,
            "got_over_asked": {name: round(ratio, 3) for name, ratio in self.worst.items()},
            "faults": self.faults, "examples": self.examples,
        }  # fmt: skip


class Check:
    """One server under examination."""

    def __init__(self, client: StdioClient, options: CheckOptions) -> None:
        self.client = client
        self.options = options
        self.profile = options.profile
        self.counters: dict[str, Profile] = {name: profile_named(name) for name in ("o200k", "bytes4", self.profile)}
        self.random = Random(options.seed)
        self.inventor = Inventor(self.random)
        self.tools = client.list_tools()
        self.pager = next((tool for tool in self.tools if tool["name"] == PAGER), None)
        self.candidates = candidates(self.tools, options.tools)
        self.records = {name: Record(name) for name in self.candidates.checked}
        self.prepared: list[filling.Prepared] = []

    def prepare(self) -> None:
        """Make the preparing calls, so that the server has something to show."""
        if self.options.prepare:
            calls = filling.read_calls(self.options.prepare)
            self.prepared.append(filling.prepare(self.client, calls, self.inventor))
        if name := self.options.fill:
            tool = next((each for each in self.tools if each["name"] == name), None)
            if tool is None:
                raise NotFound(f"the server has no tool {name!r} to fill it with", hint="name the one that saves")
            self.prepared.append(filling.fill(self.client, tool, self.inventor, self.random))

    @property
    def replies(self) -> int:
        return sum(record.replies for record in self.records.values())

    @property
    def violations(self) -> int:
        return sum(record.violations for record in self.records.values())

    def run(self, replies: int, seen: Callable[[int], None] = lambda replies: None) -> None:
        """Call the tool with the fewest replies, until all were tried and `replies` is reached, or none answers."""
        checked = [tool for tool in self.tools if tool["name"] in self.records and tool is not self.pager]
        # Tools that need nothing come first: what they list gives the others ids, words and paths to ask for.
        checked.sort(key=lambda tool: len((tool.get("inputSchema") or {}).get("required") or ()))
        barren = 0
        while barren < 10 * len(checked):
            # The first made-up arguments are often refused, so a tool gets several tries.
            silent = [tool for tool in checked if self._is_untried(tool)]
            if self.replies >= replies and not silent:
                return
            before = self.replies
            seen(before)
            self._try(min(checked if self.replies < replies else silent, key=self._heard))
            barren = 0 if self.replies > before else barren + 1

    def _is_untried(self, tool: Mapping[str, Any]) -> bool:
        record = self.records[tool["name"]]
        return record.replies == 0 and record.refused < ATTEMPTS

    def _heard(self, tool: Mapping[str, Any]) -> int:
        record = self.records[tool["name"]]
        return record.replies + 4 * record.refused

    def _try(self, tool: Mapping[str, Any]) -> None:
        record, parameter = self.records[tool["name"]], budget_parameter(tool)
        arguments = self.inventor.arguments(tool, parameter)
        whole = self._call(record, tool["name"], {**arguments, parameter: PLENTY})
        if whole is None:
            return
        self.inventor.learn(whole.text)
        for budget in self.random.sample(BUDGETS, 3):
            asked = {**arguments, parameter: budget}
            reply = self._call(record, tool["name"], asked)
            if reply is not None:
                self._examine(record, reply, whole, asked, budget)

    def _call(self, record: Record, name: str, arguments: Mapping[str, Any]) -> Answer | None:
        """A reply; None when the server refused the call."""
        try:
            answer = self.client.call(name, arguments)
        except Refused:
            record.refused += 1
            return None
        if answer.is_error:
            record.refused += 1
            return None
        record.replies += 1
        return answer

    def _examine(self, record: Record, reply: Answer, whole: Answer, asked: Mapping[str, Any], budget: int) -> None:
        example = f"{record.name}({shown(asked)})"
        self._examine_text(record, reply, example, budget)
        if wrong := wrong_totals(reply.text, whole.text):
            record.blame("wrong totals", f"{example}: {wrong}")
        key = key_in(reply.text)
        is_shorter = self._cost(reply.text) + 40 < self._cost(whole.text) and not tells_all(reply.text, whole.text)
        if not key and not is_shorter:
            return
        if not _TOTALS.search(reply.text):
            record.blame("no totals", example)
        if not key or self.pager is None:
            record.blame("out of reach", example)
            return
        seen = items_in(reply.text)
        # A long rest may take a page for each item, but no more.
        most = max(PAGES, shown_of(reply.text)[1])
        for page in self._pages(record, key, budget, example, most):
            seen |= items_in(page.text)
        if missing := items_in(whole.text) - seen:
            record.blame("lost items", f"{example}: {sorted(missing)[:5]}")

    def _pages(self, record: Record, key: str, budget: int, example: str, most: int) -> Iterator[Answer]:
        """The rest of a reply, page by page, to its end."""
        assert self.pager is not None
        parameter = budget_parameter(self.pager)
        followed: set[str] = set()
        while key:
            followed.add(key)
            page = self._call(record, "more", {"key": key, **({parameter: budget} if parameter else {})})
            if page is None or len(followed) > most:
                record.blame("out of reach", f"{example}: more({key!r})")
                return
            record.pages += 1
            self._examine_text(record, page, f"{example}: more({key!r})", budget)
            yield page
            key = key_in(page.text)
            if parameter and len(followed) % PATIENCE == 0:
                budget *= 2
            if key in followed:
                # Nothing fitted: an item is shown whole or not at all, so that it takes a larger budget.
                budget *= 2
                if not parameter or budget > PLENTY:
                    record.blame("out of reach", f"{example}: more({key!r}) leads back to itself")
                    return

    def _examine_text(self, record: Record, reply: Answer, example: str, budget: int) -> None:
        for name in record.worst:
            record.worst[name] = max(record.worst[name], self.counters[name].count(reply.text) / budget)
        cost = self._cost(reply.text)
        if cost > budget:
            is_footer = 0 < self._cost(without_footer(reply.text)) <= budget
            record.blame("footer not counted" if is_footer else "over budget", f"{example}: {cost} tokens")
        if "\ufffd" in reply.text or not is_utf8(reply.line):
            record.blame("cut characters", example)
        if not reply.text.startswith("{") and has_open_fence(reply.text):
            record.blame("open fence", example)

    def _cost(self, text: str) -> int:
        return self.counters[self.profile].count(text)


def key_in(text: str) -> str:
    """The key of what a reply left out; it is looked for only at the end, which the server itself wrote."""
    found = _KEY.findall(text[-600:])
    return next((part for part in found[-1] if part), "") if found else ""


def tells_all(reply: str, whole: str) -> bool:
    """Whether a reply claims to show all items and does so, in whatever detail."""
    listed = items_in(whole)
    shown, total = shown_of(reply)
    return bool(listed) and listed <= items_in(reply) and 0 < shown == total


def shown_of(reply: str) -> tuple[int, int]:
    """How many items a reply says it shows, and of how many; the last such line counts."""
    found = _SHOWN.findall(reply)
    shown, total = found[-1] if found else ("0", "0")
    return int(shown.replace(",", "")), int(total.replace(",", ""))


def wrong_totals(reply: str, whole: str) -> str:
    """What is wrong with the item counts of a reply, compared with its list and with all items; empty if nothing.

    Items that are not listed by their ids are not counted here, and neither are those of a `whole` that was cut.
    """
    listed, there = items_in(reply), items_in(whole)
    if not listed or not there or key_in(whole):
        return ""
    said, total = shown_of(reply)
    if not total:
        found = [first or second for first, second in _FOUND.findall(reply)]
        said, total = len(listed), int(found[0].replace(",", "")) if found else len(there)
    if total < len(there):
        return f"it says {total} where there are {len(there)}"
    if total == len(there) and said > len(listed):
        return f"it says it shows {said} and lists {len(listed)}"
    return ""


def without_footer(text: str) -> str:
    """A text without its last paragraph, or without its last line where it is all one paragraph."""
    body, _, _ = text.rstrip().rpartition("\n\n")
    return body or text.rstrip().rpartition("\n")[0]


def items_in(text: str) -> set[str]:
    """The ids of the items a reply lists."""
    return {first or second for first, second in _ITEM.findall(text)}


def has_open_fence(text: str) -> bool:
    """Whether a code fence is opened and not closed."""
    return bool(open_fence(text.splitlines()))


def is_utf8(line: bytes) -> bool:
    """Whether a line is valid UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def run(command: Sequence[str], options: CheckOptions, *, as_json: bool) -> tuple[str, int]:
    """The report on a server, or on this program's own with a made-up store, and the number of violations."""
    if command:
        return _examined(StdioClient(command), options, as_json=as_json)
    from haversack.fitcheck import sample_store

    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as workspace:
        sample_store.fill(home)
        sample_store.write_files(workspace)
        own = (sys.executable, "-m", "haversack", "serve", "--tools", "all")
        client = StdioClient(own, environment=own_server(home), folder=workspace)
        return _examined(client, options, as_json=as_json)


def _examined(client: StdioClient, options: CheckOptions, *, as_json: bool) -> tuple[str, int]:
    from haversack.fitcheck import report

    progress = ProgressLine()
    try:
        told = client.shake_hands()
        check = Check(client, options)
        if not check.records:
            raise NotFound("the server has no reading tool with a token budget", hint=report.reasons(check.candidates))
        check.prepare()
        check.run(options.replies, lambda replies: progress.show("replies", replies, max(options.replies, replies)))
    finally:
        progress.close()
        client.kill()
    name = (told.get("serverInfo") or {}).get("name", "")
    return (report.as_json(check, name) if as_json else report.as_table(check)), check.violations
