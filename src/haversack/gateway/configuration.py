"""The gateway's settings from a TOML file or from `[gateway]` in the configuration."""

import os
from collections.abc import Mapping
from typing import Any

from haversack.errors import ConfigError
from haversack.gateway.settings import MODES, Server, Settings
from haversack.patterns import pattern
from haversack.tokens import parse_max_tokens

_VARIABLE = pattern(r"\$\{(\w+)\}")
_NAME = pattern(r"^[A-Za-z][A-Za-z0-9-]{0,31}$")
_CHOICES = {
    "tools": MODES,
    "compress": ("safe", "off"),
    "view": ("auto", "content", "structured", "both"),
    "structured": ("widen", "strip", "keep"),
    "keep": ("store", "memory"),
    "resources": ("pass", "cut"),
}
_SERVER_KEYS = frozenset(("command", "env", "folder", "budget", "budgets", "only", "deny", "trust"))


def read(path: str, environ: Mapping[str, str]) -> tuple[Settings, list[Server]]:
    """The settings and the servers of a file; anything wrong is an error that names it."""
    import tomllib

    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}",
            hint="haversack gateway import CLIENT prints a client's servers as such a file",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    section = content.get("gateway")
    if not isinstance(section, dict):
        raise ConfigError(f"{path} has no section [gateway]", hint="see docs/gateway.md for an example")
    return _settings(section), _servers(section, environ)


def _settings(section: Mapping[str, Any]) -> Settings:
    known = {*_CHOICES, "budget", "account", "log_arguments", "servers"}
    for name in section:
        if name not in known:
            raise ConfigError(f"unknown setting gateway.{name}", hint=f"known: {', '.join(sorted(known))}")
    chosen = {name: _choice(section, name) for name in _CHOICES}
    return Settings(
        budget=_budget(section.get("budget"), "gateway.budget"),
        tools=chosen["tools"] or "auto",  # type: ignore[arg-type]
        compress=chosen["compress"] != "off",
        view=chosen["view"] or "auto",  # type: ignore[arg-type]
        structured=chosen["structured"] or "widen",  # type: ignore[arg-type]
        keep_in_memory=chosen["keep"] == "memory",
        account=str(section.get("account", "")),
        log_arguments=section.get("log_arguments") is True,
        cut_resources=chosen["resources"] == "cut",
    )


def _choice(section: Mapping[str, Any], name: str) -> str:
    value = section.get(name, "")
    if value and value not in _CHOICES[name]:
        raise ConfigError(f"gateway.{name} is {value!r}", hint=f"one of: {', '.join(_CHOICES[name])}")
    return str(value)


def _servers(section: Mapping[str, Any], environ: Mapping[str, str]) -> list[Server]:
    servers = section.get("servers")
    if not isinstance(servers, dict) or not servers:
        raise ConfigError("the gateway has no servers", hint='add [gateway.servers.NAME] with command = ["npx", ...]')
    return [_server(name, given, environ) for name, given in servers.items()]


def _server(name: str, given: Any, environ: Mapping[str, str]) -> Server:
    where = f"gateway.servers.{name}"
    if not _NAME.match(name):
        raise ConfigError(f"{where} is not a usable name", hint="letters, digits and hyphens, at most 32")
    if not isinstance(given, dict):
        raise ConfigError(f"{where} is not a table")
    for key in given:
        if key not in _SERVER_KEYS:
            raise ConfigError(f"unknown setting {where}.{key}", hint=f"known: {', '.join(sorted(_SERVER_KEYS))}")
    command = given.get("command")
    if not _is_texts(command) or not command:
        raise ConfigError(f"{where}.command is not a list of texts", hint='command = ["npx", "-y", "a-server"]')
    budgets, variables = given.get("budgets", {}), given.get("env", {})
    if not isinstance(budgets, dict) or not isinstance(variables, dict):
        raise ConfigError(f"{where}.budgets and .env are tables")
    for key in ("only", "deny"):
        if not _is_texts(given.get(key, [])):
            raise ConfigError(f"{where}.{key} is not a list of patterns", hint=f'{key} = ["get_*"]')
    return Server(
        tuple(_filled(part, environ, f"{where}.command") for part in command),
        name=name,
        environment={key: _filled(str(value), environ, f"{where}.env.{key}") for key, value in variables.items()},
        folder=_filled(str(given.get("folder", "")), environ, f"{where}.folder"),
        budget=_budget(given.get("budget"), f"{where}.budget"),
        budgets={tool: _budget(tokens, f"{where}.budgets.{tool}") or 0 for tool, tokens in budgets.items()},
        only=tuple(given.get("only", ())),
        deny=tuple(given.get("deny", ())),
        trust=given.get("trust") is True,
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _budget(value: Any, name: str) -> int | None:
    return None if value is None else parse_max_tokens(value, name=name)


def _filled(text: str, environ: Mapping[str, str], where: str) -> str:
    """The text with `${NAME}` replaced by the variable; its value is never printed."""

    def value(match: Any) -> str:
        if match[1] not in environ:
            raise ConfigError(f"{where} needs the variable {match[1]}, which is not set", hint=f"export {match[1]}=...")
        return environ[match[1]]

    return os.path.expanduser(_VARIABLE.sub(value, text)) if text.startswith("~") else _VARIABLE.sub(value, text)
