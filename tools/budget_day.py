"""A day's session on accounts of three sizes, as the table that docs/budget.md shows."""

from haversack.config import BudgetSettings
from haversack.values import record
from haversack.worklog.log import WorkLog, open_log

TOTALS = (16_000, 70_000, 180_000)
SYSTEM = 3_000
"""Tokens of the server's own tool list and instructions."""
PROMPT = 120
WANTED = (900, 6_000, 2_500, 9_000, 400, 12_000, 3_000, 7_000)
"""What the calls of the day would like to answer with, over and over; a reply gets its allocation at most."""
STEPS = 24


@record
class Step:
    """One call of the day: what its reply was allowed and took, and how the account stood afterwards."""

    number: int
    allocation: int
    sent: int
    remaining: int
    history: int
    entries: int
    evicted: int
    alert: str


def day(total: int, *, reset_after: int = STEPS) -> list[Step]:
    """The steps of a day on an account of `total` tokens; the host compacts after the step `reset_after`."""
    log = open_log(settings=BudgetSettings(total=total), profile="bytes4", now=lambda: 1_770_000_000_000_000)
    account = log.ledger.open().handle
    log.ledger.measure_system(account, SYSTEM)
    steps = []
    for number in range(1, STEPS + 1):
        steps.append(_step(log, account, number))
        if number == reset_after:
            log.ledger.reset(account)
    return steps


def _step(log: WorkLog, account: str, number: int) -> Step:
    log.ledger.declare_user(account, PROMPT)
    allocation = log.ledger.allocation(log.ledger.standing(account), "read_file").tokens
    sent = min(allocation, WANTED[(number - 1) % len(WANTED)])
    path = f"src/module_{number}.py"
    brief = f"Read {path} ({number * 40} lines, {number}.4 KB). " + "def first, def second, class Third, " * 9
    log.record(account, "read_file", {"path": path}, _text(number, sent), compressors={"read_file": lambda _: brief})
    standing = log.ledger.standing(account)
    held = standing.account
    return Step(number, allocation, sent, standing.remaining, held.history, held.entries, held.evicted, standing.alert)


def _text(number: int, tokens: int) -> str:
    """A result of exactly so many tokens as `bytes4` counts them."""
    return f"{number:04}" * tokens


def table() -> str:
    """The three days as Markdown."""
    parts = []
    for total in TOTALS:
        rows = [
            f"| {step.number} | {step.allocation:,} | {step.sent:,} | {step.remaining:,} | {step.entries} |"
            f" {step.evicted} | {_kind(step.alert)} |"
            for step in day(total, reset_after=20)
        ]
        head = "| call | allowed | sent | remaining | in the log | evicted | warning |\n|---|---|---|---|---|---|---|"
        parts.append("\n".join([f"`budget.total = {total}`", "", head, *rows]))
    return "\n\n".join(parts)


def _kind(alert: str) -> str:
    return alert[1:].partition(":")[0].removeprefix("Budget ").lower() if alert else ""
