"""Texts as PostgreSQL can hold them: U+0000 is written as two characters for private use, and read back."""

from typing import Any

from psycopg.adapt import AdaptersMap, Loader
from psycopg.types.string import StrDumperUnknown


def escaped(text: str) -> str:
    """The text without U+0000."""
    return text.replace("\ue001", "\ue001\ue002").replace("\0", "\ue001\ue003")


def unescaped(text: str) -> str:
    """The text that `escaped` was given."""
    return text.replace("\ue001\ue003", "\0").replace("\ue001\ue002", "\ue001")


class _TextDumper(StrDumperUnknown):  # type: ignore[misc]
    def dump(self, obj: str) -> Any:
        return super().dump(escaped(obj) if "\0" in obj or "\ue001" in obj else obj)


class _TextLoader(Loader):  # type: ignore[misc]
    def load(self, data: Any) -> str:
        text = bytes(data).decode()
        return unescaped(text) if "\ue001" in text else text


def register(adapters: AdaptersMap) -> None:
    """Have every text escaped on its way to the server, and read back on its way from there."""
    adapters.register_dumper(str, _TextDumper)
    adapters.register_loader("text", _TextLoader)
