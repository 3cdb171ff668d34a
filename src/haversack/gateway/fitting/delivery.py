"""Delivering results of foreign tools: fitted, stashed, debited and logged by the one road."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from haversack.app import App, Caller
from haversack.errors import ExpiredKey, HaversackError, StoreError
from haversack.store.sqlite.engine import MEMORY, Database
from haversack.tokens import FLOOR, Profile
from haversack.tools.road.deliver import Asked, Origin, Reply, deliver
from haversack.tools.road.outcomes import NO_FACTS, Document
from haversack.values import replace

if TYPE_CHECKING:
    from haversack.worklog.ledger import Standing

UNKEPT = "[the store cannot be written: keys last as long as this process]"


class _InMemory(App):
    """An app whose store is in memory."""

    @cached_property
    def database(self) -> Database:
        return Database(MEMORY)


class Delivery:
    """The account and the stash for the gateway; only one thread at a time may call it.

    With `keep_in_memory` contents never reach the disk. When the store cannot be written the same happens by
    itself, and replies say so.
    """

    def __init__(
        self, app: Callable[[], App], *, account: str = "", keep_in_memory: bool = False, log_arguments: bool = False
    ) -> None:
        self._app = app
        self._given_account = account
        self._keep_in_memory = keep_in_memory
        self._log_arguments = log_arguments
        self._originals: dict[str, str] = {}
        self._unwritable = False

    @cached_property
    def caller(self) -> Caller:
        """The caller whose account is debited."""
        return self._app().caller(own_account=True, account=self._given_account or None)

    @cached_property
    def _memory(self) -> Caller:
        own = _InMemory(self.caller.config, now=self.caller.now)
        return own.caller(own_account=False, account="", profile=self.caller.profile.name)

    @property
    def profile(self) -> Profile:
        return self.caller.profile

    def standing(self) -> "Standing | None":
        """How the account stands; None where it cannot be read."""
        try:
            return self.caller.ledger.in_force(self.caller.account)
        except HaversackError:
            return None

    def allocation(self, tool: str) -> int:
        """The tokens the account allows a result of this tool."""
        return max(FLOOR, self.caller.ledger.allocation(self.standing(), tool).tokens)

    def deliver(
        self, tool: str, arguments: Mapping[str, Any], document: Document, asked: Asked, *, whole_tokens: int = 0
    ) -> Reply:
        """The document within the budget; the rest is stashed in the store, else in memory."""
        origin = replace(self._origin(tool, arguments), whole_tokens=whole_tokens)
        if not self._in_memory:
            with suppress(StoreError):
                reply = deliver(self.caller, origin, document, asked)
                if reply.left is None or reply.left.key:
                    return reply
            self._unwritable = True
        reply = deliver(self._memory, origin, self._admitting(document), asked)
        self.debit(reply.tokens)
        return reply

    def _admitting(self, document: Document) -> Document:
        return replace(document, text=f"{UNKEPT}\n{document.text}") if self._unwritable else document

    def keep(self, text: str, tool: str, arguments: Mapping[str, Any] = NO_FACTS) -> str:
        """Stash a text and return its key."""
        origin = self._origin(tool, arguments)
        called = f"{origin.tool}({', '.join(origin.arguments)})"
        if not self._in_memory:
            try:
                return self.caller.stash.keep(text, called)
            except StoreError:
                self._unwritable = True
        return self._memory.stash.keep(text, called)

    def fetch(self, key: str) -> str:
        """The text of a key, from the store or from memory."""
        if "_memory" in self.__dict__:
            with suppress(ExpiredKey):
                return self._memory.stash.fetch(key)[0]
        return self.caller.stash.fetch(key)[0]

    def holder(self, key: str) -> Caller:
        """The caller that can page on from a key."""
        if "_memory" in self.__dict__:
            with suppress(ExpiredKey):
                self._memory.stash.fetch(key)
                return self._memory
        return self.caller

    def link(self, key: str, original: str) -> None:
        """Remember which unabridged text a key is a part of."""
        if key:
            self._originals[key] = original

    def original_of(self, key: str) -> str:
        """The key of the unabridged text that a key is a part of; the key itself where that is not known."""
        return self._originals.get(key, key)

    def debit(self, tokens: int) -> None:
        """Debit tokens of tool results; an account that is gone or a store that is locked does not stop the reply."""
        with suppress(HaversackError):
            if self.caller.account:
                self.caller.ledger.debit(self.caller.account, tokens)

    def measure_system(self, tokens: int) -> None:
        """Set what the tool list and the instructions cost."""
        with suppress(HaversackError):
            if self.caller.account:
                self.caller.ledger.measure_system(self.caller.account, tokens)

    def note(self, tool: str, arguments: Mapping[str, Any], text: str, tokens: int, left: int = 0) -> None:
        """Debit and log what was sent without being fitted here; `left` is about what it left out."""
        if self._in_memory:
            self.debit(tokens)
            return
        from haversack.worklog.log import Call
        from haversack.worklog.log_line import ARGUMENTS, VALUE, written

        origin = self._origin(tool, arguments)
        brief = written(origin.arguments, each=VALUE, limit=ARGUMENTS)
        call = Call(tool, brief, f"{tool}({brief})", text, "cut" if left else "passed", tokens, left)
        with suppress(HaversackError):
            if self.caller.account:
                self.caller.log.add_surely(self.caller.account, call)

    def note_all(self, notes: Sequence[tuple[str, Mapping[str, Any], str, int]]) -> None:
        """Debit and log several results in one transaction."""
        if self._in_memory or len(notes) == 1:
            for each in notes:
                self.note(*each)
            return
        with suppress(StoreError), self.caller.database.write():
            for each in notes:
                self.note(*each)

    def close(self) -> None:
        """Close what was opened."""
        if "_memory" in self.__dict__:
            self._memory.app.close()
        if "caller" in self.__dict__:
            self.caller.app.close()

    @property
    def _in_memory(self) -> bool:
        return self._keep_in_memory or self._unwritable

    def _origin(self, tool: str, arguments: Mapping[str, Any]) -> Origin:
        if not self._log_arguments or not arguments:
            return Origin(tool)
        from haversack.text.redaction import redact_json

        harmless, _ = redact_json(dict(arguments))
        return Origin(tool, harmless if isinstance(harmless, dict) else NO_FACTS)
