"""The composition root: builds the rooms once, each when it is first needed."""

import os
import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from haversack.config import Config, load
from haversack.memory.room import Memory, microseconds_now
from haversack.store.sqlite.engine import Database
from haversack.tokens import Profile, profile_named

if TYPE_CHECKING:
    from haversack.memory.meaning.similarity import Background
    from haversack.worklog.ledger import Ledger
    from haversack.worklog.log import WorkLog
    from haversack.worklog.stash import Stash
    from haversack.workspace.root import Workspace


class App:
    """Everything a tool may use, for one store and one working directory.

    A process that answers one agent for long has an account of its own (`own_account`) unless it was given one;
    a single command has none unless it was given one, so that asking twice gives the same answer.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        directory: str | None = None,
        now: Callable[[], int] = microseconds_now,
        own_account: bool = False,
    ) -> None:
        self.config = config or load()
        self.directory = directory or os.getcwd()
        self.now = now
        self._own_account = own_account
        self._account = self.config.budget.account.strip().lower()
        self._opening = threading.Lock()

    @cached_property
    def database(self) -> Database:
        return Database(self.config.store_path)

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.database, self.config.memory, self.directory, self.now, self._saved)

    def _saved(self, identifier: int) -> None:
        # A single command is over before a model is loaded; what it saves gets its vector from `reembed`.
        if self._own_account and self.config.memory.semantic != "off":
            self.background.note(identifier)

    @cached_property
    def background(self) -> "Background":
        from haversack.memory.meaning.similarity import Background

        return Background(self.memory)

    @cached_property
    def stash(self) -> "Stash":
        from haversack.worklog.stash import Stash

        return Stash(self.database, self.config.stash, self.now)

    @cached_property
    def ledger(self) -> "Ledger":
        from haversack.worklog.ledger import Ledger

        return Ledger(self.database, self.config.budget, self.now)

    @cached_property
    def log(self) -> "WorkLog":
        from haversack.worklog.log import WorkLog

        return WorkLog(self.ledger, self.stash, self.profile)

    @property
    def account(self) -> str:
        """The handle of the budget account in force; empty when calls are not debited."""
        if self._own_account and not self._account:
            with self._opening:
                self._account = self._account or self.ledger.open().handle
        return self._account

    @cached_property
    def workspace(self) -> "Workspace":
        from haversack.workspace.root import open_workspace

        return open_workspace(self.config.workspace, self.directory)

    @cached_property
    def profile(self) -> Profile:
        return profile_named(self.config.tokens.profile)

    def close(self) -> None:
        """Close what was opened."""
        if "background" in self.__dict__:
            self.background.close()
        if "database" in self.__dict__:
            self.database.close()
