"""The thread that fits results and answers own tools, so that the account is read and debited in order."""

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from haversack.errors import HaversackError
from haversack.gateway.fitting.delivery import Delivery
from haversack.gateway.fitting.meter import fits_surely
from haversack.gateway.fitting.results import LONGEST_LINE, Fitted, Rule, fit_resource, fit_result, passed_price
from haversack.gateway.fitting.views import UNKNOWN, Client, client_named
from haversack.gateway.messages import Json, Pending, as_bytes, encoded, say
from haversack.gateway.own_tools import OwnTools, failed, text_result
from haversack.gateway.settings import Server, Settings
from haversack.gateway.unread import Unread
from haversack.gateway.upstream.spool import Spools
from haversack.protocol.spans import NotJson, members, spliced

APPS_KEY = "io.modelcontextprotocol/ui"
_BATCH = 64
_QUIET_SECONDS = 0.05
"""How long nothing comes before results that were passed on are entered: entering would delay what comes."""
_MOST_PASSED, _MOST_ROUNDS = 512, 20
"""Results, and such times, after which they are entered though more come."""

Job = Callable[[], None]


class Together:
    """Answers that go back in one line."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.lines: list[bytes] = []


class Desk:
    """Takes results and own calls one after the other, and writes the answers to the client."""

    def __init__(self, settings: Settings, delivery: Delivery, output: int) -> None:
        self.settings = settings
        self.delivery = delivery
        self.client: Client = UNKNOWN
        self.apps = False
        self.spools = Spools()
        self.own = OwnTools(delivery, self.spools)
        self.ui_tools: set[str] = set()
        self.more_name = "more"
        self.unread = Unread()
        self._output = output
        self._writing = threading.Lock()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._together: list[tuple[Any, Together]] = []
        self._gathering = threading.Lock()
        self._is_busy = True
        self._notes: list[tuple[str, Mapping[str, Any], str, int]] = []
        self._passed: deque[tuple[Pending, bytes]] = deque()
        self._passed_bytes = 0
        self._allocation = self._least = self._always_fits = 0
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def meet(self, params: Any) -> None:
        """Remember the client's description of itself."""
        if not isinstance(params, dict):
            return
        name = (params.get("clientInfo") or {}).get("name")
        self.client = client_named(name) if isinstance(name, str) else UNKNOWN
        self._note_capabilities(params.get("capabilities"))

    def meet_stateless(self, meta: Mapping[str, Any]) -> None:
        """Remember the client's description of itself in the metadata of a request."""
        info = meta.get("io.modelcontextprotocol/clientInfo")
        if isinstance(info, dict):
            self.meet({"clientInfo": info, "capabilities": meta.get("io.modelcontextprotocol/clientCapabilities")})

    def _note_capabilities(self, capabilities: Any) -> None:
        extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
        self.apps = isinstance(extensions, dict) and APPS_KEY in extensions

    def write(self, line: bytes) -> None:
        """Write a line to the client at once; after it has gone this does nothing."""
        with self._writing:
            try:
                written = os.write(self._output, line)
                if written < len(line):
                    view = memoryview(line)[written:]
                    while view:
                        view = view[os.write(self._output, view) :]
            except OSError:
                return

    def gather(self, identifiers: Sequence[Any]) -> None:
        """Write the answers to requests that came in one line in one line too, when the last of them is there."""
        together = Together(len(identifiers))
        with self._gathering:
            self._together += [(identifier, together) for identifier in identifiers]

    def write_answer(self, identifier: Any, line: bytes) -> None:
        """Write the answer to a request, or keep it for the line it belongs to."""
        if not self._together:
            self.write(line)
            return
        with self._gathering:
            # 1 is not "1", nor True.
            found = next(
                (each for each in self._together if each[0] == identifier and type(each[0]) is type(identifier)), None
            )
            if found is not None:
                self._together.remove(found)
                found[1].lines.append(line.rstrip(b"\n"))
        if found is None:
            self.write(line)
        elif len(found[1].lines) == found[1].size:
            self.write(b"[" + b",".join(found[1].lines) + b"]\n")

    def withdraw(self, identifier: Any) -> None:
        """Expect no answer to a cancelled request; the other answers of its batch do not wait for it."""
        if self._together:
            with self._gathering:
                found = [each for each in self._together if each[0] == identifier]
                self._together = [each for each in self._together if each not in found]
                for _, together in found:
                    together.size -= 1
            for _, together in found:
                if together.lines and len(together.lines) == together.size:
                    self.write(b"[" + b",".join(together.lines) + b"]\n")

    def answer(self, identifier: Any, result: Mapping[str, Any]) -> None:
        """Answer a request of the client."""
        self.write_answer(identifier, encoded({"jsonrpc": "2.0", "id": identifier, "result": result}))

    def refuse(self, identifier: Any, code: int, message: str, about: Json | None = None) -> None:
        """Answer a request of the client with an error, and with what a program is to know of it."""
        error = {"code": code, "message": message, **({"data": about} if about else {})}
        self.write_answer(identifier, encoded({"jsonrpc": "2.0", "id": identifier, "error": error}))

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._jobs.put(job)

    def passes_at_once(self, line: bytes, pending: Pending) -> bool:
        """Whether a result certainly fits, so that it can be sent before it is counted."""
        if not self._least or self.settings.structured == "strip" or _may_hold_picture(line):
            return False
        allowed = self._least
        if not self._is_busy and self._jobs.empty():
            # What was passed on and is not entered yet costs at most a token for each byte.
            allowed = max(allowed, self._allocation - self._passed_bytes)
        return fits_surely(self.delivery.profile, len(line), min(allowed, self._ceiling(pending)))

    def passes_unread(self, line: bytes) -> bool:
        """Whether a line is so short that it fits whichever call without a budget of its own it answers."""
        return len(line) <= self._always_fits and not _may_hold_picture(line)

    def _ceiling(self, pending: Pending) -> int:
        given = (pending.tokens, pending.server.ceiling(pending.tool), self.settings.budget)
        return min((each for each in given if each), default=10**9)

    def note(self, pending: Pending, line: bytes) -> None:
        """Queue the debit of a result that was passed on unchanged, for when the desk is idle."""
        self._passed_bytes += len(line)
        self._passed.append((pending, line))
        if len(self._passed) == 1:
            self.submit(_wake)

    def note_unread(self, line: bytes, message: Any) -> None:
        """Queue the debit of a line that was passed on before its request was known, for when the desk is idle."""
        self.unread.add_answer(line, message)
        if len(self.unread) == 1:
            self.submit(_wake)

    def _count_passed(self) -> None:
        """Debit the results that were passed on since the last call."""
        self.unread.read()
        while self._passed:
            pending, line = self._passed.popleft()
            text = line.decode("utf-8", "replace")
            try:
                span = members(text)["result"].value
                text = text[span.start : span.end]
                tokens = passed_price(text, self._rule(pending, 0), self.delivery)
            except (NotJson, LookupError, ValueError, TypeError, AttributeError, RecursionError):
                # A message of the gateway's own, which is no JSON, or a result of no known form.
                tokens = self.delivery.profile.count(text)
            self._notes.append((pending.label, pending.arguments, text, tokens))
        self._passed_bytes = 0

    def fitted(self, line: str, pending: Pending, *, inner: bool = False) -> str:
        """A line that answers a tool call, with its result fitted; the line itself where nothing had to change."""
        span = members(line)["result"].value
        if inner:
            span = members(line, span.start)["result"].value
        result = line[span.start : span.end]
        rule = self._rule(pending, self._allowed(pending))
        outcome = self._fit(result, rule)
        if isinstance(outcome, Fitted):
            text = outcome.text
            if self.more_name != "more":
                text = text.replace('more(\\"', f'{self.more_name}(\\"')
            changed = spliced(line, [(span, text)])
            json.loads(changed)
            return changed
        self._notes.append((pending.label, pending.arguments, result, outcome))
        return line

    def _allowed(self, pending: Pending) -> int:
        return min(self._ceiling(pending), self.delivery.allocation(pending.tool))

    def _rule(self, pending: Pending, tokens: int) -> Rule:
        settings = self.settings
        return Rule(
            pending.label,
            tokens,
            view=self.client.view if settings.view == "auto" else settings.view,
            structured=settings.structured,
            compress=settings.compress,
            arguments=pending.arguments,
            whole_structured=self.apps and not self.ui_tools.isdisjoint((pending.tool, pending.label)),
        )

    def _fit(self, result: str, rule: Rule) -> Fitted | int:
        from haversack.values import replace

        try:
            return fit_result(result, rule, self.delivery)
        except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError) as error:
            say(f"a result of {rule.tool} could not be rendered ({error}); it is cut plainly")
            return fit_result(result, replace(rule, compress=False), self.delivery)

    def deliver(self, line: bytes, pending: Pending, *, inner: bool = False) -> None:
        """Write the answer to a tool call, fitted; the original where fitting fails.

        With `inner` the tool's result stands inside the result, as in the state of a finished task.
        """
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            text = line.decode("utf-8", "replace")
        try:
            changed = self.fitted(text, pending, inner=inner)
        except Exception as error:  # noqa: BLE001 - the one boundary of this door
            self.write_answer(pending.identifier, self._unfitted(line, pending, error))
            return
        self.write_answer(pending.identifier, line if changed is text else as_bytes(changed))

    def _unfitted(self, line: bytes, pending: Pending, error: Exception) -> bytes:
        say(f"a result of {pending.tool} could not be fitted ({type(error).__name__}: {error})")
        if len(line) <= LONGEST_LINE:
            return line
        message = f"The result has {len(line):,} bytes and could not be fitted: {error}"
        return encoded({"jsonrpc": "2.0", "id": pending.identifier, "result": failed(message)})

    def pass_resource(self, line: bytes, pending: Pending) -> None:
        """Write the content of a resource or a prompt, and debit it; with `resources = "cut"` its texts are fitted."""
        if not self.settings.cut_resources or pending.method != "resources/read":
            self.write_answer(pending.identifier, line)
            self.note(pending, line)
            return

        def deliver() -> None:
            text = line.decode("utf-8", "replace")
            span = members(text)["result"].value
            held, rule = text[span.start : span.end], self._rule(pending, self._allowed(pending))
            fitted = fit_resource(held, rule, self.delivery)
            if fitted == held:
                self.note(pending, line)
            self.write_answer(pending.identifier, as_bytes(spliced(text, [(span, fitted)])))

        self.submit(deliver)

    def own_answer(self, tool: str, arguments: Any, ceiling: int | None) -> Json:
        """The result of a call of an own tool."""
        try:
            return self.own.answer(tool, arguments, ceiling or self.settings.budget)
        except (HaversackError, ValueError, LookupError, AssertionError) as error:
            return failed(f"{type(error).__name__}: {error}")

    def fitted_text(self, tool: str, text: str) -> Json:
        """A text of the gateway's own as a tool's result, within the budget."""
        from haversack.tools.road.deliver import Asked
        from haversack.tools.road.outcomes import Document

        allowed = self.delivery.allocation(tool)
        tokens = min(allowed, self.settings.budget) if self.settings.budget else allowed
        reply = self.delivery.deliver(tool, {}, Document(text, name=tool), Asked(max_tokens=tokens))
        return text_result(reply.text)

    def most_tokens(self, server: Server) -> int:
        """The tokens no result of a server is above, whatever the account says."""
        usual = self.delivery.caller.config.budget.per_tool
        return min(each for each in (self.settings.budget, server.budget, usual) if each)

    def settle(self) -> None:
        """Wait until everything submitted so far is done."""
        done = threading.Event()
        self.submit(done.set)
        done.wait()

    def close(self) -> None:
        """Finish the queued jobs, then close the store."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        # The account is looked at before the first result comes, so that a small one need not wait for it.
        self._look()
        while (job := self._next()) is not None:
            try:
                job()
            except (HaversackError, OSError, NotJson) as error:
                say(f"{error}")
            if self._notes and (self._jobs.empty() or len(self._notes) >= _BATCH):
                self._enter()
        self._enter()
        self.delivery.close()

    def _next(self) -> Job | None:
        """The next job; results that were passed on are debited before it, or when nothing comes for a while."""
        job: Job | None = _wake
        seen, rounds = 0, 0
        while job is _wake:
            self._is_busy = False
            try:
                job = self._jobs.get(timeout=_QUIET_SECONDS if self._passed or len(self.unread) else None)
            except Empty:
                held = len(self._passed) + len(self.unread)
                if held != seen and held < _MOST_PASSED and rounds < _MOST_ROUNDS:
                    seen, rounds = held, rounds + 1
                    continue
                self._enter()
                seen = rounds = 0
        self._is_busy = True
        if self._passed or len(self.unread):
            self._enter()
        return job

    def _look(self) -> None:
        minimum = self.delivery.caller.config.budget.minimum
        if not self._least:
            # However the account stands, it allows this much; the first small result need not wait for the store.
            self._set_least(minimum)
        try:
            # The vocabulary is opened now, not when the first long result comes.
            self.delivery.profile.count("a")
            self._allocation = self.delivery.allocation("")
        except HaversackError as error:
            say(f"no account: {error}")
            self._allocation = minimum
        self._set_least(min(self._allocation, minimum))

    def _set_least(self, tokens: int) -> None:
        self._least = tokens
        profile, most = self.delivery.profile, min(tokens, self.settings.budget or tokens)
        if self.settings.structured != "strip" and fits_surely(profile, 1, most):
            self._always_fits = profile.room(most)

    def _enter(self) -> None:
        self._count_passed()
        notes, self._notes = self._notes, []
        if notes:
            self.delivery.note_all(notes)
            self._look()


def _wake() -> None:
    """A job that only wakes whoever waits for one."""


def _may_hold_picture(line: bytes) -> bool:
    """Whether a line may hold a picture, whose price has nothing to do with its bytes; escapes could hide the word."""
    return b"image" in line or b"\\u00" in line
