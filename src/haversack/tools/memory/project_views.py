"""How a reading of one project names the others."""

from collections.abc import Sequence

from haversack.app import Caller

NAMED = 5
"""How many other projects are named."""


def listed(caller: Caller, others: Sequence[tuple[str, int]]) -> str:
    """Projects with their counts, the first few by name: `web (12), api (3) and 2 more`."""
    label = caller.memory.labels()
    named = ", ".join(f"{label(name) or 'no project'} ({count:,})" for name, count in others[:NAMED])
    return named + (f" and {len(others) - NAMED} more" if len(others) > NAMED else "")
