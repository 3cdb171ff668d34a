"""Counters of tool calls and their tokens, without content, in the Prometheus text format."""

import threading
from bisect import bisect_left

from haversack.version import __version__

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class _Figures:
    def __init__(self) -> None:
        self.calls = 0
        self.failed = 0
        self.cut = 0
        self.tokens = 0
        self.tokens_left = 0
        self.seconds = 0.0
        self.within = [0] * (len(BUCKETS) + 1)


class Metrics:
    """Counters since the server was started, by tool."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_tool: dict[str, _Figures] = {}
        self._statuses: dict[int, int] = {}

    def answered(self, tool: str, seconds: float, *, tokens: int, left: int | None) -> None:
        """A reply was given; `left` is the price of what it left out, None where it was not cut."""
        with self._lock:
            figures = self._timed(tool, seconds)
            figures.tokens += tokens
            if left is not None:
                figures.cut += 1
                figures.tokens_left += left

    def failed(self, tool: str, seconds: float) -> None:
        """A call ended in an error."""
        with self._lock:
            self._timed(tool, seconds).failed += 1

    def sent(self, status: int) -> None:
        """A request was answered with this status."""
        with self._lock:
            self._statuses[status] = self._statuses.get(status, 0) + 1

    def _timed(self, tool: str, seconds: float) -> _Figures:
        figures = self._by_tool.setdefault(tool, _Figures())
        figures.calls += 1
        figures.seconds += seconds
        figures.within[bisect_left(BUCKETS, seconds)] += 1
        return figures

    def text(self, waiting: int) -> str:
        """All metrics as text; tool names are the program's own, so nothing needs escaping."""
        with self._lock:
            tools = sorted(self._by_tool.items())
            lines = [
                "# TYPE haversack_info gauge",
                f'haversack_info{{version="{__version__}"}} 1',
                "# TYPE haversack_waiting_calls gauge",
                f"haversack_waiting_calls {waiting}",
                "# TYPE haversack_requests_total counter",
                *(f'haversack_requests_total{{status="{status}"}} {n}' for status, n in sorted(self._statuses.items())),
            ]
            for name, what in (
                ("calls", "calls"),
                ("failed_calls", "failed"),
                ("cut_replies", "cut"),
                ("tokens_delivered", "tokens"),
                ("tokens_left_out", "tokens_left"),
            ):
                lines.append(f"# TYPE haversack_{name}_total counter")
                lines += [f'haversack_{name}_total{{tool="{tool}"}} {getattr(held, what)}' for tool, held in tools]
            lines.append("# TYPE haversack_call_seconds histogram")
            for tool, held in tools:
                lines += _histogram(tool, held)
        return "\n".join(lines) + "\n"


def _histogram(tool: str, figures: _Figures) -> list[str]:
    lines, total = [], 0
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), figures.within, strict=True):
        total += count
        lines.append(f'haversack_call_seconds_bucket{{tool="{tool}",le="{bound}"}} {total}')
    lines.append(f'haversack_call_seconds_sum{{tool="{tool}"}} {figures.seconds:.6f}')
    lines.append(f'haversack_call_seconds_count{{tool="{tool}"}} {figures.calls}')
    return lines
