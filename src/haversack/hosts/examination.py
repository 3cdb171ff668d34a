"""`haversack doctor hosts`: whether each host is connected, whether its entries work, and how to mend them."""

import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from haversack import terminal
from haversack.argument_parser import plain_parser
from haversack.config import load
from haversack.errors import HaversackError
from haversack.hosts.host import HookFile, Host, expanded, host_named, known_hosts
from haversack.hosts.installation import settings_text
from haversack.hosts.installation.installer import Installer
from haversack.text.times import iso
from haversack.tools.upkeep.doctor import Finding, as_text
from haversack.values import asdict

_SECONDS = 20


def run(typed: list[str]) -> int:
    """Print how each host is connected; the exit code is 1 when something is wrong."""
    parser = plain_parser(
        "doctor hosts",
        "Say of each connected host whether its server starts, its hooks are there and which store they use.",
        "haversack doctor hosts",
        "haversack doctor hosts codex",
    )
    parser.add_argument("hosts", nargs="*", metavar="HOST", help="only these; every host on this machine when omitted")
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    parsed = parser.parse_args(typed)
    installer = Installer(load().home)
    named = [host_named(name) for name in parsed.hosts]
    found = [finding for host in named or installer.present() for finding in examined(installer, host)]
    if parsed.json:
        checks = [asdict(each) for each in found]
        terminal.show(json.dumps({"well": all(each.well for each in found), "checks": checks}, ensure_ascii=False))
    else:
        terminal.show("\n".join(map(as_text, found)))
    return 0 if all(each.well for each in found) else 1


def examine_hosts() -> list[Finding]:
    """The findings about every host on this machine."""
    try:
        installer = Installer(load().home)
    except HaversackError as error:
        return [Finding("hosts", False, error.message, error.hint)]
    present = [host for host in known_hosts().values() if installer.is_present(host)]
    found = [finding for host in present for finding in examined(installer, host)]
    return found or [Finding("hosts", True, "none is on this machine")]


def examined(installer: Installer, host: Host) -> Iterator[Finding]:
    """The findings about one host, in the order in which problems should be mended."""
    if not installer.is_present(host):
        remedy = f"install it; {' or '.join(host.programs)} would be on the path"
        yield Finding(host.title, False, "not found on this machine", remedy)
        return
    try:
        entry, hooks, expected = _written(installer, host)
    except HaversackError as error:
        yield Finding(f"{host.title} settings", False, error.message, error.hint)
        return
    if entry is None and not hooks:
        yield Finding(host.title, True, "not connected", f"`haversack install {host.name}` connects it")
        return
    yield _program(installer, host)
    if entry is not None:
        yield _server(installer, host, entry)
    if expected:
        remedy = "" if hooks >= expected else f"run `haversack install {host.name}`"
        yield Finding(f"{host.title} hooks", hooks >= expected, f"{hooks} of {expected} are there", remedy)
    if host.check_trust == "codex":
        yield _trust(installer, host, expected)
    yield _last_hook(installer, host)


