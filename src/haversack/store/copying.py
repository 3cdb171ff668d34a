"""Every row of one store put into another, with the ids, keys and times it has."""

from collections.abc import Callable, Iterator

from haversack.store.engine import Reader, Row, Writer
from haversack.values import record

# In the order of their references; what is derived from these is made anew.
_FIRST = ("sessions", "observations", "tags", "revisions", "prompts", "relations", "vectors", "accounts", "entries")
_DERIVED = ("meta", "tallies", "stash_size", "vector_changes")
_NUMBERED = {"sessions": "number", "observations": "id", "prompts": "id", "relations": "id", "entries": "id"}
# Triggers make its rows from sessions and observations; a server has one in every realm that holds a project.
_PROJECTS = "projects"
BATCH = 1_000


@record
class Table:
    """A table to copy and its columns."""

    name: str
    columns: tuple[str, ...]

    def select(self) -> str:
        return f"SELECT {', '.join(self.columns)} FROM {self.name}"


def tables() -> list[Table]:
    """The tables of a store, as a file has them; every engine has their columns."""
    from haversack.store.sqlite.engine import MEMORY, Database

    model = Database(MEMORY)
    with model.read() as tx:
        names = [row[0] for row in tx.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        wanted = [name for name in names if not name.startswith(("sqlite_", "search_index")) and name not in _DERIVED]
        ordered = [*_FIRST, *sorted(set(wanted) - set(_FIRST))]
        found = [Table(name, tuple(row[1] for row in tx.rows(f"PRAGMA table_info({name})"))) for name in ordered]
    model.close()
    return found


def is_empty(tx: Reader) -> bool:
    """Whether a store holds nothing that a copy could collide with."""
    return not any(tx.value(f"SELECT count(*) FROM {table.name}") for table in tables())


def copy(source: Reader, target: Writer, step: Callable[[str, int], None]) -> dict[str, int]:
    """Put every row into an empty store; how many of each table. The caller rebuilds the index."""
    target.adopt_salt(source.value("SELECT value FROM meta WHERE name = 'salt'"))
    counts = {}
    for table in tables():
        if table.name == _PROJECTS:
            counts[table.name] = _copy_projects(source, target)
            step(table.name, counts[table.name])
            continue
        marks = ", ".join("?" * len(table.columns))
        insert = f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})"
        counts[table.name] = 0
        for rows in _batches(source, table):
            target.run_many(insert, rows)
            counts[table.name] += len(rows)
            step(table.name, counts[table.name])
    return counts


def _copy_projects(source: Reader, target: Writer) -> int:
    """Make the projects what they are in the source; each stays in the realms where its memories put it."""
    sql = f"SELECT key, min(name), min(short), max(moved_to) FROM {_PROJECTS} GROUP BY key ORDER BY key"
    rows = source.rows(sql)
    # A forgotten project has no row, but its sessions and deleted observations were copied.
    for key in {row[0] for row in target.rows(sql)} - {row[0] for row in rows}:
        target.run(f"DELETE FROM {_PROJECTS} WHERE key = ?", (key,))
    for key, name, short, moved_to in rows:
        values = (name, short, moved_to, key)
        if not target.run(f"UPDATE {_PROJECTS} SET name = ?, short = ?, moved_to = ? WHERE key = ?", values):
            target.run(f"INSERT INTO {_PROJECTS} (name, short, moved_to, key) VALUES (?, ?, ?, ?)", values)
    return len(rows)


def _batches(tx: Reader, table: Table) -> Iterator[list[Row]]:
    key = _NUMBERED.get(table.name)
    if key is None:
        order = "opened_at, handle" if table.name == "accounts" else ", ".join(table.columns[:2])
        rows = tx.rows(f"{table.select()} ORDER BY {order}")
        yield from (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
        return
    place, last = table.columns.index(key), 0
    while rows := tx.rows(f"{table.select()} WHERE {key} > ? ORDER BY {key} LIMIT ?", (last, BATCH)):
        yield rows
        last = rows[-1][place]


def differences(source: Reader, target: Reader) -> list[str]:
    """What a copy lacks or has in another form; empty when it is whole."""
    from haversack.digests import blake2b

    found = []
    for table in tables():
        counted = "DISTINCT key" if table.name == _PROJECTS else "*"
        sql = f"SELECT count({counted}) FROM {table.name}"
        ours, theirs = source.value(sql), target.value(sql)
        if ours != theirs:
            found.append(f"{table.name} has {theirs} rows instead of {ours}")
    digests = []
    for tx in (source, target):
        digest, last = blake2b(), 0
        sql = "SELECT id, uid, content_hash, updated_at FROM observations WHERE id > ? ORDER BY id LIMIT ?"
        while rows := tx.rows(sql, (last, BATCH)):
            digest.update(repr(rows).encode())
            last = rows[-1][0]
        digests.append(digest.hexdigest())
    if digests[0] != digests[1]:
        found.append("the observations differ")
    live = "SELECT count(*) FROM observations WHERE deleted_at IS NULL"
    tallied = target.value("SELECT CAST(coalesce(sum(observations), 0) AS bigint) FROM tallies")
    if tallied != target.value(live):
        found.append(f"{tallied} live observations are counted instead of {target.value(live)}")
    return found
