"""Stores on the tests' PostgreSQL in place of files: a path is a schema, emptied before another test gets it."""

import weakref
from functools import cache

import psycopg

from haversack.store.postgres.engine import PostgresStore
from haversack.store.postgres.upgrade import upgrade
from haversack.store.sqlite.engine import MEMORY
from tests.postgres_server import OWNER, PROGRAM, Server, shared_server

_TABLES = (
    "audit, vector_changes, session_events, project_changes, projects, packs, stash_size, stash, entries, accounts, search_text, post, lexicon,"
    " vectors, relations, prompts, revisions, tags, observations, sorts, sessions"
)


@cache
def _administrator() -> "psycopg.Connection[tuple[object, ...]]":
    connection = psycopg.connect(shared_server().url("postgres"), autocommit=True)
    # Neither triggers nor references matter when everything goes.
    connection.execute("SET session_replication_role = replica")
    return connection


def empty(schema: str) -> None:
    """Take every memory and every trail out of a store; its members stay."""
    removed = " ".join(f"DELETE FROM {schema}.{table.strip()};" for table in _TABLES.split(","))
    _administrator().execute(
        f"{removed} UPDATE {schema}.serials SET last = 0; UPDATE {schema}.realms SET sessions = 0;"
        f" UPDATE {schema}.meta SET value = 'in memory' WHERE name = 'salt';"
        f" DELETE FROM {schema}.meta WHERE name IN ('copying', 'copied')"
    )


class Schemas:
    """Empty schemas, made when needed and used again."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._free: list[str] = []
        self._made = 0

    def take(self) -> str:
        if self._free:
            schema = self._free.pop()
        else:
            self._made += 1
            schema = f"store{self._made}"
            upgrade(self._server.url(OWNER, schema=schema))
        empty(schema)
        return schema

    def give_back(self, schema: str) -> None:
        self._free.append(schema)

    def url(self, schema: str, user: str = PROGRAM) -> str:
        return self._server.url(user, schema=schema)


@cache
def schemas() -> Schemas:
    return Schemas(shared_server())


LASTING: dict[str, str] = {}
"""The schemas of stores outside a test's own folder, which last as long as the run."""


class Stores:
    """What opens a store in a test on PostgreSQL, as `Database` does for a file."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._by_path: dict[str, str] = {}

    def __call__(self, path: str, *, busy_milliseconds: int | None = None) -> PostgresStore:
        if path != MEMORY:
            return PostgresStore(self.url_of(path), connections=12)
        schema = schemas().take()
        store = PostgresStore(schemas().url(schema), connections=4)
        connections = store._servers

        def end() -> None:
            connections.close()
            schemas().give_back(schema)

        weakref.finalize(store, end)
        return store

    def url_of(self, path: str) -> str:
        """The address of the schema that a file's path stands for."""
        held = self._by_path if path.startswith(self._folder) else LASTING
        if path not in held:
            held[path] = schemas().take()
        return schemas().url(held[path])

    def end(self) -> None:
        """Let other tests use the schemas."""
        for schema in self._by_path.values():
            schemas().give_back(schema)
        self._by_path.clear()
