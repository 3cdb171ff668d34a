"""Which project a folder belongs to, read from git's own files: starting a process would slow every start."""

import os
import re
import unicodedata
from contextlib import suppress

from haversack.patterns import pattern
from haversack.repositories import common_directory, folders_above, git_directory, git_text, is_git_directory

_NAMELESS = "root"
_LONGEST = 200
"""Characters a project's name may have."""

_SECTION = pattern(r'\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = pattern(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_ESCAPE = pattern(r"\\(.)")
_SCHEME = pattern(r"[A-Za-z][\w+.-]*://")
_DRIVE = pattern(r"[A-Za-z]:[\\/]")
_BLANKS = pattern(r"[\s\x00-\x1f\x7f]+")


def detect_project(directory: str, *, explicit: str = "") -> str:
    """The identity of a folder's project: the explicit name, `host/owner/repository` of the remote, or a path.

    All clones and worktrees of a repository are one project, however its remote is written; a submodule is its own.
    A repository without a remote is its top folder, any other folder is itself. Files that cannot be read or
    understood are passed over.
    """
    if chosen := _tidy(explicit):
        return chosen
    folder = _absolute(directory.replace("\0", "") or os.curdir)
    repository = _find_repository(folder)
    if repository is None:
        return _path_identity(folder)
    top, own = repository
    common = common_directory(own)
    return _remote(common, top) or _path_identity(_home_of(top, own, common))


def project_key(name: str) -> str:
    """The key of a project name, without differences of case, width and surrounding space."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def short_name(name: str) -> str:
    """The last part of a project's identity, which people know it by."""
    return name.rstrip("/").rpartition("/")[2].strip() or name


def remote_identity(url: str, top: str = "") -> str:
    """`host/owner/repository` of a remote's URL in any of the forms git accepts; empty when it names nothing.

    User, port and protocol make no difference. A remote that is a folder is known by its path, from `top` on.
    """
    address = url.strip()
    host, path = "", address
    if scheme := _SCHEME.match(address):
        host, _, path = address[scheme.end() :].partition("/")
        host = "" if scheme[0].lower() == "file://" else host
    elif not _DRIVE.match(address):
        before, colon, after = address.partition(":")
        if colon and "/" not in before:
            host, path = before, after
    if scheme and scheme[0][:4].lower() == "http":
        # A web address may carry a query; a folder's name may hold the same signs.
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    if "%" in path and scheme:
        from urllib.parse import unquote

        path = unquote(path)
    if not host:
        path = f"/{path}" if scheme and not _DRIVE.match(path) else path
        bare = path.rstrip("/\\").removesuffix(".git").rstrip("/\\")
        if _DRIVE.match(bare):
            return _bounded(_tidy(bare.replace("\\", "/")))
        return _path_identity(os.path.join(top, bare)) if bare and bare not in {".", ".."} else ""
    host = host.rpartition("@")[2].partition(":")[0].lower()
    parts = [_tidy(part) for part in re.split(r"[\\/]", path) if part not in {"", ".", ".."}]
    if not parts:
        return ""
    parts[-1] = parts[-1].removesuffix(".git") or parts[-1]
    return _bounded("/".join([host, *filter(None, parts)]))


def _path_identity(path: str) -> str:
    """A folder as a project's identity: its real path, with slashes on every system."""
    with suppress(OSError):  # a path that cannot be resolved names its folder all the same
        path = os.path.realpath(path.replace("\0", ""))
    return _bounded(_tidy(path.replace("\\", "/") if os.sep == "\\" else path)) or _NAMELESS


def _bounded(identity: str) -> str:
    """The identity itself, or its last part and a digest of all of it where it is too long for a name."""
    if len(identity) <= _LONGEST:
        return identity
    from haversack.digests import blake2b

    return f"{blake2b(identity.encode(), digest_size=8).hexdigest()}/{short_name(identity)[-100:]}"


def _absolute(directory: str) -> str:
    try:
        return os.path.abspath(directory)
    except OSError:
        # The working directory is gone, so a relative path cannot be resolved.
        return directory


def _find_repository(folder: str) -> tuple[str, str] | None:
    """The nearest folder upwards that git works in, and its git directory."""
    for each in folders_above(folder):
        if found := git_directory(each):
            return each, found
        if is_git_directory(each) and os.path.isdir(os.path.join(each, "objects")):
            return each, each
    return None


def _remote(common: str, top: str) -> str:
    remotes = _remote_urls(git_text(os.path.join(common, "config")))
    preferred = [remotes.get("origin", ""), remotes.get("upstream", ""), *remotes.values()]
    return next((identity for url in preferred if url and (identity := remote_identity(url, top))), "")


def _home_of(top: str, own: str, common: str) -> str:
    """The folder people know a repository without a remote by, which all its worktrees share."""
    folder, last = os.path.split(common)
    if last in {".git", ".bare"}:
        return folder
    if common == own and top != common:
        # A submodule: git keeps its directory under a name of its own, far from the folder people see.
        return top
    return common.removesuffix(".git")


def _remote_urls(config: str) -> dict[str, str]:
    """The first URL of each remote, in the order of the file."""
    urls: dict[str, str] = {}
    remote = ""
    for line in config.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        if section := _SECTION.match(line):
            remote = _remote_of(section[1], section[2])
            line = line[section.end() :]
        setting = _SETTING.match(line) if remote else None
        if setting and setting[1].lower() == "url":
            urls.setdefault(remote, _value(setting[2]))
    return urls


def _remote_of(section: str, subsection: str | None) -> str:
    if subsection is None:
        section, _, subsection = section.partition(".")
    return _ESCAPE.sub(r"\1", subsection) if section.lower() == "remote" else ""


def _value(written: str) -> str:
    """A setting's value without its quotes, escapes and trailing comment."""
    value: list[str] = []
    quoted = escaped = False
    for character in written:
        if escaped:
            value.append(character)
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            value.append(character)
    return "".join(value).strip()


def _tidy(name: str) -> str:
    # A folder's name need not be valid Unicode; a project's has to be, or it could not be stored.
    return _BLANKS.sub(" ", name.encode("utf-8", "replace").decode("utf-8")).strip()
