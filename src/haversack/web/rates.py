"""Rate limits: token buckets that refill with time, kept in memory."""

import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil

from haversack.values import record

MOST_KEYS = 10_000


@record
class Rate:
    """Requests per minute, of which `burst` may come at once; 0 is no limit."""

    per_minute: int
    burst: int


class Limiter:
    """One bucket per key; of too many keys the least recent is forgotten."""

    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, key: str) -> int:
        """Take a token from the key's bucket: 0, or the seconds until the next one."""
        if not self._rate.per_minute:
            return 0
        left, per_second = self._left(key), self._rate.per_minute / 60
        if left < 1:
            return max(1, ceil((1 - left) / per_second))
        self._buckets[key] = (left - 1, self._clock())
        self._buckets.move_to_end(key)
        if len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)
        return 0

    def _left(self, key: str) -> float:
        if key not in self._buckets:
            return float(self._rate.burst)
        left, since = self._buckets[key]
        return min(float(self._rate.burst), left + (self._clock() - since) * self._rate.per_minute / 60)
