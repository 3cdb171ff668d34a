"""The server's errors as the errors a reader can act on."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from haversack.errors import (
    Conflict,
    Forbidden,
    HaversackError,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreMisconfigured,
    StoreReadOnly,
    StoreTooNew,
    StoreUnavailable,
)
from haversack.store.engine import ConstraintBroken
from haversack.store.postgres.address import Address

_BUSY = {"55P03", "57014", "53300", "40001", "40P01", "53400"}
_AGAIN = {"40001", "40P01"}
"""A deadlock, or a replica that could not keep what was being read."""
_FULL = {"53100", "53200"}
_NO_SCHEMA = {"3F000", "42P01", "42883"}
OTHER_VERSION, NOT_A_MEMBER, SPEAKS_FOR_ITSELF = "HV001", "HV002", "HV003"
UNFINISHED_COPY = "HV004"
_OURS = "HV"


@contextmanager
def translated(address: Address, version: int) -> Iterator[None]:
    """Every error of the driver in the block as one of ours."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error, address, version) from None


def translate(error: psycopg.Error, address: Address, version: int, *, is_lost: bool = False) -> HaversackError:
    """One error of the driver as one of ours; `is_lost` where a connection ended in the middle of its work."""
    found = _translated(error, address, version)
    if isinstance(found, StoreError):
        found.is_passing = is_lost or error.sqlstate in _AGAIN
    return found


def _translated(error: psycopg.Error, address: Address, version: int) -> HaversackError:
    state, said = error.sqlstate or "", (error.diag.message_primary or str(error)).strip()
    where = f"the store {address.shown()}"
    if state.startswith(_OURS):
        return _raised_by_us(state, said, where, version)
    if state in _BUSY:
        return StoreBusy(f"{where} is busy ({said})", hint="try again in a moment")
    if state in _FULL:
        return StoreFull(f"{where} has no room left ({said})", hint="free some space on the server; nothing was lost")
    if state == "25006":
        return StoreReadOnly(f"{where} cannot be written ({said})", hint="the server is a replica, or read only")
    if state == "42501" and "row-level security" in said:
        hint = "save with another scope or namespace, or ask the owner of the store for the right to write there"
        return Forbidden(f"you may not write there in {where}", hint=hint)
    if state == "42501":
        hint = "the owner of the store runs `haversack store upgrade --url URL`, which grants what the program needs"
        return StoreMisconfigured(f"a right is missing in {where} ({said})", hint=hint)
    if state in _NO_SCHEMA or state == "3D000":
        hint = "the owner makes it with `haversack store upgrade --url URL`; check store.url"
        return StoreUnavailable(f"{where} is not there ({said})", hint=hint)
    if isinstance(error, psycopg.IntegrityError):
        return ConstraintBroken(said)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        hint = "check store.url (or HAVERSACK_STORE_URL) and that the server runs; nothing else was tried"
        return StoreUnavailable(f"{where} cannot be reached ({said.splitlines()[0] if said else 'lost'})", hint=hint)
    return StoreError(f"{where} refused a statement ({state}: {said})", hint="run `haversack doctor`")


def _raised_by_us(state: str, said: str, where: str, version: int) -> HaversackError:
    """An error raised by a function of the store's schema, as one of ours."""
    if state == OTHER_VERSION:
        return _other_version(where, int(said), version)
    if state == NOT_A_MEMBER:
        hint = f"the owner of the store runs `haversack store member {said} --url URL`, or set store.member"
        return Forbidden(f"{said!r} is not a member of {where}", hint=hint)
    if state == SPEAKS_FOR_ITSELF:
        hint = "leave store.member empty, or use the login that the owner of the store named with --role"
        return Forbidden(f"the login {said} may act only as itself in {where}", hint=hint)
    if state == UNFINISHED_COPY:
        hint = "run the same `haversack migrate` again: it goes on where it ended"
        return StoreBusy(f"{where} holds a copy of another store that is not finished", hint=hint)
    holds = "is in use" if said == "in use" else "holds an unfinished copy of another store"
    return Conflict(f"{where} {holds}", hint="name an empty store; nothing was changed")


def _other_version(where: str, found: int, version: int) -> HaversackError:
    if found > version:
        return StoreTooNew(
            f"{where} has schema version {found}, this program knows {version}",
            hint="upgrade haversack; the store was not touched",
        )
    return StoreMisconfigured(
        f"{where} has schema version {found}, this program needs {version}",
        hint="the owner of the store runs `haversack store upgrade --url URL`",
    )


def lost_at_commit(address: Address) -> StoreUnavailable:
    """The connection ended while a transaction was being committed."""
    return StoreUnavailable(
        f"the store {address.shown()} was lost at the end of a save: it is not known whether it was saved",
        hint="saving again is harmless: a duplicate is noticed",
    )


def in_use(address: Address) -> Conflict:
    """A store that something was saved in, where an empty one is needed."""
    return Conflict(f"the store {address.shown()} is in use", hint="name an empty store; nothing was changed")
