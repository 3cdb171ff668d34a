"""Which project a folder belongs to, read from git's own files: starting a process would slow every start."""

import os
import re
import unicodedata

from haversack.patterns import pattern
from haversack.repositories import common_directory, folders_above, git_directory, git_text, is_git_directory

_NAMELESS = "root"

_SECTION = pattern(r'\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = pattern(r"\s*([A-Za-z][\w-]*)\s*=\s*(.*)")
_ESCAPE = pattern(r"\\(.)")
_SCHEME = pattern(r"[A-Za-z][\w+.-]*://")
_DRIVE = pattern(r"[A-Za-z]:[\\/]")
_BLANKS = pattern(r"[\s\x00-\x1f\x7f]+")


def detect_project(directory: str, *, explicit: str = "") -> str:
    """The project of a folder: the explicit name, the git remote's, the repository's, or the folder's own.

    All worktrees of a repository are one project; a submodule is its own. Files that cannot be read or
    understood are passed over.
    """
    if chosen := _tidy(explicit):
        return chosen
    folder = _absolute(directory.replace("\0", "") or os.curdir)
    repository = _find_repository(folder)
    if repository is None:
        return _tidy(os.path.basename(folder)) or _NAMELESS
    top, git_directory = repository
    common = common_directory(git_directory)
    return _remote_name(common) or _repository_name(top, git_directory, common) or _NAMELESS


def project_key(name: str) -> str:
    """What two project names are compared by: case, width and surrounding space make no difference."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def repository_name(url: str) -> str:
    """The repository's name in a remote's URL, in any of the forms git accepts; empty when it has none."""
    path = url.strip()
    if scheme := _SCHEME.match(path):
        _, _, path = path[scheme.end() :].partition("/")
    elif not _DRIVE.match(path):
        host, colon, rest = path.partition(":")
        path = rest if colon and "/" not in host else path
    # A web address may carry a query; a folder's name may hold the same signs.
    if url.lstrip()[:4].lower() == "http":
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    name = re.split(r"[\\/:]", path.rstrip("/\\"))[-1]
    name = name.removesuffix(".git")
    if "%" in name:
        from urllib.parse import unquote

        name = unquote(name)
    return "" if name in {".", ".."} else _tidy(name)


def _absolute(directory: str) -> str:
    try:
        return os.path.abspath(directory)
    except OSError:
        # The working directory is gone; a relative path has nothing to stand on.
        return directory


def _find_repository(folder: str) -> tuple[str, str] | None:
    """The nearest folder upwards that git works in, and its git directory; a bare repository is both."""
    for each in folders_above(folder):
        if directory := git_directory(each):
            return each, directory
        if is_git_directory(each) and os.path.isdir(os.path.join(each, "objects")):
            return each, each
    return None


def _remote_name(common: str) -> str:
    remotes = _remote_urls(git_text(os.path.join(common, "config")))
    preferred = [remotes.get("origin", ""), remotes.get("upstream", ""), *remotes.values()]
    return next((name for url in preferred if (name := repository_name(url))), "")


def _repository_name(top: str, git_directory: str, common: str) -> str:
    folder, last = os.path.split(common)
    if last in {".git", ".bare"}:
        return _tidy(os.path.basename(folder))
    if common == git_directory and top != common:
        # A submodule: git keeps its directory under a name of its own, far from the folder people see.
        return _tidy(os.path.basename(top))
    return _tidy(last.removesuffix(".git"))


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
