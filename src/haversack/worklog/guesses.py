"""Counting wrong keys: a caller that guesses keys has to wait, and finds nothing meanwhile."""

import threading

MINUTE = 60_000_000
WINDOW = 10 * MINUTE
ALLOWED = 20
"""Unknown keys in a window after which keys are refused; typing mistakes are fewer."""
LONGEST = 24 * 60 * MINUTE


class Guesses:
    """The unknown keys that callers of one store asked for in this process; any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wrong: list[int] = []
        self._pause = WINDOW
        self._until = 0

    def wait(self, now: int) -> int:
        """For how many microseconds keys are still refused; 0 when they are not."""
        with self._lock:
            # A clock that was put back must not make the pause longer than it was.
            self._until = min(self._until, now + LONGEST)
            return max(self._until - now, 0)

    def note(self, now: int) -> None:
        """Count a wrong key; each pause is twice as long as the one before, until a day passes without one."""
        with self._lock:
            if now - self._until > LONGEST:
                self._pause = WINDOW
            self._wrong = [each for each in self._wrong if 0 <= now - each < WINDOW] + [now]
            if len(self._wrong) >= ALLOWED:
                self._wrong = []
                self._until = now + self._pause
                self._pause = min(2 * self._pause, LONGEST)


class OwnKeys:
    """The keys one caller was given, or has used: they are answered whatever others guess."""

    MOST = 10_000

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._keys: dict[str, None] = {}

    def add(self, key: str) -> None:
        """Remember a key; the oldest makes room."""
        with self._lock:
            self._keys.pop(key, None)
            self._keys[key] = None
            if len(self._keys) > self.MOST:
                del self._keys[next(iter(self._keys))]

    def __contains__(self, key: str) -> bool:
        return key in self._keys
