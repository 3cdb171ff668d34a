"""The team's store on a server: making it, letting people in, and moving memories there and back."""

import os
import time
from importlib.util import find_spec
from typing import Annotated

from haversack.app import Caller
from haversack.config import CONFIG_FILE, write_setting
from haversack.errors import ConfigError, NotFound
from haversack.store.engine import Engine
from haversack.store.postgres.address import is_server
from haversack.tools.declaration import Command, tool
from haversack.tools.road.outcomes import Done, Outcome

Url = Annotated[str, "The owner's address: postgresql://OWNER@HOST/DATABASE?schema=NAME"]


@tool(
    Command(
        "store upgrade", options=(("url", "--url"),), examples=("haversack store upgrade --url postgresql://o@db/team",)
    ),
    group="upkeep",
    writes=True,
    idempotent=True,
    terminal_only=True,
)
def upgrade_store(
    caller: Caller, *, url: Url, role: Annotated[str, "The login the program uses; NAME_app for NAME_owner"] = ""
) -> Outcome:
    """Make a team's store on PostgreSQL, or bring it to this version; only its owner can."""
    _driver()
    from haversack.store.postgres import upgrade

    done = upgrade.upgrade(url, role)
    text = f"schema version {done.now} (it was {done.before or 'not there'}); {done.role} may use it"
    return Done(text, {"version": done.now, "before": done.before, "role": done.role}, brief="upgraded the store")


@tool(
    Command("store member", ("subject",), examples=("haversack store member alice --url postgresql://o@db/team",)),
    group="upkeep",
    writes=True,
    idempotent=True,
    terminal_only=True,
)
def add_store_member(
    caller: Caller,
    *,
    subject: Annotated[str, "Who: a database login, or the subject of a token"],
    url: Url,
    realm: Annotated[str, "What they may see beside their own: a realm's name"] = "team",
    read_only: Annotated[bool, "Let them see that realm, but not write to it"] = False,
    remove: Annotated[bool, "Take the right to that realm away instead"] = False,
) -> Outcome:
    """Let somebody into a team's store, or change what they may see and write."""
    _driver()
    from haversack.store.postgres import upgrade

    if remove:
        upgrade.remove_member(url, subject, realm)
        return Done(f"{subject} no longer sees {realm}", {"subject": subject, "realm": realm})
    upgrade.add_member(url, subject, realm=realm, may_write=not read_only)
    right = "may read" if read_only else "may read and write"
    return Done(f"{subject} {right} {realm}", {"subject": subject, "realm": realm, "may_write": not read_only})


@tool(
    Command("store realm", ("name",), examples=("haversack store realm leads --namespace hiring --url URL",)),
    group="upkeep",
    writes=True,
    idempotent=True,
    terminal_only=True,
)
def add_store_realm(
    caller: Caller,
    *,
    name: Annotated[str, "The realm's name"],
    url: Url,
    namespace: Annotated[str, "What is saved in this namespace is then the realm's"] = "",
) -> Outcome:
    """Make a realm of a team's store: memories that only its members see."""
    _driver()
    from haversack.store.postgres import upgrade

    upgrade.add_realm(url, name, namespace)
    return Done(f"realm {name} is there", {"realm": name, "namespace": namespace})


@tool(
    Command(
        "migrate",
        options=(("source", "--from", "--source"), ("target", "--to", "--target")),
        examples=(
            "haversack migrate --to postgresql://app@db/team --dry-run",
            "haversack migrate --from URL --to FILE",
        ),
    ),
    group="upkeep",
    writes=True,
    terminal_only=True,
)
def migrate_store(
    caller: Caller,
    *,
    target: Annotated[str, "An empty store: a postgresql:// address, or a file"],
    source: Annotated[str, "The store to copy; without it the one in use"] = "",
    dry_run: Annotated[bool, "Copy and check, then undo it"] = False,
    switch: Annotated[bool, "Use the new store from now on: write it into config.toml"] = False,
) -> Outcome:
    """Copy a store to another place, compared row by row before it is used; cut off, run it again and it goes on."""
    from haversack.memory.transfer import migration

    began = time.monotonic()
    config = caller.config
    held = _engine(caller, source or config.store.url or config.store_path, must_exist=True)
    new = _engine(caller, target, must_exist=False)
    try:
        done = migration.migrate(held, new, dry_run=dry_run, step=caller.console.progress)
    finally:
        held.close()
        new.close()
    seconds = time.monotonic() - began
    rows = ", ".join(f"{count:,} {name}" for name, count in done.rows.items() if count) or "nothing"
    text = f"copied {rows} in {seconds:.1f} s; every row and {done.searches} searches are the same"
    if done.resumed:
        text += f"; {done.resumed:,} rows were there from an earlier try"
    if dry_run:
        return Done(f"{text}; a dry run, so it was undone", {"rows": done.rows, "searches": done.searches})
    if switch:
        write_setting(config.home, "store", "url", target if is_server(target) else "")
        text += f"\n{os.path.join(config.home, CONFIG_FILE)} now names the new store"
    return Done(text, {"rows": done.rows, "searches": done.searches, "resumed": done.resumed, "switched": switch})


def _engine(caller: Caller, place: str, *, must_exist: bool) -> Engine:
    if is_server(place):
        from haversack.store.postgres import open_store

        return open_store(place, member=caller.config.store.member)
    from haversack.store.sqlite.engine import Database

    if "\0" in place:
        raise NotFound("a file's name cannot hold the character U+0000", hint="name another file")
    path = os.path.join(caller.directory, os.path.expanduser(place))
    if must_exist and not os.path.exists(path):
        raise NotFound(f"there is no store {path}", hint="name a file or a postgresql:// address with --from")
    return Database(path)


def _driver() -> None:
    if find_spec("psycopg") is None:
        raise ConfigError("PostgreSQL's driver is missing", hint="pip install 'haversack[postgres]'")
