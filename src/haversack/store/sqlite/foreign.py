"""Reading the SQLite file of another program, which is never written."""

import os
from collections.abc import Iterator

import apsw

from haversack.errors import InvalidArgument, NotFound
from haversack.store.sqlite.engine import connect_to_read


def rows(path: str, table: str, *, optional: bool = False) -> Iterator[dict[str, object]]:
    """Every row of a table by the names of its columns; an optional table that is missing has none."""
    if not os.path.isfile(path):
        raise NotFound(f"there is no file {path}", hint="name the database of the program you come from")
    try:
        connection = connect_to_read(path)
    except apsw.Error as error:
        raise InvalidArgument(f"{path} cannot be read as a SQLite database ({error})") from None
    try:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        if found.fetchall():
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            names: list[str] = []
            for row in cursor:
                names = names or [each[0] for each in cursor.description]
                yield dict(zip(names, row, strict=True))
        elif not optional:
            raise InvalidArgument(f"{path} has no table {table}", hint="is it the database of that program?")
    except apsw.Error as error:
        raise InvalidArgument(f"{path} cannot be read as a SQLite database ({error})") from None
    finally:
        connection.close()
