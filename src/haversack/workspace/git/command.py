"""Git, asked safely: no hooks, no pager, no programs named in a repository's configuration, no prompts, no locks."""

import os
import re
from collections.abc import Iterator

from haversack.errors import InvalidArgument, NotFound, OutsideRoot, ToolFailed
from haversack.patterns import pattern
from haversack.repositories import git_text, git_top
from haversack.values import record
from haversack.workspace.git.trust import outside_reason
from haversack.workspace.programs import Running, clean_environment, find_program, records
from haversack.workspace.root import Place, Workspace, inside, shown

_SAFE_SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.quotePath=false",
    "core.untrackedCache=keep",
    "color.ui=false",
    "log.showSignature=false",
    "submodule.recurse=false",
    "diff.suppressBlankEmpty=false",
    f"diff.orderFile={os.devnull}",
    "blame.ignoreRevsFile=",
)
_BRANCH = pattern(r"ref: refs/heads(?:/\w[\w.-]*)+", re.ASCII)
_HASH = pattern(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FILTER_KEYS = ("clean", "smudge", "process", "required")


@record
class Repository:
    """A git work tree that holds a place of the workspace, or that the workspace lies in."""

    workspace: Workspace
    top: str
    program: str

    def path_of(self, place: Place) -> str:
        """A place's path for git, from the top level; `.` for the top level itself."""
        return os.path.relpath(place.absolute, self.top).replace(os.sep, "/")

    def from_root(self, names: list[bytes]) -> list[bytes]:
        """Paths of git's as paths from the workspace root, in the same order; those outside the root are left out."""
        root = self.workspace.root
        if root == self.top:
            return names
        if inside(root, self.top):
            prefix = os.fsencode(self.top[len(root) :].replace(os.sep, "/").strip("/") + "/")
            return [prefix + name for name in names]
        above = os.fsencode(os.path.relpath(root, self.top).replace(os.sep, "/") + "/")
        return [name[len(above) :] for name in names if name.startswith(above)]

    def shown(self, name: bytes) -> str | None:
        """A path of git's as it is shown, from the workspace root; None when it lies outside."""
        found = self.from_root([name])
        return shown(found[0].decode("utf-8", "surrogateescape")) if found else None

    def start(self, *arguments: str, unfiltered: bool = False) -> Running:
        """A git command under way; `unfiltered` when it may compare the contents of files with the index."""
        environment = clean_environment(
            GIT_OPTIONAL_LOCKS="0",
            GIT_TERMINAL_PROMPT="0",
            GIT_LITERAL_PATHSPECS="1",
            GIT_ALLOW_PROTOCOL="none",
            GIT_NO_LAZY_FETCH="1",
            GIT_PAGER="cat",
            GIT_CEILING_DIRECTORIES=os.path.dirname(self.top),
            # The repository's own core.worktree could name any folder of the machine.
            GIT_WORK_TREE=self.top,
        )
        if unfiltered:
            environment |= self._without_filters()
        command = [self.program, "--no-pager"]
        for setting in _SAFE_SETTINGS:
            command += ["-c", setting]
        return Running([*command, *arguments], cwd=self.top, environment=environment, limits=self.workspace.limits)

    def blocks(self, *arguments: str, unfiltered: bool = False) -> Iterator[bytes]:
        """The output of a git command, in blocks; its failure is an error that repeats git's reason."""
        with self.start(*arguments, unfiltered=unfiltered) as running:
            yield from running.blocks()
            ended = running.ended()
        if ended.code != 0:
            raise failure(self.top, arguments[0], ended.errors)

    def records(self, *arguments: str, unfiltered: bool = False) -> Iterator[bytes]:
        """The output of a git command, split at NUL characters."""
        return records(self.blocks(*arguments, unfiltered=unfiltered))

    def output(self, *arguments: str) -> bytes:
        """The whole output of a git command, for commands with little output."""
        return b"".join(self.blocks(*arguments))

    def _without_filters(self) -> dict[str, str]:
        """Settings that empty the filter programs named by the repository itself, which git would run on contents."""
        with self.start(
            "config", "-z", "--show-scope", "--name-only", "--get-regexp", r"^filter\..*\.[a-z]+$"
        ) as running:
            said = b"".join(running.blocks()).split(b"\0")
            running.ended()
        drivers = {
            os.fsdecode(key).rpartition(".")[0]
            for scope, key in zip(said[::2], said[1::2], strict=False)
            if scope in (b"local", b"worktree")
        }
        settings = [(f"{driver}.{key}", "") for driver in sorted(drivers) for key in _FILTER_KEYS[:3]]
        settings += [(f"{driver}.required", "false") for driver in sorted(drivers)]
        variables = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings):
            variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        return variables


def find_repository(workspace: Workspace, place: Place) -> Repository | None:
    """The nearest repository that holds a place (a submodule before the one around it); None without one, or git.

    One whose files lie outside the root, and which is not this folder's own, is an OutsideRoot error.
    """
    folder = place.absolute if os.path.isdir(place.absolute) else os.path.dirname(place.absolute)
    top = git_top(folder)
    program = find_program("git", outside=workspace.root)
    if not top or not program:
        return None
    if not workspace.allow_outside_git and (reason := outside_reason(workspace.root, top)):
        raise OutsideRoot(
            f"the repository at {top} is not used: {reason}",
            hint="if it is yours, set workspace.allow_outside_git = true",
        )
    return Repository(workspace, top, program)


def require_repository(workspace: Workspace, place: Place) -> Repository:
    """As `find_repository`, but having none is an error."""
    if repository := find_repository(workspace, place):
        return repository
    if not find_program("git", outside=workspace.root):
        raise ToolFailed("git is not installed", hint="project_files, search_content and read_file work without it")
    raise NotFound(
        f"{place.absolute} is not in a git repository",
        hint="project_files, search_content and read_file work without git",
    )


def failure(top: str, command: str, errors: str) -> ToolFailed:
    """The error for a failed git command, with a hint for the most common causes."""
    if "dubious ownership" in errors:
        return ToolFailed(
            f"git refuses to read {top}: it belongs to another user",
            hint=f"if you trust it, run: git config --global --add safe.directory '{top}'",
        )
    reason = errors.removeprefix("fatal: ").splitlines()
    return ToolFailed(f"git {command} failed: {reason[0] if reason else 'no reason given'}")


def resolve_commit(repository: Repository, name: str) -> str | None:
    """The full hash of the commit a ref names; None for `HEAD` before the first commit."""
    odd = any(character <= " " or character == "\x7f" or "\ud800" <= character <= "\udfff" for character in name)
    if not name or name.startswith("-") or odd:
        raise InvalidArgument(f"{name!r} cannot be the name of a commit", hint="give a branch, tag or hash")
    if name == "HEAD" and (written := _written_head(repository.top)):
        return written
    with repository.start("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}") as running:
        said = b"".join(running.blocks())
        ended = running.ended()
    if ended.code == 0:
        return said.decode("ascii").strip()
    if ended.errors:
        raise failure(repository.top, "rev-parse", ended.errors)
    if name == "HEAD":
        return None
    raise NotFound(f"no commit {name!r}", hint="vcs_log lists commits; branches and tags work too")


def _written_head(top: str) -> str | None:
    """The hash that `HEAD` stands for where the repository's files say it plainly; None where git has to be asked."""
    folder = os.path.join(top, ".git")
    named = git_text(os.path.join(folder, "HEAD")).partition("\n")[0]
    if _BRANCH.fullmatch(named):
        named = git_text(os.path.join(folder, named.removeprefix("ref: "))).partition("\n")[0]
    return named if _HASH.fullmatch(named) else None
