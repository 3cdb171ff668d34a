"""What every test may use: a home of its own, a clock that only tests move, and a program on a fresh store."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from haversack.app import Caller, open_caller
from haversack.config import Config

THOROUGHNESS = int(os.environ.get("THOROUGHNESS", "1"))
"""How many times the usual number of examples properties are tried on; above 1 they differ from run to run."""

settings.register_profile(
    "haversack",
    deadline=None,
    derandomize=THOROUGHNESS == 1,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("haversack")


def examples(count: int) -> settings:
    """Settings for a property that is tried on so many examples in an ordinary run."""
    return settings(max_examples=count * THOROUGHNESS)


# A test may start a program in another folder, where a relative path would lead elsewhere.
if paths := os.environ.get("PYTHONPATH"):
    os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, paths.split(os.pathsep)))

START = 1_770_000_000_000_000
"""2026-02-02 in microseconds: when every test begins."""


class Clock:
    """A clock that moves on by a millisecond whenever it is read, and by more when a test says so."""

    def __init__(self, time: int = START) -> None:
        self.time = time

    def __call__(self) -> int:
        self.time += 1_000
        return self.time

    def advance(self, *, minutes: float = 0, days: float = 0) -> None:
        self.time += int((minutes + days * 24 * 60) * 60_000_000)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the home of whoever runs it."""
    for name in list(os.environ):
        if name.startswith("HAVERSACK_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HAVERSACK_HOME", str(tmp_path / "home"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def caller(tmp_path: Path, clock: Clock) -> Iterator[Caller]:
    made = open_caller(Config(home=str(tmp_path / "home")), directory=str(tmp_path), now=clock)
    yield made
    made.app.close()
