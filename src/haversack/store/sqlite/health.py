"""Whether a store is sound: its file, its schema, its rows and its search index."""

from collections.abc import Callable

import apsw

from haversack.store.sqlite import schema
from haversack.store.sqlite.engine import Reader, connect_to_read, translated
from haversack.values import record

LOOK = 100_000
"""Steps of SQLite between two looks at how far work has come: some milliseconds."""


@record
class Health:
    """The findings about a store: the schema's version, what the integrity check says, and whether the index agrees."""

    version: int
    integrity: str
    foreign_keys: int
    index: str

    @property
    def is_sound(self) -> bool:
        return self.integrity == "ok" and not self.foreign_keys


def sqlite_version() -> str:
    """The SQLite that is in use."""
    return apsw.sqlite_lib_version()


def examine(path: str, step: Callable[[str, int, int | None], None] | None = None) -> Health:
    """Examine a store without changing it; `step` is called with the number of pages read."""
    with translated(path):
        connection = connect_to_read(path)

        def look() -> bool:
            if step is not None:
                step("pages checked", connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)[0], None)
            return False  # true would end the examination

        try:
            connection.set_progress_handler(look, LOOK)
            version: int = connection.pragma("user_version")
            schema.refuse_newer(version)
            integrity = str(connection.pragma("integrity_check"))
            broken = len(connection.execute("PRAGMA foreign_key_check").fetchall())
            index = Reader(connection).words.check() if version else ""
        finally:
            connection.close()
    return Health(version, integrity, broken, index)
