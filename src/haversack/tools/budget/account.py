"""The tools of the account: how it stands, opening and closing leases, and the work log."""

from collections.abc import Sequence
from typing import Annotated, Any

from haversack.app import Caller
from haversack.errors import Conflict, InvalidArgument
from haversack.store.records import Entry
from haversack.text.times import iso
from haversack.tools.budget.provenance import provenance
from haversack.tools.declaration import Command, Range, Tool, Unlisted, resumes, samples, tool
from haversack.tools.road.outcomes import Block, Document, Done, Facts, Outcome, Rest, Result
from haversack.values import replace
from haversack.worklog.ledger import LEAST_TOTAL, Standing, Tier
from haversack.worklog.log import ServerUse, line

BAR = 10
PAGE = 50
SAMPLED = 64
"""Entries that are rendered to price those behind a page."""
Account = Annotated[str, "Handle; the account in force when omitted"]


@tool(
    Command(
        "budget",
        ("account",),
        watch=True,
        examples=("haversack budget", "HAVERSACK_BUDGET=b7k2m haversack budget --watch"),
    ),
    group="budget",
)
def budget_status(caller: Caller, *, account: Account = "") -> Outcome:
    """What is left of the context budget, tier by tier."""
    handle = account or caller.account
    if not handle:
        return _open_accounts(caller)
    standing = caller.ledger.standing(handle)
    allocation = caller.ledger.allocation(standing, "")
    known = provenance(caller, standing)
    servers = caller.log.of_servers(standing.handle)
    lines = [
        f"Budget {standing.handle}: {_left(standing)}",
        *(_row(tier, standing) for tier in standing.tiers),
        *known.lines(),
        f"A reply may have {allocation.tokens:,} tokens when max_tokens is not given.",
        *(_server_row(each) for each in servers),
    ]
    if standing.account.closed_at is not None:
        lines[0] += " (closed)"
    if standing.alert and standing.handle != caller.account:
        lines.append(standing.alert)
    return Document(
        "\n".join(lines),
        name=standing.handle,
        facts={
            "account": _facts(standing) | known.facts() | _server_facts(servers) | {"allocation": allocation.tokens}
        },
        brief=f"budget {standing.handle}: {_left(standing)}",
    )


@tool(
    Command("budget open", examples=("haversack budget open --total 40000 --parent b7k2m",)),
    group="budget",
    writes=True,
)
def budget_open(
    caller: Caller,
    *,
    total: Annotated[int | None, "Tokens", Range(LEAST_TOTAL, 10**9)] = None,
    parent: Annotated[str, "Lease a share of what this account has left"] = "",
) -> Outcome:
    """Open a budget account, such as a lease for a sub-agent: its processes share it through HAVERSACK_BUDGET."""
    standing = caller.ledger.open(total, parent=parent)
    lender = f", leased from {standing.account.parent}" if standing.account.parent else ""
    message = (
        f"opened account {standing.handle}: {standing.total:,} tokens{lender}, {standing.remaining:,} remaining. "
        f"Processes with HAVERSACK_BUDGET={standing.handle} share it."
    )
    brief = f"opened account {standing.handle}: {standing.total:,} tokens{lender}"
    return Done(message, {"account": _facts(standing)}, brief=brief)


@tool(
    Command("budget declare", examples=("haversack budget declare --tokens 1200 --account b7k2m",)),
    group="budget",
    writes=True,
)
def budget_declare(
    caller: Caller,
    *,
    tier: Annotated[str, ("user", "system")] = "user",
    tokens: Annotated[int | None, "Tokens of the message", Range(0, 10**9)] = None,
    text: Annotated[str, "The message itself, to be counted"] = "",
    account: Account = "",
) -> Outcome:
    """Enter what the account cannot see: a message of the user, or more of the system prompt."""
    if (tokens is None) == (not text):
        raise InvalidArgument("give either tokens or text", hint="tokens=250, or the text to be counted")
    handle = _named(caller, account)
    entered = caller.profile.count(text) if tokens is None else tokens
    declare = caller.ledger.declare_user if tier == "user" else caller.ledger.declare_system
    standing = declare(handle, entered)
    message = f"entered {entered:,} tokens in the {tier} tier of {standing.handle}: {_left(standing)}"
    return Done(message, {"account": _facts(standing), "tokens": entered}, brief=message)


