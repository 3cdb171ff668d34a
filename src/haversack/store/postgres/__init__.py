"""The PostgreSQL engine."""

from typing import TYPE_CHECKING

from haversack.errors import ConfigError

if TYPE_CHECKING:
    from haversack.store.postgres.engine import PostgresStore


def open_store(url: str, *, member: str = "", connections: int = 2, read_url: str = "") -> "PostgresStore":
    """The store at a URL; the driver is an extra, and only a store with a URL needs it."""
    try:
        from haversack.store.postgres.engine import PostgresStore
    except ImportError as error:
        raise ConfigError(
            f"store.url is set, but PostgreSQL's driver is missing ({error})", hint="pip install 'haversack[postgres]'"
        ) from None
    return PostgresStore(url, member=member, connections=connections, read_url=read_url)
