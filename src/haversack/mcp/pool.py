"""Threads that do the blocking work, so that the door can go on reading."""

import threading
import time
from collections import deque
from collections.abc import Callable

Work = Callable[[], None]


class Pool:
    """At most `size` threads, started as they are needed, and at most `capacity` pieces of work waiting for them."""

    def __init__(self, size: int, capacity: int) -> None:
        self._size = max(1, size)
        self._capacity = capacity
        self._waiting: deque[Work] = deque()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._closing = False
        lock = threading.Lock()
        self._work = threading.Condition(lock)
        self._room = threading.Condition(lock)

    def submit(self, work: Work) -> None:
        """Hand over a piece of work; this waits while too much is waiting already."""
        with self._work:
            while len(self._waiting) >= self._capacity:
                self._room.wait()
            self._take(work)

    def offer(self, work: Work) -> bool:
        """Hand over a piece of work unless too much is waiting already or the pool is closing; says whether."""
        with self._work:
            if self._closing or len(self._waiting) >= self._capacity:
                return False
            self._take(work)
            return True

    def _take(self, work: Work) -> None:
        self._waiting.append(work)
        if self._idle:
            self._work.notify()
        if len(self._waiting) > self._idle and len(self._threads) < self._size:
            # A daemon, so that a call that never ends cannot keep the process alive.
            thread = threading.Thread(target=self._run, daemon=True)
            self._threads.append(thread)
            thread.start()

    def drop(self) -> None:
        """Drop the work that no thread has begun."""
        with self._work:
            self._waiting.clear()
            self._room.notify_all()

    def finish(self, seconds: float) -> bool:
        """Wait until all work is done, and say whether it was within the time given."""
        with self._work:
            self._closing = True
            self._work.notify_all()
            threads = list(self._threads)
        deadline = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _run(self) -> None:
        try:
            while (work := self._next()) is not None:
                work()
        finally:
            # After an unexpected failure another thread may take this one's place.
            with self._work:
                self._threads.remove(threading.current_thread())

    def _next(self) -> Work | None:
        """The next piece of work, as soon as there is one; None when the pool is closing."""
        with self._work:
            while not self._waiting:
                if self._closing:
                    return None
                self._idle += 1
                self._work.wait()
                self._idle -= 1
            self._room.notify()
            return self._waiting.popleft()
