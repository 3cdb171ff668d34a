"""The composition root: one `App` for a store, one `Caller` for each connection to it."""

import os
import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from haversack.config import Config, load
from haversack.console import Console
from haversack.memory.room import Memory, microseconds_now
from haversack.store.engine import Engine
from haversack.tokens import Profile, profile_named

if TYPE_CHECKING:
    from haversack.memory.meaning.similarity import Background
    from haversack.store.postgres.engine import PostgresStore
    from haversack.worklog.guesses import Guesses, OwnKeys
    from haversack.worklog.ledger import Ledger
    from haversack.worklog.log import WorkLog
    from haversack.worklog.stash import Stash
    from haversack.workspace.root import Workspace


class App:
    """What all callers of one store share; each part is built when it is first needed.

    `embeds` says whether saved observations get their vectors in the background: a single command ends before a
    model is loaded, and leaves them to `reembed`.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        now: Callable[[], int] = microseconds_now,
        embeds: bool = False,
        busy_milliseconds: int | None = None,
    ) -> None:
        self.config = config or load()
        self.now = now
        self._embeds = embeds
        self._busy_milliseconds = busy_milliseconds

    @cached_property
    def database(self) -> Engine:
        if self.config.store.url:
            return self._server_store
        from haversack.store.sqlite.engine import Database

        return Database(self.config.store_path, busy_milliseconds=self._busy_milliseconds)

    @cached_property
    def _server_store(self) -> "PostgresStore":
        from haversack.store.postgres import open_store

        store = self.config.store
        # A single command does not know what the one before it wrote, which a replica may not have yet.
        replica = store.read_url if self._embeds else ""
        most = self.config.server.workers + 2
        return open_store(store.url, member=store.member, connections=most, read_url=replica)

    def database_of(self, member: str) -> Engine:
        """The store as a member sees it; a file has no members, and an empty name is the member of the settings."""
        return self._server_store.as_member(member) if member and self.config.store.url else self.database

    @cached_property
    def guesses(self) -> "Guesses":
        from haversack.worklog.guesses import Guesses

        return Guesses()

    @cached_property
    def background(self) -> "Background":
        from haversack.memory.meaning.similarity import Background

        return Background()

    def memory_at(self, directory: str, database: Engine | None = None) -> Memory:
        """The memory as seen from a directory, by a member where their view of the store is given."""
        seen = database or self.database

        def saved(identifier: int) -> None:
            if self._embeds and self.config.memory.semantic != "off":
                self.background.note(memory, identifier)

        memory = Memory(seen, self.config.memory, directory, self.now, saved)
        return memory

    def caller(
        self,
        *,
        directory: str | None = None,
        own_account: bool = False,
        account: str | None = None,
        profile: str = "",
        namespace: str | None = None,
        keys: "OwnKeys | None" = None,
        member: str = "",
        owner: str = "",
    ) -> "Caller":
        """A caller with the values of the settings, except for those given here."""
        return Caller(
            self,
            directory=directory or os.getcwd(),
            own_account=own_account,
            account=self.config.budget.account if account is None else account,
            profile=profile or self.config.tokens.profile,
            namespace=namespace,
            keys=keys,
            member=member,
            owner=owner,
        )

    def close(self) -> None:
        """Close what was opened."""
        if "background" in self.__dict__:
            self.background.close()
        if "database" in self.__dict__:
            self.database.close()


class Caller:
    """Who asks: one connection's directory, workspace, budget account, token profile and namespace.

    A connection that lasts has an account of its own (`own_account`) unless it was given one; a single command has
    none unless it was given one, so that asking twice gives the same answer. A door with standard streams puts its
    own `console` in place; one that makes a caller for each request gives it the `keys` of those before. In a team's
    store everything is done as `member`. What replies leave out is kept for the `owner`, whom credentials named, and
    for nobody else.
    """

    def __init__(
        self,
        app: App,
        *,
        directory: str,
        own_account: bool,
        account: str,
        profile: str,
        namespace: str | None,
        keys: "OwnKeys | None" = None,
        member: str = "",
        owner: str = "",
    ) -> None:
        self.app = app
        self.directory = directory
        self.namespace = namespace
        self.console = Console()
        self.on_account: Callable[[str], object] | None = None
        """Called with the handle when this caller opens an account of its own."""
        self._own_account = own_account
        self._account = account.strip().lower()
        self._profile_name = profile
        self._keys = keys
        self._member = member
        self._owner = owner
        self._opening = threading.Lock()

    @property
    def config(self) -> Config:
        return self.app.config

    @property
    def now(self) -> Callable[[], int]:
        return self.app.now

    @cached_property
    def database(self) -> Engine:
        return self.app.database_of(self._member)

    @cached_property
    def stash(self) -> "Stash":
        from haversack.worklog.stash import Stash

        return Stash(self.database, self.config.stash, self.now, self.app.guesses, self._keys, self._owner)

    @cached_property
    def ledger(self) -> "Ledger":
        from haversack.worklog.ledger import Ledger

        return Ledger(self.database, self.config.budget, self.now)

    @cached_property
    def memory(self) -> Memory:
        return self.app.memory_at(self.directory, self.database)

    @cached_property
    def log(self) -> "WorkLog":
        from haversack.worklog.log import WorkLog

        return WorkLog(self.ledger, self.stash, self.profile)

    @property
    def account(self) -> str:
        """The handle of the budget account in force; empty when calls are not debited."""
        if self._own_account and not self._account:
            with self._opening:
                if not self._account:
                    self._account = self.ledger.open().handle
                    if self.on_account:
                        self.on_account(self._account)
        return self._account

    @cached_property
    def workspace(self) -> "Workspace":
        from haversack.workspace.root import open_workspace

        return open_workspace(self.config.workspace, self.directory)

    @cached_property
    def profile(self) -> Profile:
        return profile_named(self._profile_name)


def open_caller(
    config: Config | None = None,
    *,
    directory: str | None = None,
    now: Callable[[], int] = microseconds_now,
    own_account: bool = False,
) -> Caller:
    """The only caller of a store in this process, for a command or a program; `caller.app.close()` closes the store."""
    return App(config, now=now, embeds=own_account).caller(directory=directory, own_account=own_account)
