"""The state that the memory room shares: the store, the settings, the clock and the directory."""

import time
from collections.abc import Callable

from haversack.config import MemorySettings
from haversack.store.engine import Engine
from haversack.values import record


def microseconds_now() -> int:
    """The time in microseconds since 1970, UTC."""
    return time.time_ns() // 1000


def _unheard(identifier: int) -> None:
    """A callback for saves that does nothing."""


@record
class Memory:
    """The memory of one store, as seen from one directory; `saved` is called with the id of each new text."""

    database: Engine
    settings: MemorySettings
    directory: str
    now: Callable[[], int] = microseconds_now
    saved: Callable[[int], None] = _unheard

    def project(self, given: str = "") -> str:
        """The project a call is about: the one given, the one set, or the one the directory belongs to."""
        from haversack.memory.projects.names import current, resolve

        return resolve(self, given) if given.strip() else current(self)

    def scope(self, given: str = "") -> str:
        """The project a reading is narrowed to: the one given, else the current one; empty for `all`."""
        from haversack.memory.projects.names import scope

        return scope(self, given)

    def labels(self) -> Callable[[str], str]:
        """How projects are shown now: by the last part of their name while that is unambiguous."""
        from haversack.memory.projects.names import Labels

        return Labels(self)
