"""The work log: one line for each call, with a handle to the full result.

The lines of an account's history are kept within its tier: those least recently used leave it first. A line
counts as used when it is new, when it is shown and when its result is read again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from haversack.config import BudgetSettings, StashSettings
from haversack.store import accounts, entries
from haversack.store.engine import Writer
from haversack.store.records import Account, Entry
from haversack.store.sqlite.engine import MEMORY, Database
from haversack.tokens import DEFAULT_PROFILE, Profile, profile_named
from haversack.values import record, replace
from haversack.worklog.ledger import Ledger, Standing
from haversack.worklog.log_line import (
    ARGUMENTS,
    LINE,
    NO_COMPRESSORS,
    VALUE,
    Compressor,
    compress,
    shortest,
    written,
)
from haversack.worklog.stash import PreparedText, Stash, as_document, clean

NEWEST = 2**62
"""An id beyond every entry's."""
_TOOL = 80
_ORIGIN = 300


@record
class ServerUse:
    """The use of a server behind the gateway: its calls, and their tokens before and after fitting."""

    name: str
    calls: int = 0
    before: int = 0
    sent: int = 0


@record
class Call:
    """A call that was answered: the reply as sent, and the line its tool has for it.

    `arguments` are in brief, `origin` is the call as it could be made again; `left` is the price of what the
    reply left out, which `rest` is the key of.
    """

    tool: str
    arguments: str
    origin: str
    reply: str
    brief: str
    tokens: int
    left: int = 0
    rest: str = ""


