"""The gateway's settings: budgets, modes and views, for all servers and for each."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from haversack.gateway.fitting.views import View
from haversack.values import record

Structured = Literal["widen", "strip", "keep"]
Mode = Literal["pass", "slim", "index", "search", "auto"]
MODES: tuple[Mode, ...] = ("pass", "auto", "slim", "index", "search")
NO_BUDGETS: Mapping[str, int] = MappingProxyType({})
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


def _is_launcher(program: str) -> bool:
    """Whether a program only starts another, which its first argument names."""
    name = program.replace("\\", "/").rpartition("/")[2].partition(".")[0].rstrip("0123456789")
    return name in ("npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "uv", "sh", "bash")


@record
class Server:
    """One upstream: how it is started, and how its results and tools are treated."""

    command: tuple[str, ...]
    name: str = ""
    environment: Mapping[str, str] = NO_VARIABLES
    folder: str = ""
    budget: int | None = None
    budgets: Mapping[str, int] = NO_BUDGETS
    only: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    trust: bool = False

    @property
    def title(self) -> str:
        """The server's name in the account: its own name, or the package or program that is started."""
        if self.name or not self.command:
            return self.name
        words = [word for word in self.command[1:] if not word.startswith("-")]
        word = words[0] if words and _is_launcher(self.command[0]) else self.command[0]
        last = word.replace("\\", "/").rstrip("/").rpartition("/")[2].partition("@")[0]
        return last.rpartition(".")[0] or last or "server"

    def allows(self, tool: str) -> bool:
        """Whether a tool may be listed and called."""
        if not self.only and not self.deny:
            return True
        from fnmatch import fnmatchcase

        if any(fnmatchcase(tool, each) for each in self.deny):
            return False
        return not self.only or any(fnmatchcase(tool, each) for each in self.only)

    def ceiling(self, tool: str) -> int | None:
        """The tokens a result of a tool may have by the settings; None where they do not say."""
        given = [each for each in (self.budgets.get(tool), self.budget) if each]
        return min(given) if given else None


@record
class Settings:
    """How results and lists are treated, whichever server they come from."""

    budget: int | None = None
    tools: Mode = "pass"
    compress: bool = True
    view: View | Literal["auto"] = "auto"
    structured: Structured = "widen"
    keep_in_memory: bool = False
    account: str = ""
    log_arguments: bool = False
    cut_resources: bool = False
