"""`haversack install` and `haversack uninstall`."""

import sys

from haversack import terminal
from haversack.argument_parser import plain_parser
from haversack.config import load
from haversack.errors import HaversackError, InvalidArgument
from haversack.hosts.host import Host, host_named, known_hosts
from haversack.hosts.installation.installer import Edit, Installer


def install(typed: list[str]) -> int:
    """Connect hosts and return the exit code."""
    parser = plain_parser(
        "install",
        "Connect the agents' programs on this machine: their MCP entry and their hooks.",
        "haversack install",
        "haversack install codex gemini",
        "haversack install --all --dry-run",
        "haversack install codex --wrap github playwright",
    )
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=f"of {', '.join(known_hosts())}; asked when omitted")
    parser.add_argument("--all", action="store_true", help="every host that is found on this machine")
    parser.add_argument("--dry-run", action="store_true", help="print the changes as a diff and make none")
    parser.add_argument(
        "--wrap", nargs="+", default=[], metavar="NAME", help="put the gateway before these servers of the host instead"
    )
    parsed = parser.parse_args(typed)
    installer = Installer(load().home)
    if parsed.wrap:
        return _wrap(installer, parsed.hosts, parsed.wrap, dry=parsed.dry_run)
    chosen = _chosen(installer, parsed.hosts, every=parsed.all or parsed.dry_run)
    failed = False
    for host in chosen:
        try:
            _connect(installer, host, dry=parsed.dry_run)
        except HaversackError as error:
            failed = True
            terminal.say(f"haversack: {host.title}: {error}")
    return 1 if failed else 0


def uninstall(typed: list[str]) -> int:
    """Remove what `install` wrote and return the exit code."""
    parser = plain_parser(
        "uninstall",
        "Take back exactly what `haversack install` wrote; memories stay.",
        "haversack uninstall codex",
        "haversack uninstall",
    )
    parser.add_argument("hosts", nargs="*", metavar="HOST", help="only these; every host when omitted")
    parsed = parser.parse_args(typed)
    installer = Installer(load().home)
    chosen = [host_named(name) for name in parsed.hosts] or list(known_hosts().values())
    failed, found = False, 0
    for host in chosen:
        try:
            with installer.journal.alone():
                done = installer.uninstall(host)
        except HaversackError as error:
            failed = True
            terminal.say(f"haversack: {host.title}: {error}")
            continue
        found += len(done)
        if done or parsed.hosts:
            files = ", ".join(edit.file for edit in done)
            terminal.show(f"{host.title}: " + (f"restored {files}" if files else "nothing of ours was there"))
    if not found and not parsed.hosts and not failed:
        terminal.show("No host was connected.")
    return 1 if failed else 0


def _wrap(installer: Installer, hosts: list[str], names: list[str], *, dry: bool) -> int:
    if len(hosts) != 1:
        raise InvalidArgument("--wrap is about one host", hint="haversack install HOST --wrap NAME ...")
    host = host_named(hosts[0])
    if dry:
        edits = installer.plan_wrapping(host, names)
    else:
        with installer.journal.alone():
            edits = installer.wrap(host, names)
    for edit in edits:
        terminal.show(edit.diff().rstrip("\n") if dry else f"{host.title}: wrote {edit.file}")
    if not edits:
        terminal.show(f"{host.title}: wrapped already, nothing to change")
    elif not dry:
        terminal.show(f"  Results of {', '.join(names)} fit a budget now; `haversack uninstall {host.name}` undoes it.")
    return 0


def _chosen(installer: Installer, names: list[str], *, every: bool) -> list[Host]:
    if names:
        chosen = [host_named(name) for name in names]
        for host in chosen:
            if not installer.is_present(host):
                raise InvalidArgument(
                    f"{host.title} was not found on this machine",
                    hint=f"install it first; {' or '.join(host.programs)} would be on the path",
                )
        return chosen
    present = installer.present()
    if every:
        return present
    if not sys.stdin.isatty():
        raise InvalidArgument(
            f"found {', '.join(host.name for host in present)}", hint="name those to connect, or give --all"
        )
    return [host for host in present if _is_wanted(host)]


def _is_wanted(host: Host) -> bool:
    terminal.say(f"Connect {host.title}? [Y/n]")
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


def _connect(installer: Installer, host: Host, *, dry: bool) -> None:
    if dry:
        edits = installer.plan(host)
        for edit in edits:
            terminal.show(edit.diff().rstrip("\n"))
        if host.plugin:
            for command in host.plugin.add:
                terminal.show(f"{host.title} would run: {' '.join(command)}")
        elif not edits:
            terminal.show(f"{host.title}: nothing to change")
        return
    with installer.journal.alone():
        done: list[Edit] = installer.install(host)
    files = ", ".join(edit.file for edit in done)
    terminal.show(f"{host.title}: " + (f"wrote {files}" if files else "connected already, nothing to change"))
    if done and host.after_install:
        terminal.show(f"  {host.after_install}")
