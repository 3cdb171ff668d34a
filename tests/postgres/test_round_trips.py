"""How often a call waits for the server, which is what a network makes slow."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from haversack.config import MemorySettings
from haversack.memory.room import Memory
from haversack.memory.save import pipeline
from haversack.memory.save.pipeline import Draft
from haversack.memory.search import search
from haversack.store.postgres.engine import PostgresStore
from haversack.store.records import Filters
from tests.conftest import Clock
from tests.postgres.test_parity import fill

SAVE, SEARCH = 9, 24
"""The most a save and a search for three words may wait; statements that go together are one wait."""


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every wait for the server: a statement outside a pipeline, or a pipeline."""
    counted: list[str] = []
    execute, pipeline_of = psycopg.Connection.execute, psycopg.Connection.pipeline

    def executed(connection: object, query: object, *values: object, **options: object) -> object:
        if connection._pipeline is None:  # type: ignore[attr-defined]
            counted.append(str(query))
        return execute(connection, query, *values, **options)

    def piped(connection: object) -> object:
        counted.append("several")
        return pipeline_of(connection)

    monkeypatch.setattr(psycopg.Connection, "execute", executed)
    monkeypatch.setattr(psycopg.Connection, "pipeline", piped)
    yield counted


def test_a_save_and_a_search_wait_for_the_server_no_more_often_than_this(
    store: PostgresStore, waits: list[str]
) -> None:
    memory = Memory(store, MemorySettings(project="p"), "/", Clock())
    fill(memory, 3, 30)
    done: tuple[tuple[Callable[[], object], int], ...] = (
        (lambda: pipeline.save(memory, Draft("Kettle", "The kettle of the kitchen is blue")), SAVE),
        (lambda: search.search(memory, "blue kettle kitchen", Filters(), limit=5), SEARCH),
    )
    for act, most in done:
        waits.clear()
        act()
        assert len(waits) <= most, waits
