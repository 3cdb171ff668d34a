"""Owner's operations on a store: create the schema, upgrade it, and manage its members."""

import os
from typing import TypeAlias

import psycopg

from haversack.errors import Conflict, NotFound, StoreMisconfigured, StoreTooNew
from haversack.store.postgres.address import Address, parse_address
from haversack.store.postgres.failures import translated
from haversack.store.postgres.schema import MIGRATIONS, VERSION
from haversack.store.postgres.security import GRANTS
from haversack.values import record

LEAST_SERVER = 150_000
"""The first version with views that have the rights of the role that queries them."""

Connection: TypeAlias = psycopg.Connection


@record
class Upgraded:
    """The version a schema had (0 for none) and has, and the role that may work with it."""

    before: int
    now: int
    role: str


def upgrade(url: str, role: str = "") -> Upgraded:
    """Bring a schema to this program's version in one transaction; the URL's login becomes or is its owner.

    `role` is the login that the program uses; without one `NAME_app` for an owner `NAME_owner`, else the owner.
    """
    address = parse_address(url)
    with translated(address, VERSION), psycopg.connect(address.url, connect_timeout=5) as connection:
        _check(connection, address)
        owner = connection.info.user
        chosen = role or (owner.removesuffix("_owner") + "_app" if owner.endswith("_owner") else owner)
        if not _value(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", chosen):
            raise NotFound(f"there is no role {chosen}", hint=f"run CREATE ROLE {chosen} LOGIN NOBYPASSRLS, then again")
        # The lock that writers take, so that nobody writes meanwhile.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"haversack.{address.schema}",))
        before = _version(connection, address)
        if before > VERSION:
            raise StoreTooNew(
                f"the store {address.shown()} has schema version {before}, this program knows {VERSION}",
                hint="upgrade haversack; the store was not touched",
            )
        _migrate(connection, address, before)
        connection.execute(GRANTS.format(schema=address.schema, role=_quoted(chosen)))
        if before == 0:
            add_member_in(connection, chosen, chosen)
        connection.execute("UPDATE members SET speaks_for_others = true WHERE subject = %s", (chosen,))
    return Upgraded(before, VERSION, chosen)


def _check(connection: Connection, address: Address) -> None:
    if connection.info.server_version < LEAST_SERVER:
        raise StoreMisconfigured(
            f"the server of {address.shown()} is PostgreSQL {connection.info.server_version // 10_000}",
            hint="use PostgreSQL 15 or later",
        )


def _version(connection: Connection, address: Address) -> int:
    """The version of the schema, 0 where it is empty or has to be made; anybody else's is refused."""
    _check_rights(connection, address)
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {address.schema}")
    connection.execute(f"SET LOCAL search_path TO {address.schema}")
    if not _value(connection, "SELECT to_regprocedure(%s)", f"{address.schema}.enter(text, integer)"):
        if _value(connection, "SELECT 1 FROM pg_class WHERE relnamespace = %s::regnamespace LIMIT 1", address.schema):
            raise Conflict(
                f"the schema {address.schema} holds tables of another program",
                hint="name another schema in the URL; nothing was changed",
            )
        return 0
    return int(str(_value(connection, "SELECT value FROM meta WHERE name = %s", "version")))


def _check_rights(connection: Connection, address: Address) -> None:
    login, database = connection.info.user, connection.info.dbname
    owner = _value(connection, "SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %s", address.schema)
    if owner is None and not _value(connection, "SELECT has_database_privilege(%s, 'CREATE')", database):
        raise StoreMisconfigured(
            f"a right is missing: {login} may make no schema in the database {database}",
            hint=f"run GRANT CREATE ON DATABASE {database} TO {login}, or name the owner's login in the URL",
        )
    if owner is not None and not _value(connection, "SELECT pg_has_role(%s, 'USAGE')", owner):
        raise StoreMisconfigured(
            f"a right is missing: the schema {address.schema} belongs to {owner}, not to {login}",
            hint=f"name the login {owner} in the URL",
        )


def _migrate(connection: Connection, address: Address, before: int) -> None:
    for number in range(before, VERSION):
        # Only the functions that every transaction begins with name the schema; elsewhere braces are SQL's.
        text = MIGRATIONS[number].replace("{schema}", address.schema).replace("{{}}", "{}")
        connection.execute(text)
    if before == 0:
        connection.execute(
            "INSERT INTO meta VALUES ('salt', %s), ('version', %s)", (os.urandom(16).hex(), str(VERSION))
        )
    else:
        connection.execute("UPDATE meta SET value = %s WHERE name = 'version'", (str(VERSION),))


def add_member(url: str, subject: str, name: str = "", *, realm: str = "team", may_write: bool = True) -> None:
    """Add a member with a realm of their own, and give access to another realm; safe to repeat."""
    address = parse_address(url)
    with translated(address, VERSION), psycopg.connect(address.url, connect_timeout=5) as connection:
        connection.execute(f"SET LOCAL search_path TO {address.schema}")
        add_member_in(connection, subject, name or subject, realm=realm, may_write=may_write)


def add_member_in(
    connection: Connection, subject: str, name: str, *, realm: str = "team", may_write: bool = True
) -> None:
    """The same inside a transaction of the owner."""
    member = _value(
        connection,
        "INSERT INTO members (subject, name) VALUES (%s, %s)"
        " ON CONFLICT (subject) DO UPDATE SET name = excluded.name RETURNING member",
        subject,
        name,
    )
    own = _value(
        connection,
        "INSERT INTO realms (realm, name, member) SELECT max(realm) + 1, 'member ' || %s, %s FROM realms"
        " ON CONFLICT (member) DO UPDATE SET name = excluded.name RETURNING realm",
        str(member),
        member,
    )
    chosen = _value(connection, "SELECT realm FROM realms WHERE name = %s", realm)
    if chosen is None:
        raise NotFound(f"there is no realm {realm!r}", hint="make it with `haversack store realm NAME --url URL`")
    for number, right in ((own, True), (chosen, may_write)):
        connection.execute(
            "INSERT INTO membership VALUES (%s, %s, %s)"
            " ON CONFLICT (member, realm) DO UPDATE SET may_write = excluded.may_write",
            (member, number, right),
        )


def add_realm(url: str, name: str, namespace: str = "") -> None:
    """Create a realm; only its members see what is saved in its namespace."""
    address = parse_address(url)
    with translated(address, VERSION), psycopg.connect(address.url, connect_timeout=5) as connection:
        connection.execute(f"SET LOCAL search_path TO {address.schema}")
        connection.execute(
            "INSERT INTO realms (realm, name, namespace) SELECT max(realm) + 1, %s, %s FROM realms"
            " ON CONFLICT (name) DO NOTHING",
            (name, namespace or None),
        )


def remove_member(url: str, subject: str, realm: str = "team") -> None:
    """Remove a member's right to a realm; what they wrote there stays."""
    address = parse_address(url)
    with translated(address, VERSION), psycopg.connect(address.url, connect_timeout=5) as connection:
        connection.execute(f"SET LOCAL search_path TO {address.schema}")
        connection.execute(
            "DELETE FROM membership USING members m, realms r WHERE m.member = membership.member"
            " AND r.realm = membership.realm AND m.subject = %s AND r.name = %s",
            (subject, realm),
        )


def _value(connection: Connection, sql: str, *values: object) -> object:
    row = connection.execute(sql, values).fetchone()
    return row[0] if row else None


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))