class WorkLog:
    """The work logs of the accounts in one ledger."""

    def __init__(self, ledger: Ledger, stash: Stash, profile: Profile) -> None:
        self.ledger = ledger
        self.stash = stash
        self.profile = profile
        self.database = ledger.database

    def record(
        self,
        account: str,
        tool: str,
        arguments: Mapping[str, object],
        result: object,
        *,
        compressors: Mapping[str, Compressor] = NO_COMPRESSORS,
    ) -> Entry:
        """Store a tool's result, debit it and log it, all or nothing; `compressors` make lines by tool name.

        A result that is not text is stored as JSON.
        """
        self.ledger.in_force(account)
        reply = result if isinstance(result, str) else _as_json(result)
        call = Call(
            tool=tool,
            arguments=written(arguments, each=VALUE, limit=ARGUMENTS),
            origin=f"{tool}({written(arguments, each=_ORIGIN)})",
            reply=reply,
            brief=compress(tool, result, compressors=compressors),
            tokens=self.profile.count(reply),
        )
        return self.add_surely(account, call)

    def add_surely(self, account: str, call: Call) -> Entry:
        """Store, debit and log a reply that names no key, so that any free key will do."""
        while (entry := self.add(account, call)) is None:
            continue
        return entry

    def add(
        self, account: str, call: Call, *, beside: Sequence[PreparedText] = (), first: Callable[[], None] | None = None
    ) -> Entry | None:
        """Store a reply and the texts `beside` it, debit and log it in one transaction, in which `first` runs too.

        None, with nothing written, when another process has taken one of the keys meanwhile. A reply that comes
        after its account was closed goes to the nearest open account above it; where there is none, nothing
        is debited or logged.
        """
        kept = self.stash.prepare(as_document(call.reply, call.tool), call.origin)
        entry = self._entry(call, kept.key)
        with self.database.write() as tx:
            if not self.stash.put(tx, (kept, *beside)):
                return None
            if first:
                first()
            held = self._nearest_open(tx, account)
            if held is None:
                return entry
            entry = replace(entry, account=held.handle)
            identifier = entries.insert(tx, entry)
            self._evict(
                tx,
                replace(
                    held,
                    tool_results=held.tool_results + entry.sent,
                    history=held.history + entry.cost,
                    entries=held.entries + 1,
                ),
            )
        return replace(entry, id=identifier)

    def entries(self, account: str, limit: int = 50, *, before: int = NEWEST, since: int | None = None) -> list[Entry]:
        """An account's history, the newest first, as it is or as it was at the use `since` (at 0: all ever logged).

        `before` goes on from an entry's id.
        """
        with self.database.read() as tx:
            if since is None:
                return entries.newest(tx, clean(account), limit, before=before)
            return entries.newest_since(tx, clean(account), limit, before=before, since=since)

    def use(self, account: str, identifiers: Iterable[int]) -> None:
        """Note that entries have been shown."""
        with self.database.write() as tx:
            entries.use(tx, clean(account), identifiers)

    def use_key(self, key: str) -> None:
        """Note that the result behind a key has been read again."""
        with self.database.read() as tx:
            found = entries.with_key(tx, clean(key))
        if not found:
            return
        with self.database.write() as tx:
            for entry in found:
                entries.use(tx, entry.account, (entry.id,))

    def expand(self, key: str) -> str:
        """The full result behind an entry's key, byte for byte as it was."""
        from json import loads

        text, _ = self.stash.fetch(key)
        self.use_key(key)
        document: str | None = loads(text).get("document")
        return text if document is None else document

    def of_servers(self, account: str) -> list[ServerUse]:
        """The use of each server behind the gateway, the most tokens first."""
        with self.database.read() as tx:
            rows = entries.of_servers(tx, clean(account))
        found: dict[str, ServerUse] = {}
        for tool, calls, before, sent in rows:
            name = tool.partition("/")[0]
            held = found.get(name, ServerUse(name))
            found[name] = ServerUse(name, held.calls + calls, held.before + before, held.sent + sent)
        return sorted(found.values(), key=lambda each: (-each.sent, each.name))

    def recount(self, account: str) -> tuple[int, int, int]:
        """Tokens and entries in the history and entries evicted, counted anew; the ledger says the same."""
        with self.database.read() as tx:
            return entries.recount(tx, clean(account))

    def _entry(self, call: Call, key: str) -> Entry:
        """The entry for a call, with as much of its line as the limit leaves room for."""
        before = call.tokens + call.left
        entry = Entry(
            id=0, account="", tool=_storable(call.tool)[:_TOOL], arguments=_storable(call.arguments), brief="",
            key=key, rest=call.rest, before=before, sent=call.tokens, after=before, cost=0,
            created_at=self.stash.now(), used=0, evicted=0,
        )  # fmt: skip
        brief = _storable(shortest(call.brief, call.reply, LINE - len(line(entry))))
        entry = replace(entry, brief=brief)
        # The line states its own cost, which the figure may change, so it is counted until it is exact.
        for _ in range(6):
            cost = self.profile.count(line(entry))
            if cost == entry.after:
                break
            entry = replace(entry, after=cost)
        return replace(entry, cost=cost)

    def _nearest_open(self, tx: Writer, handle: str) -> Account | None:
        account = accounts.get(tx, clean(handle))
        while account is not None and account.closed_at is not None:
            account = accounts.get(tx, account.parent) if account.parent else None
        return account

    def _evict(self, tx: Writer, account: Account) -> None:
        """Take entries out of the history while it is over its tier, or while the whole account is overdrawn."""
        while account.entries:
            overdrawn = Standing(account).over > 0 and account.entries > 1
            if account.history <= account.history_limit and not overdrawn:
                return
            oldest = entries.least_recently_used(tx, account.handle)
            if oldest is None:
                return
            entries.evict(tx, oldest)
            account = replace(account, history=account.history - oldest.cost, entries=account.entries - 1)


def open_log(
    path: str = MEMORY,
    *,
    settings: BudgetSettings | None = None,
    stash: StashSettings | None = None,
    profile: str = DEFAULT_PROFILE,
    now: Callable[[], int] | None = None,
) -> WorkLog:
    """A work log with its ledger in a store of its own: a file, or memory when no path is given."""
    clock = now or _microseconds_now
    database = Database(path)
    ledger = Ledger(database, settings or BudgetSettings(), clock)
    return WorkLog(ledger, Stash(database, stash or StashSettings(), clock), profile_named(profile))


def line(entry: Entry) -> str:
    """An entry as a line of the log: the tokens sent, those left out, and the cost of the line itself."""
    left = f" (~{entry.before - entry.sent:,} left out)" if entry.before > entry.sent else ""
    call = f"{entry.tool}({entry.arguments})"
    return f"[{entry.key}] {call} {entry.sent:,}{left}->{entry.after:,} tokens: {entry.brief}"


def _as_json(value: object) -> str:
    from json import dumps

    return dumps(value, ensure_ascii=False, default=str)


def _storable(text: str) -> str:
    """The text without halves of surrogate pairs, which no database column holds."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _microseconds_now() -> int:
    from time import time_ns

    return time_ns() // 1000


__all__ = ["Call", "Entry", "Standing", "WorkLog", "line", "open_log"]
