"""The server that a store is written on, and the replica that it is read from where there is one."""

import time
from contextlib import suppress

import psycopg

from haversack.errors import StoreError
from haversack.store.postgres.address import parse_address
from haversack.store.postgres.connections import Connection, Connections
from haversack.store.postgres.schema import VERSION
from haversack.values import replace

AWAY_SECONDS = 30.0
"""How long a replica that failed is left alone."""
_HAS = "SELECT coalesce(pg_last_wal_replay_lsn() >= %s::pg_lsn, true)"


class Servers:
    """Connections for writing and for reading, shared by every member of a store."""

    def __init__(self, url: str, read_url: str, most: int) -> None:
        self.address = parse_address(url)
        self.primary = Connections(self.address, most, VERSION)
        self._replica: Connections | None = None
        if read_url:
            address = replace(parse_address(read_url), schema=self.address.schema)
            self._replica = Connections(address, most, VERSION)
        self._written = self._seen = ""
        self._away_until = 0.0

    def begin(self, opening: str) -> tuple[Connections, Connection]:
        """A connection to the server that is written on, in a transaction that has begun."""
        pool = self.primary
        connection = pool.take()
        try:
            connection.execute(opening)
        except psycopg.Error as error:
            is_lost = connection.closed or connection.broken
            end(pool, connection)
            if not is_lost:
                raise
            # The connection was lost while idle, so nothing has been done: retry on a new one.
            pool.close()
            connection = pool.take(fresh=True)
            try:
                connection.execute(opening)
            except psycopg.Error:
                end(pool, connection)
                raise error from None
        return pool, connection

    def begin_reading(self, opening: str) -> tuple[Connections, Connection]:
        """As `begin`, on the replica if it is reachable and has all writes of this process."""
        if self._replica is None or time.monotonic() < self._away_until:
            return self.begin(opening)
        try:
            connection = self._replica.take()
        except StoreError:
            self._away_until = time.monotonic() + AWAY_SECONDS
            return self.begin(opening)
        try:
            if self._has_everything(connection):
                connection.execute(opening)
                return self._replica, connection
        except psycopg.Error:
            self._away_until = time.monotonic() + AWAY_SECONDS
        end(self._replica, connection)
        return self.begin(opening)

    def note_written(self, connection: Connection) -> None:
        """Record the position of a commit, which a replica must have before this process reads there."""
        if self._replica is None:
            return
        # The commit stands even if this query fails; then this process reads from the primary.
        self._written = ""
        with suppress(psycopg.Error):
            row = connection.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
            self._written = row[0] if row else ""
        if not self._written:
            self._away_until = time.monotonic() + AWAY_SECONDS

    def close(self) -> None:
        """Close every connection that is not in use."""
        self.primary.close()
        if self._replica is not None:
            self._replica.close()

    def _has_everything(self, connection: Connection) -> bool:
        written = self._written
        if written == self._seen:
            return True
        row = connection.execute(_HAS, (written,)).fetchone()
        if row and row[0]:
            self._seen = written
        return bool(row and row[0])


def leave(pool: Connections, connection: Connection) -> None:
    """End a reading transaction without waiting for the server's answer."""
    is_sent = False
    if not connection.closed and connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS:
        with suppress(psycopg.Error):
            connection.pgconn.send_query(b"COMMIT")
            connection.pgconn.flush()
            is_sent = True
    if is_sent:
        pool.give_back_ending(connection)
    else:
        end(pool, connection)


def end(pool: Connections, connection: Connection) -> None:
    """End the transaction of a connection, if it is in one, and let others use it."""
    try:
        if not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.execute("ROLLBACK")
    except psycopg.Error:
        # The transaction ends with its connection.
        with suppress(psycopg.Error):
            connection.close()
    finally:
        pool.give_back(connection)
