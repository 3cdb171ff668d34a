"""A host's settings text with this program's server and hooks in it, or without them; nothing else changes."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from haversack.errors import DamagedFile
from haversack.hosts.host import Event, HookFile, ServerEntry
from haversack.hosts.installation import json_edits, toml_edits
from haversack.values import record

OWN_NAME = "haversack"


@record
class Program:
    """How this program is started: its words, and the home it is to use where that is not the usual one."""

    words: tuple[str, ...]
    home: str = ""

    def hook_command(self, event: Event, client: str) -> str:
        """One hook's command line, for a shell."""
        words = [*self.words, "hook", event, "--client", client]
        words += ["--home", self.home] if self.home else []
        return " ".join(_shell_word(word) for word in words)


@record
class Change:
    """A text after an edit, with the paths of what was put in, and of containers made for it."""

    text: str
    paths: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


def server_value(server: ServerEntry, program: Program) -> dict[str, object]:
    """The entry that starts this program's MCP server."""
    value: dict[str, object] = dict(server.extra)
    if server.style == "list":
        value["command"] = [*program.words, "serve"]
    else:
        value |= {"command": program.words[0], "args": [*program.words[1:], "serve"]}
    if program.home:
        value[server.environment_key] = {"HAVERSACK_HOME": program.home}
    return value


def with_server(text: str, server: ServerEntry, program: Program, path: str) -> Change:
    """The settings with the server's entry."""
    value = server_value(server, program)
    shown = ".".join(server.keys)
    if server.format == "toml":
        with readable(path):
            if value_at(toml_edits.checked(text), server.keys) == value:
                return Change(text)
            return Change(toml_edits.with_table(text, server.keys, value), (shown,))
    with readable(path):
        held = json_edits.loaded(json_edits.parsed(text)) if text.strip() else {}
        if value_at(held, server.keys) == value:
            return Change(text)
        new, made = json_edits.with_value(text, server.keys, value)
    return Change(new, (shown,), (".".join(made),) if made and made != server.keys else ())


def without_server(text: str, server: ServerEntry, path: str) -> str:
    """The settings without the server's entry, if it is this program's."""
    with readable(path):
        held = settings_in(text, server.format)
        if not _is_own_server(value_at(held, server.keys)):
            return text
        if server.format == "toml":
            return toml_edits.without_table(text, server.keys)
        return json_edits.without(text, server.keys)


def hook_groups(hooks: HookFile, program: Program, client: str) -> dict[str, object]:
    """The value for each event in the host's hook settings: one group, or one command."""
    groups: dict[str, object] = {}
    for event, name in hooks.events.items():
        command = program.hook_command(event, client)
        entry: dict[str, object] = dict(hooks.extra)
        if hooks.shape == "nested":
            entry = {"type": "command", **entry}
        entry |= dict.fromkeys(hooks.command_keys, command)
        entry[hooks.timeout_key] = hooks.timeout
        if hooks.shape == "nested":
            matcher = {"matcher": hooks.matchers[event]} if event in hooks.matchers else {}
            groups[name] = {**matcher, "hooks": [entry]}
        else:
            groups[name] = entry
    return groups


def hooks_document(hooks: HookFile, program: Program, client: str) -> dict[str, object]:
    """A whole file of hooks."""
    groups = hook_groups(hooks, program, client)
    return {**hooks.top, "hooks": {name: [group] for name, group in groups.items()}}


def with_hooks(text: str, hooks: HookFile, program: Program, client: str, path: str) -> Change:
    """The settings with one entry of ours for each event; entries of ours that differ are replaced."""
    groups = hook_groups(hooks, program, client)
    with readable(path):
        if not text.strip():
            document = hooks_document(hooks, program, client)
            written = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
            return Change(written, tuple(f"hooks.{name}" for name in groups), tuple(document))
        own = list(_own_places(text))
        if {name: _item(text, name, number) for name, number in own} == groups and len(own) == len(groups):
            return Change(text)
        text = without_hooks(text, path)
        made: list[str] = []
        for name, group in groups.items():
            text, created = json_edits.with_item(text, ("hooks", name), group)
            if created:
                made.append(".".join(created))
        for key, value in hooks.top.items():
            if key not in json_edits.loaded(json_edits.parsed(text)):
                text, _ = json_edits.with_value(text, (key,), value)
                made.append(key)
    return Change(text, tuple(f"hooks.{name}" for name in groups), tuple(made))


