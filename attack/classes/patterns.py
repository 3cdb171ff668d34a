"""Globs, ignore rules and expressions made to take for ever: every call ends, and other threads go on meanwhile."""

import threading
import time
from collections.abc import Callable
from functools import partial

from attack.places import project
from attack.trial import Trial, answered, attack, finishes

GLOBS = (
    "*a*a*a*a*a*a*a*a*a*b", "*a" * 200 + "b", "**/" * 100 + "b", "**/a/" * 100 + "b", "?*" * 200, "{a,b}" * 8, "[a-z]*" * 90,
    "{" * 500, "a**" * 8 + "b", "[" * 900, "\\" * 900, "*" * 1_000, "(" * 500,
)  # fmt: skip
EXPRESSIONS = (
    "(a+)+$", "(a|aa)+$", "(a*)*b", "a?" * 40 + "a" * 40, "(.*)(.*)(.*)(.*)(.*)x", r"(\w+\s?)+:", "(a|a)*$", r"(?=(a+))\1+b",
    "(?:a{1,99}){1,99}b", "[" * 100, "(" * 500, "(?P<x>a)" * 90, r"\p{L}", "a{99999}", "(?i)" + "é" * 200,
)  # fmt: skip
MOST_GAP = 5.0
"""Seconds for which no other thread came to its turn that count as frozen, on a busy machine."""


@attack("patterns")
def run(trial: Trial) -> None:
    """Give each bomb to each tool that takes it."""
    root = project(trial.folder / "project")
    (root / ("a" * 200)).write_text("a" * 40 + "!\n")
    (root / "deep").mkdir()
    (root / "deep" / ("a" * 250)).write_text(("a" * 50 + "! ") * 400 + "\n")
    plain = trial.folder / "plain"
    plain.mkdir()
    (plain / ("a" * 250)).write_text("text\n")
    (plain / ".gitignore").write_text("\n".join([*GLOBS, *GLOBS]) + "\n" + "*a*b\n" * 20_000)
    caller, walker = trial.caller(root), trial.caller(plain, profile="bytes4")
    with _Ticking() as ticking:
        for glob in GLOBS:
            listing = partial(answered, caller, "project_files", pattern=glob)
            ticking.judge(trial, f"project_files {glob[:40]}", listing)
            search = partial(answered, caller, "search_content", pattern="text", file_pattern=glob)
            ticking.judge(trial, f"file_pattern {glob[:40]}", search)
        for expression in EXPRESSIONS:
            search = partial(answered, caller, "search_content", pattern=expression, is_regex=True)
            ticking.judge(trial, f"expression {expression[:40]}", search)
        ticking.judge(trial, "ignore file", partial(answered, walker, "project_files"))


class _Ticking:
    """A thread that notes the longest time for which it was not run."""

    def __enter__(self) -> "_Ticking":
        self._stop = threading.Event()
        self.gap = 0.0
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _tick(self) -> None:
        last = time.monotonic()
        while not self._stop.wait(0.02):
            now = time.monotonic()
            self.gap = max(self.gap, now - last)
            last = now

    def judge(self, trial: Trial, what: str, work: Callable[[], object]) -> None:
        if not trial.goes_on():
            return
        self.gap = 0.0
        ended = finishes(work)
        trial.judge(f"{what}: ended {ended}, nothing else ran for {self.gap:.1f} s", ended and self.gap < MOST_GAP)
