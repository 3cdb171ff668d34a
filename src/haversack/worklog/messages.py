"""Fitting a conversation: old tool results become a line with a handle, and the whole fits the budget.

Messages are plain dictionaries as the Anthropic and the OpenAI interfaces take them. By rule, in this order and
only as far as it is needed: earlier results become their line, the oldest first; earlier turns leave, the oldest
first and each with all its calls and results; the newest results become their line. The task (leading system
messages and the first message of the user) stays. Content does not matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from typing import Any

from haversack.errors import BudgetTooSmall
from haversack.tokens import DEFAULT_PROFILE, Profile, profile_named
from haversack.values import record
from haversack.worklog.log import WorkLog
from haversack.worklog.log_line import LINE, NO_COMPRESSORS, Compressor, compress
from haversack.worklog.stash import PreparedText, as_document

Message = dict[str, Any]
_INSTRUCTIONS = {"system", "developer"}
_DEAREST_KEY = "mx474z"


def fit_messages(
    messages: Sequence[Message],
    budget: int,
    *,
    log: WorkLog | None = None,
    profile: str = DEFAULT_PROFILE,
    compressors: Mapping[str, Compressor] = NO_COMPRESSORS,
) -> list[Message]:
    """The conversation within `budget` tokens, as `count_messages` counts; the same history gives the same bytes.

    Every tool call keeps its result, whole or as a line. With a `log`, what is taken out is stored there and the
    line names its key (`log.expand` gives it back); without one it names the call, which the caller still holds.
    The messages given are not changed. A budget too small for the task and the bare last turn is an error.
    """
    counter = log.profile if log else profile_named(profile)
    while True:
        fitting = _Fitting(messages, budget, log, counter, compressors)
        fitted = fitting.fitted()
        if log is None or not fitting.taken_out:
            return fitted
        with log.database.write() as tx:
            if log.stash.put(tx, fitting.taken_out):
                return fitted


def count_messages(messages: Sequence[Message], *, profile: str = DEFAULT_PROFILE) -> int:
    """The tokens of a conversation: those of each message written as JSON."""
    counter = profile_named(profile)
    return sum(counter.count(_as_json(message)) for message in messages)


@record
class _ResultPosition:
    """The position of a tool result: its message, its block in the message, and the call it answers."""

    message: int
    block: int | None
    call_id: str
    tool: str


class _Fitting:
    """The fitting of one conversation to one budget."""

    def __init__(
        self,
        messages: Sequence[Message],
        budget: int,
        log: WorkLog | None,
        profile: Profile,
        compressors: Mapping[str, Compressor],
    ) -> None:
        self.given, self.messages = messages, list(messages)
        self.budget, self.log, self.profile, self.compressors = budget, log, profile, compressors
        self.given_costs = [self._cost(message) for message in messages]
        self.costs = list(self.given_costs)
        self.total = sum(self.costs)
        self.taken_out: list[PreparedText] = []
        self.places = list(_results(messages))
        self.turns = _turns(messages, _task_length(messages))

    def fitted(self) -> list[Message]:
        newest = self.places[-1].message if self.places else len(self.messages)
        last = max((start for start in self.turns if start <= newest), default=0)
        for place in self.places:
            if self.total > self.budget and place.message < last:
                self._shorten(place)
        for place in self.places:
            # The newest results stay whole as long as leaving earlier turns out makes room for them.
            if place.message >= last and min(self.total, self._tokens_without(last)) > self.budget:
                self._shorten(place)
        if self.total <= self.budget:
            return self.messages
        for end in self.turns[1:]:
            if end <= last and self._tokens_without(end) <= self.budget:
                return self._without(end)
        raise BudgetTooSmall(
            f"a budget of {self.budget:,} tokens is too small for this conversation",
            hint=f"its task and its last turn alone take {min(self.total, self._tokens_without(last)):,}",
        )

    def _shorten(self, place: _ResultPosition) -> None:
        """Replace a result by a line with a handle, where that is shorter."""
        message = self.messages[place.message]
        text = _result_text(message, place.block)
        kept = self._kept(text, place.tool)
        handle = f'more("{kept.key}")' if kept else place.call_id
        ending = f" [{self.profile.count(text):,} tokens in full: {handle}]"
        line = compress(place.tool, text, compressors=self.compressors, limit=LINE - len(ending)) + ending
        shorter = _with_result(message, place.block, line)
        cost = self._cost(shorter)
        if cost >= self.costs[place.message]:
            return
        self.total += cost - self.costs[place.message]
        self.messages[place.message], self.costs[place.message] = shorter, cost
        self.taken_out += [kept] if kept else []

    def _tokens_without(self, end: int) -> int:
        """What the conversation costs without the turns before message `end`."""
        start = self._start
        note = self._cost(self._note(end, _DEAREST_KEY))
        return sum(self.costs[:start]) + note + sum(self.costs[end:])

    def _without(self, end: int) -> list[Message]:
        """The conversation without the turns before message `end`, and a note in their place."""
        kept = self._kept("\n".join(map(_as_json, self.given[self._start : end])), "messages")
        self.taken_out += [kept] if kept else []
        note = self._note(end, kept.key if kept else "")
        return [*self.messages[: self._start], note, *self.messages[end:]]

    def _note(self, end: int, key: str) -> Message:
        tokens = sum(self.given_costs[self._start : end])
        where = f': more("{key}")' if key else ""
        gone = f"[{end - self._start} earlier messages left out, {tokens:,} tokens{where}]"
        return {"role": "user", "content": gone}

    @property
    def _start(self) -> int:
        """Where the turns begin, after the task."""
        return self.turns[0] if self.turns else len(self.messages)

    def _kept(self, text: str, name: str) -> PreparedText | None:
        return self.log.stash.prepare(as_document(text, name), name) if self.log else None

    def _cost(self, message: Message) -> int:
        return self.profile.count(_as_json(message))


def _results(messages: Sequence[Message]) -> Iterator[_ResultPosition]:
    """The positions of all tool results, in order."""
    tools: dict[str, str] = {}
    for at, message in enumerate(messages):
        tools |= dict(_calls(message))
        for block, call_id in _answers(message):
            yield _ResultPosition(at, block, call_id, tools.get(call_id, "result"))


def _calls(message: Message) -> Iterator[tuple[str, str]]:
    """The tool calls in a message: their ids and the tools they call."""
    for block in _blocks(message):
        if block.get("type") == "tool_use":
            yield str(block.get("id")), str(block.get("name"))
    for call in message.get("tool_calls") or ():
        yield str(call.get("id")), str((call.get("function") or call.get("custom") or {}).get("name"))
    if message.get("type") == "function_call":
        yield str(message.get("call_id")), str(message.get("name"))


def _answers(message: Message) -> Iterator[tuple[int | None, str]]:
    """The tool results in a message: the block of each, and the call it answers."""
    for at, block in enumerate(_blocks(message)):
        if block.get("type") == "tool_result":
            yield at, str(block.get("tool_use_id"))
    if message.get("role") == "tool":
        yield None, str(message.get("tool_call_id"))
    if message.get("type") == "function_call_output":
        yield None, str(message.get("call_id"))


def _blocks(message: Message) -> list[Message]:
    content = message.get("content")
    return [block if isinstance(block, dict) else {} for block in content] if isinstance(content, list) else []


def _task_length(messages: Sequence[Message]) -> int:
    """How many messages lead up to the user's first, that one included."""
    for at, message in enumerate(messages):
        if message.get("role") not in _INSTRUCTIONS:
            is_task = message.get("role") == "user" and not list(_answers(message))
            return at + 1 if is_task else at
    return len(messages)


def _turns(messages: Sequence[Message], first: int) -> list[int]:
    """Where turns start: at every message before which no call waits for its result."""
    starts = []
    waiting: set[str] = set()
    for at, message in enumerate(messages):
        if not waiting and at >= first:
            starts.append(at)
        waiting |= {call_id for call_id, _ in _calls(message)}
        waiting -= {call_id for _, call_id in _answers(message)}
    return starts


def _result_text(message: Message, block: int | None) -> str:
    held = message if block is None else message["content"][block]
    content = held.get("output" if "output" in held else "content") or ""
    if isinstance(content, str):
        return content
    parts = [part.get("text") if isinstance(part, dict) else None for part in content]
    return "\n".join(map(str, parts)) if all(isinstance(part, str) for part in parts) else _as_json(content)


def _with_result(message: Message, block: int | None, text: str) -> Message:
    """The message with a tool result's content replaced, in a copy."""
    if block is None:
        return {**message, "output" if "output" in message else "content": text}
    blocks = list(message["content"])
    blocks[block] = {**blocks[block], "content": text}
    return {**message, "content": blocks}


def _as_json(value: object) -> str:
    return dumps(value, ensure_ascii=False, default=str)
