"""The account of an agent's context window: a ledger, a work log, and the stash of full results.

For builders of agents: `open_log` gives a `WorkLog` with its `Ledger`, `compress` makes a result one line, and
`fit_messages` fits a conversation into a budget.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from haversack.worklog.ledger import Ledger as Ledger
    from haversack.worklog.ledger import Standing as Standing
    from haversack.worklog.log import WorkLog as WorkLog
    from haversack.worklog.log import open_log as open_log
    from haversack.worklog.log_line import compress as compress
    from haversack.worklog.messages import count_messages as count_messages
    from haversack.worklog.messages import fit_messages as fit_messages

_HOMES = {
    "Ledger": "ledger",
    "Standing": "ledger",
    "WorkLog": "log",
    "open_log": "log",
    "compress": "log_line",
    "count_messages": "messages",
    "fit_messages": "messages",
}
__all__ = ["Ledger", "Standing", "WorkLog", "compress", "count_messages", "fit_messages", "open_log"]


def __getattr__(name: str) -> object:
    # The program itself imports single modules, and must not load the rest at every start.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
