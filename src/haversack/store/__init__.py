"""The only place with SQL."""

from haversack.store.database import Database, Reader, Writer

__all__ = ["Database", "Reader", "Writer"]
