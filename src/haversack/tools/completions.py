"""Completions: values a person may mean while typing the argument of a prompt or of an address."""

from haversack.app import Caller

MOST = 100
"""A reply lists at most as many, as the protocol demands."""


def complete(caller: Caller, argument: str, typed: str) -> tuple[list[str], int]:
    """The values that continue what was typed, and how many there are in all."""
    if argument != "project":
        return [], 0
    from haversack.memory.statistics import statistics

    wanted = typed.casefold()
    names = [name for name, _ in statistics(caller.memory).projects if name and name.casefold().startswith(wanted)]
    return names[:MOST], len(names)