def _program(installer: Installer, host: Host) -> Finding:
    path = installer.environ.get("PATH", os.defpath)
    found = next(filter(None, (shutil.which(name, path=path) for name in host.programs)), None)
    what = f"{host.title} program"
    if found is None:
        return Finding(what, True, f"none of {', '.join(host.programs)} is on the path; its settings are here")
    try:
        output = subprocess.run(
            [found, "--version"], capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL,
            env=dict(installer.environ), check=False,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        output = ""
    return Finding(what, True, f"{found}, {output.splitlines()[-1] if output else 'version unknown'}")


def _written(installer: Installer, host: Host) -> tuple[Mapping[str, Any] | None, int, int]:
    """The server's entry, how many hooks there are, and how many there should be."""
    if host.plugin:
        folder = os.path.join(installer.home, "hosts", "plugin", host.name, "plugins", "haversack")
        entry = settings_text.value_at(_json(os.path.join(folder, ".mcp.json")), ("mcpServers", "haversack"))
        hooks = settings_text.count_hooked(_text(os.path.join(folder, host.plugin.hooks.file)), host.plugin.hooks)
        has_plugin = any(each.paths == ("plugin",) for each in installer.journal.of(host.name))
        return (entry, hooks, len(host.plugin.hooks.events)) if has_plugin else (None, 0, 0)
    entry, hooks, expected = None, 0, 0
    if host.server:
        path = expanded(host, host.server.file, installer.environ)
        with settings_text.readable(path):
            entry = settings_text.own_server(_text(path), host.server)
    if host.hooks:
        path, expected = expanded(host, host.hooks.file, installer.environ), len(host.hooks.events)
        with settings_text.readable(path):
            hooks = settings_text.count_hooked(_text(path), host.hooks)
    if host.script:
        hooks, expected = int(os.path.exists(expanded(host, host.script, installer.environ))), 1
    return entry, hooks, expected


def _server(installer: Installer, host: Host, entry: Mapping[str, Any]) -> Finding:
    given = entry.get("command")
    words = [*given] if isinstance(given, list) else [str(given), *entry.get("args", [])]
    what = f"{host.title} server"
    remedy = f"run `haversack uninstall {host.name}` and `haversack install {host.name}`"
    if not os.access(words[0], os.X_OK):
        return Finding(what, False, f"its entry runs {words[0]}, which is not there", remedy)
    environment = entry.get("env") or entry.get("environment") or {}
    home = environment.get("HAVERSACK_HOME", "") if isinstance(environment, dict) else ""
    if (home and os.path.realpath(home) != os.path.realpath(installer.home)) or (
        not home and host.server and not host.server.passes_environment and installer.program.home
    ):
        return Finding(what, False, f"it uses the store in {home or 'the usual place'}, not {installer.home}", remedy)
    client = {"name": "doctor", "version": "1"}
    offer = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": offer}
    try:
        output = subprocess.run(
            words, input=json.dumps(hello) + "\n", capture_output=True, text=True, timeout=_SECONDS, check=False,
            env={**installer.environ, **({"HAVERSACK_HOME": home} if home else {})},
        ).stdout  # fmt: skip
        name = json.loads(output.splitlines()[0])["result"]["serverInfo"]["name"]
    except (OSError, subprocess.TimeoutExpired, ValueError, LookupError, TypeError):
        return Finding(what, False, f"`{' '.join(words)}` does not answer", f"run it to see why; {remedy}")
    return Finding(what, True, f"it answers ({name}), with the store in {home or installer.home}")


def _trust(installer: Installer, host: Host, expected: int) -> Finding:
    """Whether the user trusted the hooks in Codex, which records that under the path of their file."""
    assert host.server is not None and host.hooks is not None
    hooks: HookFile = host.hooks
    try:
        held = tomllib.loads(_text(expanded(host, host.server.file, installer.environ)))
    except tomllib.TOMLDecodeError:
        return Finding(f"{host.title} trust", False, "config.toml cannot be understood", "mend it")
    states = settings_text.value_at(held, ("hooks", "state"))
    file = expanded(host, hooks.file, installer.environ)
    trusted = sum(str(key).startswith(f"{file}:") for key in states) if isinstance(states, dict) else 0
    remedy = "" if trusted >= expected else host.after_install
    return Finding(f"{host.title} trust", trusted >= expected, f"{trusted} of {expected} hooks are trusted", remedy)


def _last_hook(installer: Installer, host: Host) -> Finding:
    what = f"{host.title} last hook"
    try:
        moment = os.path.getmtime(os.path.join(installer.home, "hosts", "seen", host.name))
    except OSError:
        return Finding(what, True, "no hook has run yet; one does when a session starts")
    return Finding(what, True, f"it ran at {iso(int(moment * 1_000_000))}")


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def _json(path: str) -> Any:
    try:
        return json.loads(_text(path) or "{}")
    except ValueError:
        return {}
