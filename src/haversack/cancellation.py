"""Stopping a call whose caller no longer waits for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from haversack.errors import HaversackError

Stop = Callable[[], None]


class Cancelled(HaversackError):
    """The caller withdrew the call."""

    code = "cancelled"


class Cancellation:
    """Belongs to one call: the door cancels it, and whatever works for the call stops."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._lock = Lock()
        self._stops: list[Stop] = []

    def cancel(self) -> None:
        """Withdraw the call: everything registered is stopped, and `check` raises from now on."""
        with self._lock:
            self.is_cancelled = True
            stops = list(self._stops)
        for stop in stops:
            stop()

    @contextmanager
    def stopping(self, stop: Stop) -> Iterator[None]:
        """Call `stop`, on the canceller's thread, if the call is cancelled inside the block or was before it."""
        with self._lock:
            self._stops.append(stop)
            is_late = self.is_cancelled
        try:
            if is_late:
                stop()
            yield
        finally:
            with self._lock:
                self._stops.remove(stop)


_CURRENT: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


@contextmanager
def watching(cancellation: Cancellation) -> Iterator[None]:
    """Let the work in the block be stopped by `cancellation`."""
    token = _CURRENT.set(cancellation)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Cancellation | None:
    """The cancellation of the call under way here; None when nobody can withdraw it."""
    return _CURRENT.get()


def check() -> None:
    """Raise Cancelled when the call under way here was withdrawn; long loops call this now and then."""
    if (cancellation := _CURRENT.get()) is not None and cancellation.is_cancelled:
        raise Cancelled("the call was cancelled")
