"""Trials: the tests of a target run against one change after another, each in a forked process."""

import ast
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import Phase, settings

from tools.mutation.changes import PACKAGE, ROOT, Mutant, apply
from tools.mutation.results import Reach, Results

SLOW = 0.2
"""Seconds of processor time from which a test waits for the others."""
SECONDS = 600
"""A change that makes the tests run for longer than this has been noticed: it never ends."""


def _noticed_afresh(mutant: Mutant, tests: list[str]) -> bool:
    """Whether the tests fail in a new process that imports the changed file."""
    with tempfile.TemporaryDirectory() as folder:
        for path in [PACKAGE, *PACKAGE.rglob("*")]:
            there = Path(folder) / "haversack" / path.relative_to(PACKAGE)
            if path.is_dir():
                there.mkdir(parents=True, exist_ok=True)
            elif path.suffix != ".pyc":
                there.symlink_to(path)
        changed = Path(folder) / "haversack" / mutant.name
        changed.unlink()
        changed.write_text(ast.unparse(mutant.tree()[0]), encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:xdist", "--tb=no", *tests]
        try:
            ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return True
    return ran.returncode != 0


def _limit_processor_time(expected_seconds: float) -> None:
    """End this process when a test takes far more than it did without a change: it may never end."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    soft = int(time.process_time() + expected_seconds * 4) + 3
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _forked(work: Callable[[Callable[[object], None]], None]) -> tuple[int, list[Any]]:
    """Run work in a forked process with limits of its own: its exit code, and what it sent."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        signal.alarm(SECONDS)
        code = 1
        try:
            with os.fdopen(writing, "wb", buffering=0) as pipe:
                work(lambda sent: pickle.dump(sent, pipe))
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    sent: list[Any] = []
    with os.fdopen(reading, "rb") as pipe:
        while pipe.peek(1):
            sent.append(pickle.load(pipe))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), sent


def _passes(item: pytest.Item) -> bool:
    """Run a test; one that needs nothing but its parameters is called directly, and raises what it raises."""
    names = getattr(item, "_fixtureinfo").argnames  # noqa: B009
    given = item.callspec.params if hasattr(item, "callspec") else {}
    if all(name in given for name in names) and "engine" not in names:
        try:
            getattr(item, "obj")(**{name: given[name] for name in names})  # noqa: B009
        except pytest.skip.Exception:
            return True
        return True
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    return not item.session.testsfailed


def _traced(item: pytest.Item, paths: set[str]) -> tuple[Reach, bool]:
    """Run a test: its seconds of processor time, the lines of the files it reaches, and whether it passes."""
    lines: set[tuple[str, int]] = set()

    def on_line(frame: FrameType, event: str, _: Any) -> Any:
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return on_line

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        return on_line if frame.f_code.co_filename in paths else None

    before = time.process_time()
    threading.settrace(on_call)
    sys.settrace(on_call)
    passes = _passes(item)
    sys.settrace(None)
    return Reach(time.process_time() - before, frozenset(lines)), passes


class Trials:
    """A pytest plugin that runs the collected tests once, and then again for each change."""

    def __init__(
        self, tried: list[Mutant], paths: Iterable[Path], results: Results, patience: float,
        survived: Callable[[Mutant], None],
    ) -> None:  # fmt: skip
        self.tried = tried
        self.results = results
        self.patience = patience
        self.survived = survived
        self.seconds: dict[str, float] = {}
        self.reached: dict[tuple[str, int], set[str]] = defaultdict(set)
        self.paths = {str(path) for path in paths}
        self.last_noticed: dict[Path, list[str]] = defaultdict(list)

    def pytest_configure(self, config: pytest.Config) -> None:
        # After the tests' own profile: looking for a smaller example of a failure takes long and tells nothing here.
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutation", parent=settings.get_profile("haversack"), phases=phases)
        settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        failed = [item.nodeid for item in session.items if not self.measure(item)]
        self.results.write()
        if failed:
            pytest.exit(f"tests fail without any change: {', '.join(failed)}", returncode=2)
        for count, mutant in enumerate(self.tried, 1):
            if count % 20 == 0:
                print(f"{count} of {len(self.tried)} changes tried", file=sys.stderr, flush=True)
            items = self.items_for(mutant, session)
            test = self.noticed_by(mutant, items)
            self.results.keep(mutant, test, self.patience)
            if not test:
                self.survived(mutant)
        return True

    def measure(self, item: pytest.Item) -> bool:
        """Note the time of a test as it is and the lines it reaches, and say whether it passed."""
        reach = self.results.reach(item.nodeid)
        if reach is None:
            code, sent = _forked(lambda send: send(_traced(item, self.paths)))
            if code != 0 or not sent or not sent[0][1]:
                return False
            reach = sent[0][0]
            assert isinstance(reach, Reach)
            self.results.keep_reach(item.nodeid, reach)
        self.seconds[item.nodeid] = reach.seconds
        for path, line in reach.lines:
            self.reached[path, line].add(item.nodeid)
            self.reached[path, 0].add(item.nodeid)
        return True

    def items_for(self, mutant: Mutant, session: pytest.Session) -> list[pytest.Item]:
        """The tests that reach a change, as far as the patience goes.

        Those that noticed the last changes of the file come first, slow ones last. Among the others the cases of
        different tests take turns: a hundred cases of one test say little more than one.
        """
        reaching = {test for line in mutant.lines for test in self.reached[str(mutant.path), line]}
        reaching = reaching or self.reached[str(mutant.path), 0]
        last = self.last_noticed[mutant.path][-5:]
        turns: dict[str, int] = defaultdict(int)
        keys: dict[str, tuple[bool, bool, int, float]] = {}
        for test in sorted(reaching, key=self.seconds.__getitem__):
            turns[test.partition("[")[0]] += 1
            seconds = self.seconds[test]
            keys[test] = (test not in last, seconds > SLOW, turns[test.partition("[")[0]], seconds)
        items = sorted((item for item in session.items if item.nodeid in keys), key=lambda item: keys[item.nodeid])
        chosen: list[pytest.Item] = []
        spent = 0.0
        for item in items:
            spent += self.seconds[item.nodeid]
            if spent > self.patience and chosen:
                break
            chosen.append(item)
        return chosen

    def noticed_by(self, mutant: Mutant, items: list[pytest.Item]) -> str:
        """The test that fails when the program is changed, or nothing."""
        if not items:
            return ""
        if mutant.place == "elsewhere":
            tests = list(dict.fromkeys(item.nodeid.partition("[")[0] for item in items))
            return tests[0] if _noticed_afresh(mutant, tests) else ""

        def work(send: Callable[[object], None]) -> None:
            apply(mutant)
            for item in items:
                send(item.nodeid)
                _limit_processor_time(self.seconds[item.nodeid])
                if not _passes(item):
                    raise SystemExit(1)

        code, sent = _forked(work)
        if code == 0:
            return ""
        if not sent:
            raise RuntimeError(f"the change could not be made: {mutant.description}")
        test: str = sent[-1]
        self.last_noticed[mutant.path].append(test)
        return test
