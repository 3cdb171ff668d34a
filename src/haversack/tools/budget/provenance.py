"""Where the figures of an account come from: measured here, reported by the host, or estimated."""

from haversack.app import Caller
from haversack.store import session_events
from haversack.store.records import SessionEvent
from haversack.text.times import iso
from haversack.values import record
from haversack.worklog.ledger import Standing


@record
class Provenance:
    """The source of each tier, and the host's last report of its context; a `context` of 0 means no report.

    `compacted` is when a host last reported a compaction, and which host.
    """

    sources: dict[str, str]
    context: int = 0
    known: int = 0
    host: str = ""
    moment: int = 0
    compacted: SessionEvent | None = None

    def lines(self) -> list[str]:
        """The lines of `budget_status` about it."""
        told = ", ".join(f"{tier.replace('_', ' ')} {source}" for tier, source in self.sources.items())
        lines = [f"Sources: {told}."]
        if self.context:
            lines.append(
                f"{self.host} reported {self.context:,} tokens in its context at {iso(self.moment)}; "
                f"this account knew of {self.known:,} ({_share(self.known, self.context)})."
            )
        if self.compacted:
            said = f"{self._compactor()} compacted its context at {iso(self.compacted.created_at)}"
            lines.append(f"{said}; what it held before is no longer counted.")
        return lines

    def _compactor(self) -> str:
        return self.compacted.detail.partition(" ")[2] if self.compacted else ""

    def facts(self) -> dict[str, object]:
        """The same as values."""
        facts: dict[str, object] = {"sources": self.sources, "reported": None}
        if self.context:
            facts["reported"] = {
                "context": self.context, "known": self.known, "host": self.host, "at": iso(self.moment)
            }  # fmt: skip
        if self.compacted:
            facts["compacted"] = {"host": self._compactor(), "at": iso(self.compacted.created_at)}
        return facts


def provenance(caller: Caller, standing: Standing) -> Provenance:
    """Where the figures of an account come from."""
    beginning = f"{standing.handle} "
    with caller.database.read() as tx:
        declared = session_events.beginning_with(tx, "declared", beginning)
        reconciled = session_events.beginning_with(tx, "reconciled", beginning, limit=1)
        compacted = next(iter(session_events.beginning_with(tx, "compacted", beginning, limit=1)), None)
    counted = "measured" if caller.profile.exact else "estimated"
    sources = {"system": counted, "work_history": counted, "tool_results": counted, "user_message": _user(declared)}
    if not standing.account.user:
        sources["user_message"] = "not reported yet"
    if not standing.account.server + standing.account.system:
        sources["system"] = "not measured yet"
    if not reconciled:
        return Provenance(sources, compacted=compacted)
    _, context, known, host = reconciled[0].detail.split(" ", 3)
    return Provenance(sources, int(context), int(known), host, reconciled[0].created_at, compacted)


def _user(declared: list[SessionEvent]) -> str:
    hosts = dict.fromkeys(each.detail.rpartition(" ")[2] for each in declared)
    return f"reported by {', '.join(hosts)}" if hosts else "declared by the agent"


def _share(known: int, context: int) -> str:
    percent = round(100 * known / context)
    return f"{percent} % of it" if known <= context else f"{percent - 100} % more"
