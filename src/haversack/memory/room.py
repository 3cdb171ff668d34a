"""What every part of the memory room works with: the store, the settings, the clock and the place."""

import time
from collections.abc import Callable

from haversack.config import MemorySettings
from haversack.store.engine import Engine
from haversack.values import record


def microseconds_now() -> int:
    """The time in microseconds since 1970, UTC."""
    return time.time_ns() // 1000


def _unheard(identifier: int) -> None:
    """The callback of a memory whose saves nobody follows: it does nothing."""


@record
class Memory:
    """The memory of one store, as seen from one directory; `saved` is told the id of what has a new text."""

    database: Engine
    settings: MemorySettings
    directory: str
    now: Callable[[], int] = microseconds_now
    saved: Callable[[int], None] = _unheard

    def project(self, given: str = "") -> str:
        """The project a call is about: the one given, the one set, or the one the directory belongs to."""
        if given:
            return given
        from haversack.memory.projects import detect_project

        return detect_project(self.directory, explicit=self.settings.project)
