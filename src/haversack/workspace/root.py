"""The workspace root, and the resolution of a caller's paths, which cannot leave it."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from haversack.config import WorkspaceSettings
from haversack.errors import ConfigError, InvalidArgument, NotFound, OutsideRoot, SecretWithheld
from haversack.files import LinkRefused, NotRegular, Tree, special_kind
from haversack.patterns import pattern
from haversack.repositories import git_top
from haversack.values import record
from haversack.workspace.files.secret_names import looks_secret
from haversack.workspace.programs import Limits

# Control characters would break a reply's lines; undecodable bytes (as lone surrogates) could not be sent at all.
_UNSHOWABLE = pattern("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
PLAIN = bytes([0, *range(32, 127)])
"""Bytes of names that are shown as they are, and the NUL that stands between names."""
_SHOWN_BYTE = pattern(r"\\x([0-9a-f]{2})")
_ENGINES = ("auto", "rg", "python")


@record
class Workspace:
    """A folder that may be looked into, and how."""

    root: str
    allow_secrets: bool = False
    engine: str = "auto"
    allow_outside_git: bool = False
    limits: Limits = Limits()


@record
class Place:
    """A path given by the caller, with its links resolved.

    `relative` is the path from the root as it is shown (`""` is the root); `raw` is the same path as the file system
    has it, with forward slashes, for `Tree`.
    """

    absolute: str
    relative: str
    raw: str


def open_workspace(settings: WorkspaceSettings, folder: str) -> Workspace:
    """The workspace of a working folder: the root set, else the git top level, else the folder itself."""
    if settings.engine not in _ENGINES:
        raise ConfigError(f"workspace.engine is {settings.engine!r}", hint=f"use one of {', '.join(_ENGINES)}")
    chosen = os.path.realpath(os.path.expanduser(settings.root) if settings.root else folder)
    if not os.path.isdir(chosen):
        raise ConfigError(f"the workspace root {chosen} is not a folder", hint="set workspace.root to one")
    root = chosen if settings.root else git_top(chosen) or chosen
    limits = Limits(seconds=float(settings.timeout_seconds or 30))
    return Workspace(root, settings.allow_secrets, settings.engine, settings.allow_outside_git, limits)


def locate(workspace: Workspace, path: str, *, must_exist: bool = True) -> Place:
    """The place of `path`; a path that leaves the root or does not exist is an error."""
    try:
        usable = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise InvalidArgument(f"the path {path!r} holds a character no file name can have")
    real = _resolved(workspace, path)
    if not os.path.lexists(real) and (other := _from_shown(path)) != path:
        real = _resolved(workspace, other)
    try:
        os.stat(real)
    except OSError as error:
        if not must_exist and isinstance(error, FileNotFoundError | NotADirectoryError):
            return _place(workspace, real)
        if os.path.islink(real):
            raise NotFound(f"{path!r} is a link that leads nowhere", hint="project_files lists what is there") from None
        if isinstance(error, PermissionError):
            raise NotFound(f"{path!r} cannot be reached: {error.strerror}") from None
        raise NotFound(f"no file or folder {path!r}", hint="project_files lists what is there") from None
    return _place(workspace, real)


def _place(workspace: Workspace, real: str) -> Place:
    raw = real[len(workspace.root) :].replace(os.sep, "/").strip("/")
    return Place(real, shown(raw), raw)


def locate_readable(workspace: Workspace, path: str, *, must_exist: bool = True) -> Place:
    """As `locate`, but a file that looks like a secret is refused, also behind a link."""
    place = locate(workspace, path, must_exist=must_exist)
    if not workspace.allow_secrets and (looks_secret(place.relative) or looks_secret(shown(os.path.normpath(path)))):
        raise SecretWithheld(
            f"{path!r} looks like a secret and is withheld",
            hint="the user can allow it with workspace.allow_secrets = true",
        )
    return place


@contextmanager
def opened(workspace: Workspace, place: Place, name: str) -> Iterator[int]:
    """A descriptor of the regular file at a place; `name` is what messages call it."""
    try:
        with Tree(workspace.root) as tree:
            descriptor = tree.open(place.raw)
    except LinkRefused:
        # `locate` resolved all links, so this one was put there since.
        raise OutsideRoot(f"{name!r} became a link while it was being opened", hint="ask again") from None
    except NotRegular as error:
        if stat.S_ISDIR(error.mode):
            raise InvalidArgument(f"{name!r} is a folder", hint="project_files lists its files") from None
        raise InvalidArgument(f"{name!r} is {special_kind(error.mode)}, not a file") from None
    except PermissionError:
        raise NotFound(f"{name!r} may not be read", hint="its permissions refuse it to this user") from None
    except OSError as error:
        raise NotFound(f"{name!r} cannot be opened: {error.strerror}") from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def shown(path: str) -> str:
    r"""A path that can be printed on one line: other bytes are written as `\xNN`, which `locate` reads back."""
    if path.isascii() and path.isprintable():
        return path
    return _UNSHOWABLE.sub(
        lambda found: "".join(f"\\x{byte:02x}" for byte in found[0].encode("utf-8", "surrogateescape")), path
    )


def _from_shown(path: str) -> str:
    raw = _SHOWN_BYTE.sub(lambda found: bytes([int(found[1], 16)]).decode("utf-8", "surrogateescape"), path)
    return raw.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def _resolved(workspace: Workspace, path: str) -> str:
    real = os.path.realpath(os.path.join(workspace.root, path))
    if not inside(workspace.root, real):
        raise OutsideRoot(
            f"{path!r} leads outside the workspace root {workspace.root}", hint="give a path inside the root"
        )
    return real


def inside(root: str, absolute: str) -> bool:
    """Whether a resolved path is the root or lies under it."""
    return absolute == root or absolute.startswith(os.path.join(root, ""))
