"""Wires to servers, closed when the test ends."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tests.gateway.wire import TORTURE, Wire, wrapped

Open = Callable[..., Wire]


@pytest.fixture
def through(tmp_path: Path) -> Iterator[Open]:
    """Opens a wire to a server behind the gateway."""
    yield from _opening(tmp_path, lambda options, command: wrapped(*options, command=command))


@pytest.fixture
def direct(tmp_path: Path) -> Iterator[Open]:
    """Opens a wire to a server itself."""
    yield from _opening(tmp_path, lambda options, command: list(command))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Wire]]:
    """The torture server behind the gateway and by itself, greeted once for the tests of a module."""
    home = tmp_path_factory.mktemp("home")
    here, there = Wire(wrapped(), home), Wire(TORTURE, home)
    assert here.greet() == there.greet()
    yield here, there
    here.close()
    there.close()


def _opening(home: Path, made: Callable[[Sequence[str], Sequence[str]], list[str]]) -> Iterator[Open]:
    wires: list[Wire] = []

    def open_(*options: str, command: Sequence[str] = TORTURE, **variables: str) -> Wire:
        wires.append(Wire(made(options, command), home, **variables))
        return wires[-1]

    yield open_
    for wire in wires:
        if wire.process.poll() is None:
            wire.close()
        wire.process.wait(timeout=30)