@tool(
    Command("budget reset", ("account",), examples=("haversack budget reset b7k2m --close",)),
    group="budget",
    writes=True,
    idempotent=True,
)
def budget_reset(
    caller: Caller,
    *,
    account: Account = "",
    close: Annotated[bool, "End a lease; its parent gets the unused part back"] = False,
) -> Outcome:
    """Empty the tool results of the account, when the host has compacted its context."""
    handle = _named(caller, account)
    if not close:
        standing = caller.ledger.reset(handle)
        message = f"reset account {standing.handle}: {_left(standing)}"
        return Done(message, {"account": _facts(standing)}, brief=message)
    held = caller.ledger.standing(handle).account
    if held.parent is None and held.handle == caller.account:
        raise Conflict(
            f"{handle} is the account this process needs", hint="without close it is emptied; only leases end"
        )
    closed = caller.ledger.close(handle)
    back = f", {closed.returned:,} returned to {closed.parent}" if closed.parent else ""
    message = f"closed account {closed.handle}: {closed.spent:,} tokens used{back}"
    facts = {"handle": closed.handle, "parent": closed.parent, "spent": closed.spent, "returned": closed.returned}
    return Done(message, {"closed": facts}, brief=message)


@tool(Command("log", ("account",), examples=("haversack log b7k2m --limit 50",), hidden=("looking",)), group="budget")
def work_log(
    caller: Caller,
    *,
    account: Account = "",
    limit: Annotated[int, Range(1, 200)] = 20,
    evicted: Annotated[bool, "Also those evicted from the history"] = False,
    looking: Annotated[bool, "For a person who looks on: no line counts as used", Unlisted()] = False,
) -> Outcome:
    """What was called before, newest first: one line each, and the key with which `more` gives the full reply."""
    standing = caller.ledger.standing(_named(caller, account))
    held = standing.account
    found = caller.log.entries(held.handle, limit, since=0 if evicted else None)
    total = held.entries + (held.evicted if evicted else 0)
    heading = f"Work log of {held.handle}: {held.history:,} of {held.history_limit:,} tokens."
    if held.evicted and not evicted:
        heading += f" {held.evicted:,} older entries evicted."
    ids = {_name(entry): entry.id for entry in found}

    def use_shown(names: Sequence[str]) -> None:
        caller.log.use(held.handle, [ids[name] for name in names])

    return Result(
        blocks=[_block(entry) for entry in found],
        noun="entries",
        sequence=True,
        total=total,
        heading=heading if total else "",
        empty=f"Nothing has been logged in {held.handle} yet.",
        limit_hint="Use limit; the key of a line gives its full reply.",
        advice="Increase max_tokens for more.",
        rest=_rest(caller, found, total, since=0 if evicted else held.uses),
        facts={"account": held.handle, "history": held.history, "evicted": held.evicted},
        brief=f"{total:,} entries in the log of {held.handle}, {held.evicted:,} evicted",
        on_sent=use_shown if found and not looking else None,
    )


@resumes("work_log")
def _resume_log(caller: Caller, rest: Rest) -> tuple[list[Block], Rest | None]:
    state: dict[str, Any] = dict(rest.state)
    found = caller.log.entries(state["account"], PAGE, before=state["before"], since=state["since"])
    return [_block(entry) for entry in found], _rest(caller, found, rest.items, since=state["since"])


def described(caller: Caller, declared: Tool) -> str:
    """A tool's description; with `server.dynamic_hints`, also what the account in force allows its replies."""
    if not caller.config.server.dynamic_hints or not caller.account or declared.confirms:
        return declared.about
    standing = caller.ledger.standing(caller.account)
    allocation = caller.ledger.allocation(standing, declared.name, declared.default_tokens).tokens
    return f"{declared.about} Budget allows ~{allocation:,} tokens."


def _named(caller: Caller, account: str) -> str:
    if handle := account or caller.account:
        return handle
    raise InvalidArgument(
        "no budget account is in force", hint="give account, or set HAVERSACK_BUDGET; budget_status lists accounts"
    )


