"""Pending requests: those of the client, those of the gateway itself, and batches."""

import threading
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any

from haversack.errors import ToolFailed
from haversack.gateway.messages import Json, Pending, encoded

Key = tuple[type, Any]
_PATIENCE_SECONDS = 60.0


def key_of(identifier: Any) -> Key:
    """An id as it is compared, with its type: 1 is not "1"."""
    if isinstance(identifier, float) and identifier.is_integer():
        identifier = int(identifier)
    hashable = identifier if isinstance(identifier, str | int | float | bool | None) else repr(identifier)
    return type(hashable), hashable


class Requests:
    """The requests one server has not answered yet."""

    def __init__(self, send: Callable[[bytes], bool]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._pending: dict[Key, list[Pending]] = {}
        self._asked: dict[str, SimpleQueue[Json]] = {}
        self._count = 0
        self._others = 0

    def __bool__(self) -> bool:
        return bool(self._pending or self._asked)

    @property
    def are_plain(self) -> bool:
        """Whether nothing waits but tool calls without budgets of their own."""
        return not self._others and not self._asked

    def expect(self, pending: Pending) -> None:
        """Expect the answer to a request of the client."""
        with self._lock:
            self._pending.setdefault(key_of(pending.identifier), []).append(pending)
            self._others += not pending.is_plain

    def answered(self, identifier: Any) -> Pending | None:
        """The request an answer belongs to, which is no longer waiting; None where there is none."""
        with self._lock:
            key = key_of(identifier)
            group = self._pending.get(key)
            if not group:
                return None
            pending = group.pop(0)
            if not group:
                del self._pending[key]
            self._others -= not pending.is_plain
            return pending

    def forget(self, identifier: Any) -> None:
        """Expect no answer any more, because the request was cancelled."""
        with self._lock:
            for pending in self._pending.pop(key_of(identifier), ()):
                self._others -= not pending.is_plain

    def waiting(self) -> list[Pending]:
        """Every request of the client that waits."""
        with self._lock:
            return [pending for group in self._pending.values() for pending in group]

    def abandon(self) -> list[Pending]:
        """Every request that waits, of which none waits any longer; own questions end at once."""
        waiting = self.waiting()
        with self._lock:
            self._pending.clear()
            self._others = 0
            for answers in self._asked.values():
                answers.put({})
        return waiting

    def ask(self, method: str, params: Mapping[str, Any], *, seconds: float = _PATIENCE_SECONDS) -> Json:
        """The server's result for a request of the gateway itself."""
        with self._lock:
            self._count += 1
            identifier = f"haversack/{self._count}"
            answers: SimpleQueue[Json] = SimpleQueue()
            self._asked[identifier] = answers
        self._send(encoded({"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}))
        try:
            message = answers.get(timeout=seconds)
        except Empty:
            raise ToolFailed(f"the server did not answer {method} within {seconds:g} seconds") from None
        finally:
            with self._lock:
                del self._asked[identifier]
        if not message:
            raise ToolFailed(f"the server ended before it answered {method}")
        if not isinstance(message.get("result"), dict):
            raise ToolFailed(f"the server refused {method}: {str(message.get('error'))[:300]}")
        result: Json = message["result"]
        return result

    def take_own(self, message: Json) -> bool:
        """Take an answer if it is to a request of the gateway itself."""
        identifier = message.get("id")
        with self._lock:
            answers = self._asked.get(identifier) if isinstance(identifier, str) else None
        if answers is None:
            return False
        answers.put(message)
        return True


class Batch:
    """The answers to messages that came in one line, some from the server and some made here."""

    def __init__(self, identifiers: set[Key]) -> None:
        self.identifiers = identifiers
        self.local = 0
        self.expects_server = True
        self.lines: list[bytes] = []
        self._taken = 0
        self._has_server = False

    def take(self, identifier: Any, result: Mapping[str, Any]) -> bool:
        """Take an answer that was made here, if it belongs to this batch."""
        if key_of(identifier) not in self.identifiers:
            return False
        self._taken += 1
        self.lines.append(encoded({"jsonrpc": "2.0", "id": identifier, "result": result}).rstrip(b"\n"))
        return True

    def from_server(self, parts: list[bytes]) -> None:
        """Take the server's answers."""
        self._has_server = True
        self.lines[:0] = parts

    @property
    def is_ready(self) -> bool:
        return bool(self.local) and self._taken >= self.local and (self._has_server or not self.expects_server)
