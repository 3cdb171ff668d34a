"""The composition root: builds the rooms once, each when it is first needed."""

import os
from collections.abc import Callable
from functools import cached_property

from haversack.config import Config, load
from haversack.memory.room import Memory, microseconds_now
from haversack.store.database import Database
from haversack.tokens import Profile, profile_named
from haversack.worklog.stash import Stash


class App:
    """Everything a tool may use, for one store and one working directory."""

    def __init__(
        self, config: Config | None = None, *, directory: str | None = None, now: Callable[[], int] = microseconds_now
    ) -> None:
        self.config = config or load()
        self.directory = directory or os.getcwd()
        self.now = now

    @cached_property
    def database(self) -> Database:
        return Database(self.config.store_path)

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.database, self.config.memory, self.directory, self.now)

    @cached_property
    def stash(self) -> Stash:
        return Stash(self.database, self.config.stash, self.now)

    @cached_property
    def profile(self) -> Profile:
        return profile_named(self.config.tokens.profile)

    def close(self) -> None:
        """Close what was opened."""
        if "database" in self.__dict__:
            self.database.close()
