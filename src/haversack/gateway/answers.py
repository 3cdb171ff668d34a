"""The server's side of a conversation: each line is passed on or edited, depending on the request it answers."""

import json
import threading
from collections.abc import Mapping
from typing import Any

from haversack.gateway.desk import Desk
from haversack.gateway.listing import lists
from haversack.gateway.listing.catalogue import Catalogue
from haversack.gateway.messages import Json, Pending, as_bytes, parsed, say
from haversack.gateway.own_tools import text_result
from haversack.gateway.requests import Batch, Requests, key_of
from haversack.gateway.settings import Server
from haversack.gateway.upstream.spool import Spool
from haversack.protocol.lines import INTERNAL_ERROR
from haversack.protocol.raw_lines import LongLine
from haversack.protocol.spans import NotJson, items, members, spliced

_JUNK_SHOWN = 200


class Answers:
    """Passes on what a server writes, and edits what has to be edited."""

    def __init__(self, desk: Desk, server: Server, requests: Requests, catalogue: Catalogue) -> None:
        self._desk = desk
        self._server = server
        self._is_unlimited = not server.budget and not server.budgets
        self._requests = requests
        self._catalogue = catalogue
        self._tasks: dict[str, Pending] = {}
        self._batches: list[Batch] = []
        self._batching = threading.Lock()
        self._instructions = ""
        self._pages = ""
        self._junk = 0

    def task(self, identifier: Any) -> Pending | None:
        """The call that began a task."""
        return self._tasks.get(identifier) if isinstance(identifier, str) else None

    def receive(self, line: bytes) -> None:
        """Take a line of the server."""
        if self._is_unlimited and self._requests.are_plain and self._desk.passes_unread(line) and line[-2:] == b"}\n":
            try:
                message = parsed(line)
            except (ValueError, RecursionError):
                self._drop(line)
                return
            # Kept before it is sent: it may begin a task, for whose result the client can ask at once.
            self._desk.note_unread(line, message)
            self._desk.write(line)
            return
        self._desk.unread.read()
        is_whole = line.endswith(b"\n")
        if line.lstrip()[:1] not in (b"{", b"["):
            if line.strip():
                self._drop(line)
            return
        if is_whole and not self._requests:
            self._desk.write(line)
            return
        try:
            message = parsed(line)
        except (ValueError, RecursionError):
            self._drop(line)
            return
        line = line if is_whole else line + b"\n"
        if isinstance(message, list):
            self._receive_batch(line, message)
        elif "method" in message or "id" not in message:
            self._desk.write(line)
        elif not self._requests.take_own(message):
            self._respond(line, message)

    def note(self, line: bytes, message: Any) -> None:
        """Enter a line that was passed on, where it is a tool's result."""
        if not isinstance(message, dict) or "method" in message or "id" not in message:
            return
        pending, result = self._requests.answered(message["id"]), message.get("result")
        if pending is not None and isinstance(result, dict) and not self._is_unfinished(result, pending):
            self._desk.note(pending, line)

    def _drop(self, line: bytes) -> None:
        self._junk += 1
        shown = line[:_JUNK_SHOWN].decode("utf-8", "replace").strip()
        say(f"not JSON on the server's standard output (line {self._junk} of this kind, dropped): {shown}")

    def _respond(self, line: bytes, message: Json) -> None:
        """Send a response on by the rule of its request."""
        pending = self._requests.answered(message["id"])
        result = message.get("result")
        if pending is None or not isinstance(result, dict):
            self._desk.write(line)
        elif pending.method == "tools/list":
            self._list_page(line, result)
        elif pending.method == "tools/call":
            self._tool_result(line, result, pending)
        elif pending.method in ("tasks/result", "tasks/get") and pending.tool:
            self._task_result(line, result, pending)
        elif pending.method in ("resources/read", "prompts/get"):
            self._desk.pass_resource(line, pending)
        else:
            self._desk.write(line)
            if pending.method == "initialize":
                self._instructions = str(result.get("instructions") or "")

    def _is_unfinished(self, result: Json, pending: Pending) -> bool:
        """Whether an answer to a call is not the tool's result yet; a task that was begun is remembered."""
        held = result.get("task")
        task = held if isinstance(held, dict) else result
        if isinstance(task.get("taskId"), str):
            self._tasks[task["taskId"]] = pending
            return True
        return result.get("resultType") in ("task", "input_required")

    def _tool_result(self, line: bytes, result: Json, pending: Pending) -> None:
        if self._is_unfinished(result, pending):
            self._desk.write(line)
        elif self._desk.passes_at_once(line, pending):
            self._desk.write(line)
            self._desk.note(pending, line)
        else:
            self._desk.submit(lambda: self._desk.deliver(line, pending))

    def _task_result(self, line: bytes, result: Json, pending: Pending) -> None:
        """The final result of a task is the tool's: fitted like it, wherever it stands in the message."""
        if pending.method == "tasks/result":
            self._tool_result(line, result, pending)
        elif isinstance(result.get("result"), dict):
            self._desk.submit(lambda: self._desk.deliver(line, pending, inner=True))
        else:
            self._desk.write(line)

    def _list_page(self, line: bytes, result: Json) -> None:
        tools = result.get("tools")
        if not isinstance(tools, list):
            self._desk.write(line)
            return
        self._catalogue.learn(tools, self._server)
        is_last = not result.get("nextCursor")
        text = line.decode("utf-8", "replace")
        try:
            span = members(text)["result"].value
            edited = lists.edited_page(
                text[span.start : span.end],
                structured=self._desk.settings.structured,
                slim=self._catalogue.mode == "slim",
                tokens=self._desk.most_tokens(self._server),
                own=self._catalogue.own_definitions() if is_last else [],
                allows=self._server.allows,
            )
            changed = spliced(text, [(span, edited)])
            json.loads(changed)
        except (NotJson, LookupError, ValueError, TypeError, AttributeError) as error:
            say(f"the tool list is passed as it came ({error})")
            self._desk.write(line)
            return
        # Known before it is sent: the client may call a tool as soon as it has the list.
        self._catalogue.is_known = self._catalogue.is_known or is_last
        self._desk.write(as_bytes(changed))
        self._pages += edited
        if is_last:
            self.measure(self._pages)
            self._pages = ""

    def begin_list(self) -> None:
        """Expect the first page of a list."""
        self._pages = ""
        self._catalogue.begin()

    def measure(self, listed: str) -> None:
        """Debit the tool list and the instructions that the client received."""
        delivery, text = self._desk.delivery, listed + self._instructions
        self._desk.submit(lambda: delivery.measure_system(delivery.profile.count(text)))

    def spool(self, line: LongLine) -> None:
        """Keep a line that is too long for memory, and answer its request with where it is kept."""
        spool = Spool(line.chunks())
        pending = self._requests.answered(identifier) if (identifier := spool.request_id()) is not None else None
        if pending is None:
            calls = [each for each in self._requests.waiting() if each.method == "tools/call"]
            pending = self._requests.answered(calls[0].identifier) if len(calls) == 1 else None
        if pending is None and identifier is not None and spool.is_complete:
            # The request was too long to be read, too; its sender must not wait for ever.
            self._desk.refuse(identifier, INTERNAL_ERROR, f"the answer has {spool.size:,} bytes")
            return
        if pending is None:
            say(f"a line of {spool.size:,} bytes answers no request and was dropped")
            return
        if not spool.is_complete:
            # The server ended in the middle of it: the request still waits, and is answered with that.
            self._requests.expect(pending)
            return
        if pending.method != "tools/call":
            self._desk.refuse(pending.identifier, INTERNAL_ERROR, f"the answer has {spool.size:,} bytes")
            return
        key = self._desk.spools.add(spool)
        message = spool.notice(key)
        self._desk.answer(pending.identifier, text_result(message))
        self._desk.note(pending, message.encode())

    # Batches: the answers to messages that came in one line go back in one line.

    def begin(self, batch: Batch) -> None:
        """Expect the answers to a batch."""
        with self._batching:
            self._batches.append(batch)

    def drop(self, batch: Batch) -> None:
        """Leave a batch to the server, which answers all of it."""
        with self._batching:
            self._batches.remove(batch)

    def take(self, identifier: Any, result: Mapping[str, Any]) -> bool:
        """Take an answer made here if it belongs to a batch."""
        with self._batching:
            batch = next((each for each in self._batches if each.take(identifier, result)), None)
        if batch is not None:
            self.close(batch)
        return batch is not None

    def close(self, batch: Batch) -> None:
        """Write a batch's answers once they are all there."""
        with self._batching:
            if not batch.is_ready or batch not in self._batches:
                return
            self._batches.remove(batch)
        self._desk.write(b"[" + b",".join(batch.lines) + b"]\n")

    def _receive_batch(self, line: bytes, messages: list[Any]) -> None:
        """The server's answers to a batch, each by its own rule, with those made here."""
        text = line.decode("utf-8", "replace")
        spans = items(text)
        answered = [
            self._requests.answered(each["id"]) if isinstance(each, dict) and "method" not in each and "id" in each
            else None
            for each in messages
        ]  # fmt: skip
        keys = {key_of(each["id"]) for each in messages if isinstance(each, dict) and "id" in each}

        def write() -> None:
            parts = []
            for span, message, pending in zip(spans, messages, answered, strict=True):
                part = text[span.start : span.end]
                if pending is not None and pending.method == "tools/call" and isinstance(message.get("result"), dict):
                    part = self._desk.fitted(part, pending)
                parts.append(as_bytes(part))
            with self._batching:
                batch = next((each for each in self._batches if each.identifiers & keys), None)
            if batch is None:
                unchanged = b",".join(parts) == b",".join(
                    text[span.start : span.end].encode("utf-8", "replace") for span in spans
                )
                self._desk.write(line if unchanged else b"[" + b",".join(parts) + b"]\n")
            else:
                batch.from_server(parts)
                self.close(batch)

        self._desk.submit(write)
