"""Small calls and answers that were passed on unread; they are read when there is time."""

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from haversack.gateway.messages import parsed

MOST = 1_000
"""Calls that may wait to be read."""
LONGEST = 65_536


def surely_passes(line: bytes) -> bool:
    """Whether a line of the client is a tool call that is for the server alone, whatever else it says.

    The own tools' names and a call's budget would have to stand in it as they are, because no escape hides a letter;
    and where the one member `method` is that of a call, it is no other request.
    """
    return (
        line[:1] == b"{"
        and len(line) <= LONGEST
        and b"more" not in line
        and b"find_in" not in line
        and b"max_tokens" not in line
        and b"\\u" not in line
        and line.count(b'"method"') == 1
        and (b'"method":"tools/call"' in line or b'"method": "tools/call"' in line)
    )


class Unread:
    """Calls and answers in the order they passed; whoever needs to know what waits reads them first."""

    def __init__(self) -> None:
        self._calls: deque[bytes] = deque()
        self._answers: deque[tuple[bytes, Any]] = deque()
        self._reading = threading.Lock()
        self._called: Callable[[Any], object] = _ignored
        self._answered: Callable[[bytes, Any], None] = _ignored

    def begin(self, called: Callable[[Any], object], answered: Callable[[bytes, Any], None]) -> None:
        """Set the functions that take each call and each answer when it is read."""
        self._called, self._answered = called, answered

    def __bool__(self) -> bool:
        return bool(self._calls or self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def is_full(self) -> bool:
        """Whether so many calls wait that they are to be read now."""
        return len(self._calls) >= MOST

    def add_call(self, line: bytes) -> None:
        """Keep a call, before it is sent."""
        self._calls.append(line)

    def add_answer(self, line: bytes, message: Any) -> None:
        """Keep an answer, before it is sent."""
        self._answers.append((line, message))

    def read(self) -> None:
        """Read everything that has passed, calls before answers."""
        with self._reading:
            # Answers that come while the calls are read may be to calls that come then too.
            answers = len(self._answers)
            while self._calls:
                try:
                    self._called(parsed(self._calls[0]))
                except (ValueError, RecursionError):
                    pass  # whatever it is, the server is the one to say so
                finally:
                    # Taken away when it is known, so that whoever sees none left need not wait.
                    self._calls.popleft()
            for _ in range(answers):
                self._answered(*self._answers[0])
                self._answers.popleft()


def _ignored(*_: Any) -> None:
    """Does nothing."""
