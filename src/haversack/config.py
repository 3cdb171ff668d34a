"""Settings: defaults, then `config.toml` in the home folder, then `HAVERSACK_*` variables."""

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from haversack.errors import ConfigError
from haversack.user_folders import data_folder
from haversack.values import fields, record, replace

CONFIG_FILE = "config.toml"
STORE_FILE = "haversack.db"
NO_OVERRIDES: Mapping[str, int] = MappingProxyType({})


@record
class TokenSettings:
    """How tokens are counted."""

    profile: str = "o200k"


@record
class MemorySettings:
    """What is remembered, and how."""

    project: str = ""
    session: str = ""
    redact: bool = True
    max_content: int = 200_000
    duplicate_minutes: int = 15
    semantic: str = "auto"
    model: str = ""


@record
class BudgetSettings:
    """The account of an agent's context window, in tokens, and for how many days an unused one is kept (0: always)."""

    total: int = 100_000
    system: int = 8_000
    history: int = 12_000
    tool_results: int = 40_000
    user: int = 10_000
    reserve: int = 30_000
    per_tool: int = 8_000
    minimum: int = 500
    warning: int = 20_000
    critical: int = 10_000
    days: int = 90
    overrides: Mapping[str, int] = NO_OVERRIDES
    account: str = ""


@record
class StashSettings:
    """How long full results and continuation keys are kept."""

    hours: int = 24
    max_megabytes: int = 256


@record
class WorkspaceSettings:
    """The folder the workspace tools may look into."""

    root: str = ""
    allow_secrets: bool = False
    engine: str = "auto"
    timeout_seconds: int = 30
    allow_outside_git: bool = False


@record
class RecallSettings:
    """How replies mark what they recall: `fence` puts it between two lines that nothing in it can imitate."""

    fence: bool = False


@record
class HookSettings:
    """What hosts get from their hooks, in tokens; `relevance` is the percentage of a prompt a memory must be about."""

    start_tokens: int = 1_500
    prompt_tokens: int = 300
    digest_tokens: int = 400
    # Measured (bench/bench_hooks.py): the lowest at which under a twentieth of unrelated prompts get something.
    relevance: int = 45


@record
class ServerSettings:
    """The MCP door."""

    dynamic_hints: bool = False
    workers: int = 4
    max_line_bytes: int = 64_000_000


@record
class HttpSettings:
    """The HTTP door: which names it answers to, whose signed tokens it takes, and how often a token may call.

    Rates are per minute; 0 is no limit. `jwks` is a file or an address with the keys of the `issuers`.
    """

    allowed_hosts: tuple[str, ...] = ()
    public_url: str = ""
    issuers: tuple[str, ...] = ()
    resource: str = ""
    jwks: str = ""
    calls_per_minute: int = 600
    writes_per_minute: int = 120
    failures_per_minute: int = 10


@record
class StoreSettings:
    """Which store is used: a server's by its URL, as which member; without a URL the file in the home folder.

    `read_url` is a replica of that server, which a process that lasts reads from.
    """

    url: str = ""
    member: str = ""
    read_url: str = ""


@record
class Config:
    """Every setting, in the sections of the configuration file."""

    home: str
    tokens: TokenSettings = TokenSettings()
    memory: MemorySettings = MemorySettings()
    budget: BudgetSettings = BudgetSettings()
    stash: StashSettings = StashSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    recall: RecallSettings = RecallSettings()
    hooks: HookSettings = HookSettings()
    server: ServerSettings = ServerSettings()
    store: StoreSettings = StoreSettings()
    http: HttpSettings = HttpSettings()

    @property
    def store_path(self) -> str:
        return os.path.join(self.home, STORE_FILE)


SECTIONS = tuple(name for name in fields(Config) if name != "home")
READ_ELSEWHERE = ("gateway",)
"""Sections that another room reads and checks."""


def default_home(environ: Mapping[str, str], platform: str = sys.platform) -> str:
    """The data folder by the platform's convention; `HAVERSACK_HOME` overrides it."""
    if chosen := environ.get("HAVERSACK_HOME"):
        return os.path.abspath(os.path.expanduser(chosen))
    return data_folder("haversack", environ, platform)