def standing_line(caller: Caller) -> str:
    """A line with the figures of the account in force, for replies that end a session; empty without an account."""
    if not caller.account:
        return ""
    standing = caller.ledger.standing(caller.account)
    return f"Budget {standing.handle}: {_left(standing)}"


def _open_accounts(caller: Caller) -> Outcome:
    standings, total = caller.ledger.recent()
    blocks = [
        Block(
            each.handle,
            lambda _, each=each: f"{each.handle}: {_left(each)}",  # type: ignore[misc]
            lambda _, each=each: _facts(each),  # type: ignore[misc]
        )
        for each in standings
    ]
    return Result(
        blocks=blocks,
        noun="accounts",
        total=total,
        heading="No account is in force; set HAVERSACK_BUDGET to one of these:" if total else "",
        empty="No account is open. budget_open opens one.",
        brief=f"{total:,} open accounts",
    )


def _row(tier: Tier, standing: Standing) -> str:
    filled = min(BAR, -(-tier.used * BAR // tier.limit) if tier.limit else 0)
    bar = f"{tier.title:<16}[{'#' * filled}{'-' * (BAR - filled)}]"
    if tier.name == "reserve":
        return f"{bar} {tier.used:,} reserved"
    row = f"{bar} {tier.used:,} of {tier.limit:,}"
    if tier.name == "tool_results" and standing.account.leased:
        row += f" ({standing.account.leased:,} leased)"
    return row


def _server_row(server: ServerUse) -> str:
    calls = "1 call" if server.calls == 1 else f"{server.calls:,} calls"
    return f"server {server.name}: {calls}, {server.sent:,} of {server.before:,} tokens sent"


def _server_facts(servers: Sequence[ServerUse]) -> dict[str, object]:
    if not servers:
        return {}
    return {
        "servers": [
            {"name": each.name, "calls": each.calls, "before": each.before, "sent": each.sent} for each in servers
        ]
    }


def _left(standing: Standing) -> str:
    if standing.over:
        return f"0 of {standing.total:,} tokens remaining, {standing.over:,} over"
    return f"{standing.remaining:,} of {standing.total:,} tokens remaining"


def _facts(standing: Standing) -> dict[str, object]:
    held = standing.account
    return {
        "handle": held.handle,
        "parent": held.parent,
        "closed": held.closed_at is not None,
        "total": held.total,
        "remaining": standing.remaining,
        "over": standing.over,
        "tiers": {tier.name: {"used": tier.used, "limit": tier.limit} for tier in standing.tiers},
        "leased": held.leased,
        "entries": held.entries,
        "evicted": held.evicted,
        "warning": held.warning,
        "critical": held.critical,
        "alert": standing.alert,
    }


def _block(entry: Entry) -> Block:
    def facts(_: str) -> Facts:
        return {
            "key": entry.key,
            "tool": entry.tool,
            "arguments": entry.arguments,
            "brief": entry.brief,
            "tokens_before": entry.before,
            "tokens_sent": entry.sent,
            "tokens_after": entry.after,
            "cost": entry.cost,
            "evicted": bool(entry.evicted),
            "at": iso(entry.created_at),
        }

    return Block(_name(entry), lambda _: line(entry), facts)


def _name(entry: Entry) -> str:
    return f"entry {entry.id}"


def _rest(caller: Caller, found: Sequence[Entry], total: int, *, since: int) -> Rest | None:
    """The entries after these, from the history as it is now: entries evicted meanwhile are shown too."""
    if not found or total <= len(found):
        return None
    left = total - len(found)
    state = {"account": found[-1].account, "before": found[-1].id, "since": since}
    rest = Rest(left, 0, "work_log", state)
    return replace(rest, sample=lambda: _sample(caller, rest))


@samples("work_log")
def _sample(caller: Caller, rest: Rest) -> list[Block]:
    """Some of the entries, spread evenly, since those shown may differ from the remaining ones."""
    state = rest.state
    found = caller.log.entries(state["account"], rest.items, before=state["before"], since=state["since"])
    return [_block(entry) for entry in found[:: max(1, len(found) // SAMPLED)]]
