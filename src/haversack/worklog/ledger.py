"""The ledger: accounts of context windows, five tiers each, debited by every reply.

`remaining = total - system - history - tool results - user - reserve`. A lease is held by its parent's tool
results until it is closed; what the lease used stays there, the rest returns.
"""

import os
from collections.abc import Callable
from typing import Literal

from haversack.config import BudgetSettings
from haversack.errors import Conflict, InvalidArgument, NotFound
from haversack.store import accounts
from haversack.store.engine import Engine, Reader, Writer
from haversack.store.records import Account
from haversack.tokens import FLOOR
from haversack.values import record

LEAST_TOTAL = 1_000
"""The smallest account: below it the tiers would be too small for a single reply."""
DEFAULTS = BudgetSettings()
_DAY = 86_400_000_000
_FORGOTTEN_AT_ONCE = 50
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"

FULL_ABOVE = 0.8
"""The share of the tool results' tier that must be left for replies of the usual size; below it they shrink with it."""

TierName = Literal["system", "history", "tool_results", "user", "reserve"]


@record
class Tier:
    """One part of a context window: the tokens in it, and those it is meant to hold."""

    name: TierName
    title: str
    used: int
    limit: int

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


@record
class Standing:
    """The figures of an account at one moment."""

    account: Account

    @property
    def handle(self) -> str:
        return self.account.handle

    @property
    def total(self) -> int:
        return self.account.total

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The five tiers; the reserve counts as used from the start."""
        held = self.account
        return (
            Tier("system", "system prompt", held.server + held.system, held.system_limit),
            Tier("history", "work history", held.history, held.history_limit),
            Tier("tool_results", "tool results", held.tool_results + held.leased, held.tool_results_limit),
            Tier("user", "user message", held.user, held.user_limit),
            Tier("reserve", "response buffer", held.reserve, held.reserve),
        )

    @property
    def balance(self) -> int:
        """The total less all tiers; below zero when more was used than there is."""
        return self.account.total - self.spent - self.account.reserve

    @property
    def remaining(self) -> int:
        return max(0, self.balance)

    @property
    def over(self) -> int:
        """The tokens used beyond the total."""
        return max(0, -self.balance)

    @property
    def spendable(self) -> int:
        """The tokens replies may still use: the smaller of what is left of the tool results and of the total."""
        held = self.account
        return min(max(0, held.tool_results_limit - held.tool_results - held.leased), self.remaining)

    @property
    def spent(self) -> int:
        """What is used of the account, its reserve aside."""
        held = self.account
        return held.server + held.system + held.history + held.tool_results + held.leased + held.user

    @property
    def alert(self) -> str:
        """The line that warns of a low account; empty while there is enough."""
        if self.balance >= self.account.warning:
            return ""
        if self.over:
            return f"[Budget Critical: ~{_thousands(self.over)} tokens over. Complete or hand over now.]"
        left = _thousands(self.remaining)
        if self.balance < self.account.critical:
            return f"[Budget Critical: ~{left} tokens remaining. Complete or hand over now.]"
        return f"[Budget Alert: ~{left} tokens remaining. Consider summarizing or completing soon.]"


@record
class Allocation:
    """The tokens a reply may have when its caller names no number, beside what its tool usually gets."""

    tokens: int
    usual: int
    spendable: int = 0

    @property
    def reason(self) -> str:
        """Why the reply gets less than usual; empty when it does not."""
        if self.tokens >= self.usual:
            return ""
        return (
            f"[Reply limited to {self.tokens:,} of {self.usual:,} tokens: {self.spendable:,} left for tool results. "
            "max_tokens asks for more.]"
        )


@record
class Closed:
    """A closed account: what it had used, and what it gave back to its parent."""

    handle: str
    parent: str
    spent: int
    returned: int


class Ledger:
    """The accounts of one store; every change is one transaction, so processes may share an account."""

    def __init__(self, database: Engine, settings: BudgetSettings, now: Callable[[], int]) -> None:
        self.database = database
        self.settings = settings
        self._now = now

    def open(self, total: int | None = None, *, parent: str = "") -> Standing:
        """Open an account, of the configured total unless another is given.

        With a parent it is a lease of a share of what the parent has left (half of it, when no total is given).
        The tiers of a smaller account are in proportion; what a larger one has more is for tool results.
        Accounts that nobody has used for long are forgotten on this occasion.
        """
        with self.database.write() as tx:
            if self.settings.days > 0:
                accounts.forget_idle(tx, self._now() - self.settings.days * _DAY, _FORGOTTEN_AT_ONCE)
            if parent:
                lender = Standing(self._open_account(tx, parent))
                total = lender.remaining // 2 if total is None else total
                _check_total(total)
                if total > lender.remaining:
                    raise Conflict(
                        f"a lease of {total:,} tokens is more than the {lender.remaining:,} that {parent} has left",
                        hint=f"ask for {lender.remaining:,} or less, or close other leases",
                    )
                accounts.add_leased(tx, lender.handle, total)
            total = self.settings.total if total is None else total
            _check_total(total)
            handle = _new_handle(tx)
            accounts.insert(tx, self._fresh(handle, clean(parent), total))
            return self._standing(tx, handle)

    def standing(self, handle: str) -> Standing:
        """The figures of an account."""
        with self.database.read() as tx:
            return self._standing(tx, handle)

    def in_force(self, handle: str) -> Standing:
        """The figures of an open account; a closed one is an error."""
        with self.database.read() as tx:
            return Standing(self._open_account(tx, handle))

    def debit(self, handle: str, tokens: int) -> Standing:
        """Record the tokens of a tool result."""
        return self._change(handle, tokens, accounts.add_tool_results)

    def declare_user(self, handle: str, tokens: int) -> Standing:
        """Record the tokens of another message of the user."""
        return self._change(handle, tokens, accounts.add_user)

    def declare_system(self, handle: str, tokens: int) -> Standing:
        """Record tokens of the system prompt beside those the server measured."""
        return self._change(handle, tokens, accounts.add_system)

    def measure_system(self, handle: str, tokens: int) -> Standing:
        """Set what the server's own tool list and instructions cost; measuring again replaces the figure."""
        return self._change(handle, tokens, accounts.set_server)

    def reset(self, handle: str) -> Standing:
        """Empty the tool results, as when the host has compacted its context; open leases stay."""
        with self.database.write() as tx:
            account = self._open_account(tx, handle)
            accounts.clear_tool_results(tx, account.handle)
            return self._standing(tx, account.handle)

    def compacted(self, handle: str, summary: int) -> Standing:
        """Empty the tool results and put the tokens of the host's summary in the place of the user's messages."""
        with self.database.write() as tx:
            account = self._open_account(tx, handle)
            accounts.clear_tool_results(tx, account.handle)
            accounts.set_user(tx, account.handle, summary)
            return self._standing(tx, account.handle)

    def close(self, handle: str) -> Closed:
        """Close an account, its own leases first; what a lease did not use returns to its parent."""
        with self.database.write() as tx:
            return self._close(tx, self._open_account(tx, handle))

    def recent(self, limit: int = 20) -> tuple[list[Standing], int]:
        """The open accounts, those opened last first, and how many there are."""
        with self.database.read() as tx:
            return [Standing(account) for account in accounts.recent(tx, limit)], accounts.count_open(tx)

    def allocation(self, standing: Standing | None, tool: str, usual: int = 0) -> Allocation:
        """The tokens a reply of `tool` may have when its caller names no number.

        `usual` is what the tool has by default; a setting for the tool comes before it. As the account is used
        the allocation falls with what is left for tool results, but never below the smallest useful reply.
        """
        usual = usual or self.settings.per_tool
        if standing is None:
            most = max(FLOOR, self.settings.overrides.get(tool) or usual)
            return Allocation(most, most)
        least = max(FLOOR, self.settings.minimum)
        # In a small account a reply of the usual size would be most of it; a setting for the tool is not reduced.
        fitting = max(least, usual * min(standing.total, DEFAULTS.total) // DEFAULTS.total)
        most = max(FLOOR, self.settings.overrides.get(tool) or min(usual, fitting))
        full = FULL_ABOVE * standing.account.tool_results_limit
        share = int(most * min(1.0, standing.spendable / full)) if full else 0
        return Allocation(max(min(share, standing.spendable), min(most, least)), most, standing.spendable)

    def _change(self, handle: str, tokens: int, change: Callable[[Writer, str, int], None]) -> Standing:
        if tokens < 0:
            raise InvalidArgument(f"tokens is {tokens}, below zero", hint="give the tokens that were used")
        with self.database.write() as tx:
            account = self._open_account(tx, handle)
            change(tx, account.handle, tokens)
            return self._standing(tx, account.handle)

    def _close(self, tx: Writer, account: Account) -> Closed:
        for lease in accounts.open_leases(tx, account.handle):
            self._close(tx, lease)
        standing = self._standing(tx, account.handle)
        accounts.close(tx, account.handle, self._now())
        if account.parent is None:
            return Closed(account.handle, "", standing.spent, 0)
        accounts.add_leased(tx, account.parent, -account.total)
        # An overdrawn lease is charged in full, so its parent never counts on spent tokens.
        accounts.add_tool_results(tx, account.parent, standing.spent)
        return Closed(account.handle, account.parent, standing.spent, max(0, account.total - standing.spent))

    def _standing(self, tx: Reader, handle: str) -> Standing:
        account = accounts.get(tx, clean(handle))
        if account is None:
            raise NotFound(
                f"no budget account {handle[:40]!r}",
                hint="budget_status lists the accounts; HAVERSACK_BUDGET names the one in force",
            )
        return Standing(account)

    def _open_account(self, tx: Reader, handle: str) -> Account:
        account = self._standing(tx, handle).account
        if account.closed_at is not None:
            raise Conflict(f"budget account {account.handle!r} is closed", hint="budget_open opens another")
        return account

    def _fresh(self, handle: str, parent: str, total: int) -> Account:
        usual = self.settings
        tiers = usual.system + usual.history + usual.tool_results + usual.user + usual.reserve

        def scaled(tokens: int, out_of: int) -> int:
            return tokens * min(total, out_of) // max(1, out_of)

        return Account(
            handle=handle,
            parent=parent or None,
            total=total,
            system_limit=scaled(usual.system, tiers),
            history_limit=scaled(usual.history, tiers),
            tool_results_limit=scaled(usual.tool_results, tiers) + max(0, total - tiers),
            user_limit=scaled(usual.user, tiers),
            reserve=scaled(usual.reserve, tiers),
            warning=_threshold(usual.warning, DEFAULTS.warning, total),
            critical=_threshold(usual.critical, DEFAULTS.critical, total),
            server=0, system=0, history=0, tool_results=0, user=0, leased=0, entries=0, evicted=0, uses=0,
            opened_at=self._now(),
            closed_at=None,
        )  # fmt: skip


def clean(handle: str) -> str:
    """A handle as callers copy it, without quotes and white space."""
    return handle.strip().strip("\"'").lower()


def _threshold(setting: int, default: int, total: int) -> int:
    """Remaining tokens at which an account warns: in proportion to its total, unless a number was set."""
    if setting != default:
        return min(setting, total)
    return default * total // DEFAULTS.total


def _check_total(total: int) -> None:
    if total < LEAST_TOTAL:
        raise InvalidArgument(
            f"an account of {total:,} tokens is too small", hint=f"give a total of {LEAST_TOTAL:,} tokens or more"
        )


def _new_handle(tx: Reader) -> str:
    while True:
        handle = "b" + "".join(_ALPHABET[octet % len(_ALPHABET)] for octet in os.urandom(5))
        if accounts.get(tx, handle) is None:
            return handle


def _thousands(tokens: int) -> str:
    return f"{tokens // 1000}k" if tokens >= 1000 else str(tokens)
