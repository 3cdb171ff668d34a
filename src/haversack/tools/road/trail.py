"""The trail of a call: its remainder in the stash, its reply debited and logged, in one transaction."""

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from haversack.app import Caller
from haversack.errors import HaversackError, StoreError
from haversack.tools.road.drafts import Remainder, Reply
from haversack.tools.road.outcomes import Document, Done, Outcome
from haversack.worklog.log_line import ARGUMENTS, VALUE, attempt, written

if TYPE_CHECKING:
    from haversack.worklog.log import Call
    from haversack.worklog.stash import PreparedText

_LOOKED_AT = 2_000
"""Characters of an argument that are searched for secrets; less than that is ever kept."""
_SHORT_WORD = 15


class Trail:
    """One call's trail: its key is given when the reply is fitted, and everything is written when it is known."""

    def __init__(self, caller: Caller, tool: str, arguments: Mapping[str, object], whole_tokens: int = 0) -> None:
        self._caller = caller
        self._tool = tool
        self._arguments = arguments
        self._whole_tokens = whole_tokens
        self._left: PreparedText | None = None

    def key_for(self, outcome: Outcome, remainder: Remainder | None, level: str) -> str:
        """The key under which a remainder will be stashed when the reply is sent; empty where nothing is left."""
        if remainder is None:
            return ""
        from haversack.tools.road.paging import frozen  # imported only for a reply that was cut

        text, snapshot = frozen(outcome, remainder, level)
        self._left = self._caller.stash.prepare(text, self._origin, snapshot=snapshot)
        return self._left.key

    def write(self, account: str, outcome: Outcome, reply: Reply) -> bool:
        """Stash, debit and log in one transaction; False, with nothing written, when a key was taken meanwhile."""
        beside = (self._left,) if self._left else ()
        on_sent = None if isinstance(outcome, Done) else outcome.on_sent

        def tell() -> None:
            if on_sent:
                on_sent(reply.names)

        if account:
            brief = outcome.brief if isinstance(outcome.brief, str) else attempt(outcome.brief)
            if isinstance(outcome, Document) and reply.left:
                brief = _of_part(brief, outcome, reply)
            call = self._call(brief, reply)
            return self._caller.log.add(account, call, beside=beside, first=tell) is not None
        if beside:
            with self._caller.database.write() as tx:
                if not self._caller.stash.put(tx, beside):
                    return False
        tell()
        return True

    def write_failure(self, account: str, error: HaversackError, *, as_json: bool) -> None:
        """Debit and log a call that failed: its message is in the reader's context too."""
        sent = error.written(as_json=as_json)
        reply = Reply(sent, self._caller.profile.count(sent))
        # The caller must get the failure itself, not the error of a locked or full store that cannot log it.
        with suppress(StoreError):
            self._caller.log.add_surely(account, self._call(f"failed: {error.message}", reply))

    def _call(self, brief: str, reply: Reply) -> "Call":
        from haversack.text.redaction import redact
        from haversack.worklog.log import Call

        return Call(
            tool=self._tool,
            arguments=written(self._harmless, each=VALUE, limit=ARGUMENTS),
            origin=self._origin,
            reply=reply.text,
            brief=redact(brief).text,
            tokens=reply.tokens,
            left=max(reply.left.price if reply.left else 0, self._whole_tokens - reply.tokens),
            rest=reply.left.key if reply.left else "",
        )

    @cached_property
    def _origin(self) -> str:
        return f"{self._tool}({written(self._harmless, each=300, limit=1_000)})"

    @cached_property
    def _harmless(self) -> dict[str, object]:
        """The arguments without secrets, which must not reach the log either."""
        looked_at = {
            name: value[:_LOOKED_AT] if isinstance(value, str) else value
            for name, value in self._arguments.items()
            if value is not None
        }
        if all(_is_plain(value) for value in looked_at.values()):
            return looked_at
        from haversack.text.redaction import redact_json

        harmless, _ = redact_json(looked_at)
        assert isinstance(harmless, dict)
        return harmless


def _is_plain(value: object) -> bool:
    """Whether a value is a number or a few short words, in which there is no place for a secret."""
    if isinstance(value, str):
        return all(word.isalpha() and len(word) < _SHORT_WORD for word in value.split())
    return isinstance(value, int | float)


def _of_part(brief: str, document: Document, reply: Reply) -> str:
    """The line of a text that was cut, which was written before anybody knew how much of it a reply has room for."""
    shown = f"{reply.shown:,} of {reply.total:,} lines" if reply.shown else "part of a line"
    first, last = document.facts.get("first_line"), document.facts.get("last_line")
    if isinstance(first, int) and first:
        part = f", lines {first}-{first + reply.shown - 1}" if reply.shown else f", line {first}"
        brief = brief.replace(f", lines {first}-{last}", part, 1)
    return f"{brief}; {shown} shown"
