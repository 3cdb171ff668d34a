"""A host's other MCP servers behind the gateway: the same entries with `haversack wrap --` before their command."""

from collections.abc import Mapping, Sequence
from typing import Any

from haversack.errors import InvalidArgument, NotFound
from haversack.hosts.host import ServerEntry
from haversack.hosts.installation import json_edits, toml_edits
from haversack.hosts.installation.settings_text import OWN_NAME, Change, Program, readable, settings_in, value_at
from haversack.values import record

PATH_MARK = "wrapped "
"""How the journal's paths tell an entry that was wrapped from one that was added."""


@record
class _Command:
    """How an entry starts its server: its words, in one list or as a command with arguments."""

    words: tuple[str, ...]
    is_list: bool

    def values(self) -> dict[str, object]:
        if self.is_list:
            return {"command": list(self.words)}
        return {"command": self.words[0], "args": list(self.words[1:])}


def with_wrapped(text: str, server: ServerEntry, names: Sequence[str], program: Program, path: str) -> Change:
    """The settings with the gateway before the servers of these names; one that has it already stays as it is."""
    paths: list[str] = []
    for name in names:
        with readable(path):
            command = _command(_servers(text, server), name, path)
            if _inner(command.words):
                continue
            # A host may start its servers without the variables of the user's shell.
            home = ("--home", program.home) if program.home else ()
            wrapped = _Command((*program.words, "wrap", *home, "--", *command.words), command.is_list)
            text = _with_values(text, server, name, wrapped.values())
        paths.append(PATH_MARK + ".".join((*server.keys[:-1], name)))
    return Change(text, tuple(paths))


def without_wrapped(text: str, server: ServerEntry, path: str) -> str:
    """The settings with every server started as it was before the gateway was put before it."""
    with readable(path):
        for name, entry in _servers(text, server).items():
            command = _command_of(entry)
            if command is not None and (inner := _inner(command.words)):
                text = _with_values(text, server, name, _Command(inner, command.is_list).values())
    return text


def _servers(text: str, server: ServerEntry) -> Mapping[str, Any]:
    found = value_at(settings_in(text, server.format), server.keys[:-1])
    return found if isinstance(found, dict) else {}


def _command(servers: Mapping[str, Any], name: str, path: str) -> _Command:
    if name not in servers:
        known = ", ".join(each for each in servers if each != OWN_NAME) or "none"
        raise NotFound(f"{path} has no server {name[:60]!r}", hint=f"servers there: {known}")
    if name == OWN_NAME:
        raise InvalidArgument("this program's own replies fit a budget already", hint="name another server")
    command = _command_of(servers[name])
    if command is None:
        raise InvalidArgument(
            f"{name} is not started by a command", hint="only servers that are a command on this machine can be wrapped"
        )
    return command


def _command_of(entry: Any) -> _Command | None:
    command = entry.get("command") if isinstance(entry, dict) else None
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        return _Command(tuple(command), is_list=True)
    arguments = entry.get("args", []) if isinstance(entry, dict) else None
    if isinstance(command, str) and isinstance(arguments, list) and all(isinstance(word, str) for word in arguments):
        return _Command((command, *arguments), is_list=False)
    return None


def _inner(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command behind the gateway's; empty when it is not before it."""
    for place in range(1, len(words) - 2):
        rest = words[place + 3 :] if words[place + 1] == "--home" else words[place + 1 :]
        if words[place] == "wrap" and rest[:1] == ("--",) and OWN_NAME in " ".join(words[:place]):
            return rest[1:]
    return ()


def _with_values(text: str, server: ServerEntry, name: str, values: Mapping[str, object]) -> str:
    keys = (*server.keys[:-1], name)
    if server.format == "toml":
        return toml_edits.with_values(text, keys, values)
    for key, value in values.items():
        if key == "args" and not value and value_at(settings_in(text, "json"), (*keys, "args")) is None:
            continue
        text, _ = json_edits.with_value(text, (*keys, key), value)
    return text
