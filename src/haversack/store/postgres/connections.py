"""A few connections that threads share, each used by one transaction at a time."""

import threading
import time
from select import select
from typing import TypeAlias

import psycopg

from haversack.errors import StoreBusy, StoreMisconfigured
from haversack.store.postgres import texts
from haversack.store.postgres.address import Address
from haversack.store.postgres.failures import translate

Connection: TypeAlias = psycopg.Connection

CONNECT_SECONDS = 5
IDLE_SECONDS = 300
_WAIT_SECONDS = 30
_BYPASSES = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"


class Connections:
    """A bounded pool of connections, opened when needed and closed after a long idle time."""

    def __init__(self, address: Address, most: int, version: int) -> None:
        self.address = address
        self._version = version
        self._free = threading.Semaphore(most)
        self._idle: list[tuple[float, Connection]] = []
        self._lock = threading.Lock()

    def take(self, *, fresh: bool = False) -> Connection:
        """A connection from the pool, or a new one if `fresh`."""
        if not self._free.acquire(timeout=_WAIT_SECONDS):
            raise StoreBusy("every connection to the store is in use", hint="try again, or raise server.workers")
        try:
            return (None if fresh else self._idle_connection()) or self._connect()
        except BaseException:
            self._free.release()
            raise

    def give_back(self, connection: Connection) -> None:
        """Return a connection to the pool, unless it is broken or still inside a transaction."""
        idle = psycopg.pq.TransactionStatus.IDLE
        if connection.closed or connection.info.transaction_status != idle:
            connection.close()
        else:
            with self._lock:
                self._idle.append((time.monotonic(), connection))
        self._free.release()

    def give_back_ending(self, connection: Connection) -> None:
        """Return a connection whose transaction is about to end; the next user waits for that."""
        with self._lock:
            self._idle.append((time.monotonic(), connection))
        self._free.release()

    def close(self) -> None:
        """Close every connection that is not in use."""
        with self._lock:
            for _, connection in self._idle:
                connection.close()
            self._idle.clear()

    def _idle_connection(self) -> Connection | None:
        oldest = time.monotonic() - IDLE_SECONDS
        while True:
            with self._lock:
                while self._idle and self._idle[0][0] < oldest:
                    self._idle.pop(0)[1].close()
                if not self._idle:
                    return None
                connection = self._idle.pop()[1]
            if _is_free(connection):
                return connection
            connection.close()

    def _connect(self) -> Connection:
        try:
            connection = psycopg.connect(self.address.url, autocommit=True, connect_timeout=CONNECT_SECONDS)
            connection.prepare_threshold = 2 if self.address.prepares else None
            texts.register(connection.adapters)
            row = connection.execute(_BYPASSES).fetchone()
        except psycopg.Error as error:
            raise translate(error, self.address, self._version) from None
        if row and row[0]:
            role = connection.info.user
            connection.close()
            raise StoreMisconfigured(
                f"the role {role} of the store {self.address.shown()} bypasses row security",
                hint=f"use another role, or run ALTER ROLE {role} NOSUPERUSER NOBYPASSRLS",
            )
        return connection


def _is_free(connection: Connection) -> bool:
    """Whether a connection can be used, after waiting for the end of its last transaction."""
    if connection.closed:
        return False
    underneath, idle = connection.pgconn, psycopg.pq.TransactionStatus.IDLE
    if underneath.transaction_status == idle:
        return True
    deadline = time.monotonic() + CONNECT_SECONDS
    try:
        while underneath.is_busy() and time.monotonic() < deadline:
            select([underneath.socket], [], [], 1.0)
            underneath.consume_input()
        while not underneath.is_busy() and underneath.get_result() is not None:
            pass
    except (psycopg.Error, OSError, ValueError):
        return False
    return bool(underneath.transaction_status == idle)
