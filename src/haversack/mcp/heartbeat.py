"""Progress notifications: while a call takes long, its client is told every few seconds that it still runs."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from haversack.protocol.lines import notification

SECONDS = 5.0
Write = Callable[[str], None]


class Heartbeat:
    """Progress notifications for calls whose client asked for them with a token."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._watched: dict[object, tuple[Write, str | int, str, float]] = {}
        self._something = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(self, write: Write, token: str | int | None, name: str) -> Iterator[None]:
        """Report through `write` on what happens inside the `with` block, and never after it."""
        if token is None:
            yield
            return
        entry = object()
        with self._lock:
            self._watched[entry] = (write, token, name, time.monotonic())
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, daemon=True)
                self._thread.start()
        self._something.set()
        try:
            yield
        finally:
            with self._lock:
                del self._watched[entry]

    def _beat(self) -> None:
        while True:
            self._something.wait()
            time.sleep(self._seconds)
            # Written under the lock, so that no report can follow the end of its call.
            with self._lock:
                if not self._watched:
                    self._something.clear()
                for write, token, name, since in self._watched.values():
                    elapsed = time.monotonic() - since
                    if elapsed >= self._seconds:
                        write(_report(token, name, elapsed))


def _report(token: str | int, name: str, elapsed: float) -> str:
    params = {"progressToken": token, "progress": round(elapsed, 3), "message": f"{name}: {elapsed:.0f} s"}
    return notification("notifications/progress", params)
