"""For LangChain and LangGraph: messages within a budget, a middleware that does it, and a long-term store.

agent = create_agent(model, tools, middleware=[FitMessages(memory, max_tokens=20_000)], store=MemoryStore(memory))
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp

from haversack.library import Memory
from haversack.store.records import Observation
from haversack.worklog.messages import Message
from haversack.worklog.messages import fit_messages as fit_plain_messages

KIND = "langgraph"
_MOST = 200


def fit_messages(messages: Sequence[BaseMessage], max_tokens: int, *, memory: Memory) -> list[BaseMessage]:
    """LangChain messages within a budget: old tool results become a line with a key, which `more` gives back."""
    plain = [_plain(message) for message in messages]
    origin = {id(each): message for each, message in zip(plain, messages, strict=True)}
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    fitted: list[BaseMessage] = []
    for each in fit_plain_messages(plain, max_tokens, log=memory.log):
        if id(each) in origin:
            fitted.append(origin[id(each)])
        elif each.get("role") == "tool":
            fitted.append(results[each["tool_call_id"]].model_copy(update={"content": each["content"]}))
        else:
            fitted.append(HumanMessage(each["content"]))
    return fitted


class FitMessages(AgentMiddleware[Any, Any]):
    """Lets the model see the conversation within a budget; the agent's state keeps all of it."""

    def __init__(self, memory: Memory, *, max_tokens: int) -> None:
        super().__init__()
        self.memory = memory
        self.max_tokens = max_tokens

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with messages that fit."""
        return handler(self._fitted(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        return await handler(self._fitted(request))

    def _fitted(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        fitted: list[Any] = list(fit_messages(request.messages, self.max_tokens, memory=self.memory))
        return request.override(messages=fitted)


class MemoryStore(BaseStore):
    """LangGraph's long-term store in a memory: each item is an observation, found by words as everything else is.

    Secrets are taken out of values, as of all that is remembered; putting None deletes, softly.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations in order."""
        return [self._run(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, in a worker thread."""
        import asyncio

        return await asyncio.to_thread(self.batch, list(ops))

    def _run(self, op: Op) -> Result:
        match op:
            case GetOp():
                found = self.memory.by_topic(_topic(op.namespace, op.key))
                return _item(found) if found else None
            case PutOp(value=None):
                if found := self.memory.by_topic(_topic(op.namespace, op.key)):
                    self.memory.delete(found.id)
            case PutOp():
                held = {"namespace": list(op.namespace), "key": op.key, "value": op.value}
                text = json.dumps(held, ensure_ascii=False, indent=1)
                self.memory.save(op.key, text, kind=KIND, topic_key=_topic(op.namespace, op.key))
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        return None

    def _search(self, op: SearchOp) -> list[SearchItem]:
        kept = [item for found in self._observations(op.query or "") if _matches(item := _item(found), op)]
        return [
            SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at)
            for item in kept[op.offset : op.offset + op.limit]
        ]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {_item(found).namespace[: op.max_depth] for found in self._observations("")}
        for condition in op.match_conditions or ():
            size = len(condition.path)
            ends = condition.match_type == "suffix"
            every = {each for each in every if _fits(each[-size:] if ends else each[:size], condition.path)}
        return sorted(every)[op.offset : op.offset + op.limit]

    def _observations(self, query: str) -> list[Observation]:
        """All items, best first for a query and newest first without one."""
        page = self.memory.search(query, kind=KIND, limit=_MOST) if query else self.memory.recent(KIND, limit=_MOST)
        found = list(page.items)
        while (further := page.more()) is not None:
            found, page = [*found, *further.items], further
        return found


def _plain(message: BaseMessage | AnyMessage) -> Message:
    content = message.content if isinstance(message.content, str) else json.dumps(message.content, default=str)
    match message:
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
        case AIMessage(tool_calls=calls) if calls:
            listed = [
                {"id": call["id"], "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
                for call in calls
            ]
            return {"role": "assistant", "content": content, "tool_calls": listed}
        case AIMessage():
            return {"role": "assistant", "content": content}
        case SystemMessage():
            return {"role": "system", "content": content}
        case _:
            return {"role": "user", "content": content}


def _topic(namespace: tuple[str, ...], key: str) -> str:
    """The topic of an item; parts are escaped, so that no two items share one."""
    from urllib.parse import quote

    return "/".join(["langgraph", *(quote(part, safe="") for part in namespace), "=" + quote(key, safe="")])


def _item(found: Observation) -> Item:
    held = json.loads(found.content)
    return Item(
        value=held["value"], key=held["key"], namespace=tuple(held["namespace"]),
        created_at=_time(found.created_at), updated_at=_time(found.updated_at),
    )  # fmt: skip


def _matches(item: Item, op: SearchOp) -> bool:
    inside = item.namespace[: len(op.namespace_prefix)] == tuple(op.namespace_prefix)
    return inside and all(item.value.get(name) == wanted for name, wanted in (op.filter or {}).items())


def _fits(namespace: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(namespace) == len(path) and all(
        wanted in ("*", part) for part, wanted in zip(namespace, path, strict=True)
    )


def _time(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC)