def load(environ: Mapping[str, str] | None = None) -> Config:
    """The settings in force; a wrong key or value is an error that names it."""
    environ = os.environ if environ is None else environ
    config = Config(home=default_home(environ))
    path = os.path.join(config.home, CONFIG_FILE)
    if os.path.exists(path):
        config = _with_file(config, path)
    for name in SECTIONS:
        section = getattr(config, name)
        changes = {}
        for setting in fields(section):
            variable = f"HAVERSACK_{name}_{setting}".upper()
            if setting != "overrides" and (text := environ.get(variable)):
                changes[setting] = _convert(text, getattr(section, setting), variable)
        if changes:
            config = replace(config, **{name: replace(section, **changes)})
    if account := environ.get("HAVERSACK_BUDGET"):
        config = replace(config, budget=replace(config.budget, account=account))
    return config


def _with_file(config: Config, path: str) -> Config:
    import tomllib  # only a home with a configuration file pays for the parser

    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}", hint="mend the file or move it away") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    for name, values in content.items():
        if name in READ_ELSEWHERE:
            continue
        if name not in SECTIONS or not isinstance(values, dict):
            raise ConfigError(f"unknown section [{name}] in {path}", hint=f"sections: {', '.join(SECTIONS)}")
        section = getattr(config, name)
        known = set(fields(section))
        changes: dict[str, Any] = {}
        for key, value in values.items():
            if key not in known:
                raise ConfigError(f"unknown setting {name}.{key} in {path}", hint=f"known: {', '.join(sorted(known))}")
            changes[key] = _convert(value, getattr(section, key), f"{name}.{key}")
        config = replace(config, **{name: replace(section, **changes)})
    return config


def write_setting(home: str, section: str, name: str, value: str) -> None:
    """Write one text into the configuration file of a home, leaving everything else there as it is."""
    from json import dumps

    path = os.path.join(home, CONFIG_FILE)
    lines = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    # A JSON string is a TOML string, also with the backslashes of a path on Windows.
    wanted = f"{name} = {dumps(value, ensure_ascii=False)}"
    begin = next((number for number, line in enumerate(lines) if line.strip() == f"[{section}]"), None)
    if begin is None:
        lines += ["", f"[{section}]", wanted] if lines else [f"[{section}]", wanted]
    else:
        end = next((n for n in range(begin + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
        held = next((n for n in range(begin + 1, end) if lines[n].split("=")[0].strip() == name), None)
        if held is None:
            lines.insert(begin + 1, wanted)
        else:
            lines[held] = wanted
    os.makedirs(home, mode=0o700, exist_ok=True)
    unfinished = f"{path}.{os.getpid()}.new"
    with open(os.open(unfinished, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    os.replace(unfinished, path)


def _convert(value: object, default: object, name: str) -> object:
    """`value` as the type of `default`; environment variables arrive as text."""
    if isinstance(default, bool):
        return _convert_boolean(value, name)
    if isinstance(default, int):
        try:
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise ValueError
            number = int(value)
        except ValueError:
            raise ConfigError(f"{name} is {value!r}, not a whole number") from None
        if number < 0:
            raise ConfigError(f"{name} is {number}, below zero")
        return number
    if isinstance(default, Mapping):
        if isinstance(value, dict) and all(type(v) is int and v > 0 for v in value.values()):
            return dict(value)
        raise ConfigError(f"{name} must be a table of tool names and whole numbers")
    if isinstance(default, tuple):
        return _convert_list(value, name)
    if not isinstance(value, str):
        raise ConfigError(f"{name} is {value!r}, not text")
    return value


def _convert_boolean(value: object, name: str) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True}
    words |= {"0": False, "false": False, "no": False, "off": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ConfigError(f"{name} is {value!r}, not true or false")


def _convert_list(value: object, name: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(value)
    raise ConfigError(f"{name} is {value!r}, not a list of texts")
