"""Regular expressions that are compiled when they are first used: compiling is slow, and would delay every start."""

import re
from typing import Any, cast


class _Pattern:
    """Stands for a compiled expression; its methods become the compiled ones at first use."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)
        return found


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression, compiled when it is first used."""
    return cast(re.Pattern[str], _Pattern(source, flags))
