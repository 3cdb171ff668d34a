"""The server's own log: what went wrong on standard error, and everything in a file for those who ask for one."""

import sys
import threading
import time

MAX_BYTES = 1_000_000
KEPT = 3
"""Earlier files beside the current one."""


class Journal:
    """Lines about what the server did; never arguments or replies, which may hold anything."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._lock = threading.Lock()

    @property
    def is_kept(self) -> bool:
        """Whether there is a file for notes."""
        return bool(self._path)

    def note(self, text: str) -> None:
        """Log a normal event, in the file only."""
        if self._path:
            self._append(f"info {text}")

    def warn(self, text: str) -> None:
        """Log a problem, in the file and on standard error."""
        self._append(f"error {text}")
        print(f"haversack: {text}", file=sys.stderr, flush=True)  # noqa: T201 - standard error is this log

    def unexpected(self, what: str) -> str:
        """Log an unexpected failure with its traceback, and return its short form."""
        import traceback

        error = sys.exc_info()[1]
        self.warn(f"unexpected failure in {what}\n{traceback.format_exc()}")
        return f"{type(error).__name__} in {what}"

    def _append(self, text: str) -> None:
        if not self._path:
            return
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self._lock:
            try:
                _rotate(self._path)
                # Opened for each line, so that another server's rotation cannot leave this one writing to an old file.
                with open(self._path, "a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(f"{stamp} {text}\n")
            except OSError:
                # A log that cannot be written must not stop the work it is about.
                return


def _rotate(path: str) -> None:
    import os

    if not os.path.exists(path) or os.path.getsize(path) < MAX_BYTES:
        return
    for number in range(KEPT, 1, -1):
        if os.path.exists(f"{path}.{number - 1}"):
            os.replace(f"{path}.{number - 1}", f"{path}.{number}")
    os.replace(path, f"{path}.1")
