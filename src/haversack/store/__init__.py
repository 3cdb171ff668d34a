"""The only place with SQL."""

from haversack.store.sqlite.engine import Database, Reader, Writer

__all__ = ["Database", "Reader", "Writer"]