def without_hooks(text: str, path: str) -> str:
    """The settings without any hook of this program, on whatever event."""
    with readable(path):
        if not text.strip():
            return text
        for name, number in reversed(list(_own_places(text))):
            text = json_edits.without_item(text, ("hooks", name), number)
    return text


def without_empty(text: str, paths: tuple[str, ...]) -> str:
    """The settings without containers that were made for our entries and hold nothing now."""
    for path in sorted(paths, key=lambda each: -each.count(".")):
        keys = tuple(path.split("."))
        held = value_at(json_edits.loaded(json_edits.parsed(text)), keys) if text.strip() else None
        # A number, such as a version, was written because our entries need it.
        if isinstance(held, int) or _is_empty(held):
            text = json_edits.without(text, keys)
    return text


def _is_empty(held: Any) -> bool:
    if isinstance(held, dict):
        return all(map(_is_empty, held.values()))
    return bool(held == [])


def count_hooked(text: str, hooks: HookFile) -> int:
    """At how many of a host's events the settings have a hook of this program."""
    own = {name for name, _ in _own_places(text)} if text.strip() else set()
    return len(own.intersection(hooks.events.values()))


def own_server(text: str, server: ServerEntry) -> Mapping[str, Any] | None:
    """The entry of this program's server in the settings."""
    found = value_at(settings_in(text, server.format), server.keys)
    return found if _is_own_server(found) else None


def settings_in(text: str, format: str) -> Any:
    """The values of a settings text, in JSON with comments or in TOML."""
    if format == "toml":
        return toml_edits.checked(text)
    return json_edits.loaded(json_edits.parsed(text)) if text.strip() else {}


def _own_places(text: str) -> Iterator[tuple[str, int]]:
    held = json_edits.loaded(json_edits.parsed(text))
    events = held.get("hooks") if isinstance(held, dict) else None
    for name, groups in events.items() if isinstance(events, dict) else ():
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            if _is_own_hook(group):
                yield name, number


def _item(text: str, name: str, number: int) -> Any:
    return json_edits.loaded(json_edits.parsed(text))["hooks"][name][number]


def _is_own_hook(group: Any) -> bool:
    """Whether a group runs a hook of this program and nothing else: it is known by its command."""
    if not isinstance(group, dict):
        return False
    commands = group.get("hooks", [group])
    return isinstance(commands, list) and bool(commands) and all(map(_runs_own_hook, commands))


def _runs_own_hook(command: Any) -> bool:
    if not isinstance(command, dict):
        return False
    typed = next((command[key] for key in ("command", "bash", "powershell") if isinstance(command.get(key), str)), "")
    return OWN_NAME in typed and " hook " in typed and "--client" in typed


def _is_own_server(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    command = entry.get("command")
    words = [*(command if isinstance(command, list) else [command]), *entry.get("args", [])]
    return any(OWN_NAME in str(word) for word in words) and "serve" in words


def value_at(held: Any, keys: tuple[str, ...]) -> Any:
    """The value at a path of keys; None where there is none."""
    for key in keys:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def _shell_word(word: str) -> str:
    if word and all(sign.isalnum() or sign in "@%+=:,./\\_-" for sign in word):
        return word
    return '"' + word.replace('"', '\\"') + '"'


class readable:
    """Reports a broken settings file as an error; the file is not changed."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, json_edits.BrokenJson | toml_edits.BrokenToml):
            raise DamagedFile(
                f"{self._path} cannot be understood: {error}", hint="mend the file and try again; it was not changed"
            ) from None
