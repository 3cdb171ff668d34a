"""The facts about a host: its settings files, its hook events, and its format of hook output."""

import os
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal

from haversack.errors import NotFound
from haversack.user_folders import settings_folder, user_home
from haversack.values import record

Event = Literal[
    "session-start", "prompt", "after-tool", "before-compact", "after-compact", "stop", "session-end", "usage"
]
EVENTS: tuple[Event, ...] = (
    "session-start", "prompt", "after-tool", "before-compact", "after-compact", "stop", "session-end", "usage",
)  # fmt: skip
"""The events of hosts, by the names used here."""

OutputShape = Literal["hook specific", "additionalContext", "additional_context", "none"]
NOTHING: Mapping[Any, Any] = MappingProxyType({})


@record
class ServerEntry:
    """Where a host's settings name MCP servers, and what an entry is made of.

    `style` is `command` (`{"command", "args"}`) or `list` (`{"command": [...]}`). `passes_environment` says whether
    variables of the user's shell reach the server; where not, the entry itself carries `HAVERSACK_HOME`.
    """

    file: str
    keys: tuple[str, ...]
    format: Literal["json", "toml"] = "json"
    style: Literal["command", "list"] = "command"
    extra: Mapping[str, Any] = NOTHING
    environment_key: str = "env"
    passes_environment: bool = True


@record
class HookFile:
    """Where a host's settings name hook commands, and the shape of one.

    `nested` is a list of groups with a list of commands in each, `flat` a list of commands; `command_keys` are the
    names a command goes under. `timeout` is in the host's own unit.
    """

    file: str
    shape: Literal["nested", "flat"] = "nested"
    events: Mapping[Event, str] = NOTHING
    command_keys: tuple[str, ...] = ("command",)
    timeout_key: str = "timeout"
    timeout: int = 5
    matchers: Mapping[Event, str] = NOTHING
    extra: Mapping[str, Any] = NOTHING
    top: Mapping[str, Any] = NOTHING
    is_own: bool = False


@record
class PluginCommands:
    """The commands of a host's own program that add and remove the plugin folder, with `{folder}` for its path."""

    add: tuple[tuple[str, ...], ...]
    remove: tuple[tuple[str, ...], ...]
    changed_files: tuple[str, ...]
    hooks: HookFile


@record
class Transcripts:
    """Where a host keeps its transcripts, and which reader understands them."""

    folder: str
    pattern: str
    reader: Literal["claude_sessions", "codex_rollouts", "gemini_chats", "copilot_events", "opencode_store"]


@record
class Host:
    """The facts about one host. Paths begin with `~`, and may name a variable that moves the folder.

    `project_servers` is a file in a project with servers of its own, for a host whose user's file is not to be edited.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    folder: str
    server: ServerEntry | None = None
    project_servers: ServerEntry | None = None
    hooks: HookFile | None = None
    plugin: PluginCommands | None = None
    script: str = ""
    folder_variable: str = ""
    output: OutputShape = "hook specific"
    injects_at: tuple[Event, ...] = ("session-start", "prompt")
    most_characters: int = 10_000
    sends_instructions: bool = True
    strips: tuple[str, ...] = ()
    after_install: str = ""
    check_trust: Literal["", "codex"] = ""
    transcripts: Transcripts | None = None
    aliases: tuple[str, ...] = ()


COMMON_TAGS = ("haversack-recall", "hook_context", "system-reminder", "system_reminder")
"""Elements that hosts and this program put around what no person typed."""


def known_hosts() -> dict[str, Host]:
    """Every host by name, in the order of the alphabet."""
    folder = os.path.join(os.path.dirname(__file__), "known")
    modules = sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".py") and not name.startswith("_"))
    hosts = (import_module(f"haversack.hosts.known.{module}").HOST for module in modules)
    return {host.name: host for host in hosts}


def host_named(name: str) -> Host:
    """The host of a name or alias; an unknown one is an error that lists those there are."""
    wanted = name.strip().lower().replace("_", "-").replace(" ", "-")
    module = wanted.replace("-", "_")
    folder = os.path.join(os.path.dirname(__file__), "known")
    if module.isidentifier() and os.path.exists(os.path.join(folder, f"{module}.py")):
        found: Host = import_module(f"haversack.hosts.known.{module}").HOST
        return found
    hosts = known_hosts()
    for host in hosts.values():
        if wanted in (host.name, *host.aliases):
            return host
    raise NotFound(f"no host called {name[:60]!r}", hint=f"hosts: {', '.join(hosts)}")


def expanded(host: Host, path: str, environ: Mapping[str, str]) -> str:
    """A path of a host on this machine: `~` is the user's home, `{folder}` the host's own folder."""
    home = user_home(environ)
    folder = environ.get(host.folder_variable, "") if host.folder_variable else ""
    folder = folder or _in_home(host.folder, home, environ)
    return _in_home(path.replace("{folder}", folder), home, environ)


def _in_home(path: str, home: str, environ: Mapping[str, str]) -> str:
    if path.startswith("{user-settings}"):
        path = path.replace("{user-settings}", settings_folder(environ))
    if path.startswith("~"):
        path = home + path[1:]
    return os.path.normpath(path)
