"""`haversack hook EVENT --client HOST`: JSON on standard input, the host's shape on standard output.

A hook never harms its host: whatever goes wrong, it exits with 0, prints nothing and leaves a line in the log.
"""

import json
import os
import sys
from typing import Any

from haversack.hosts.host import EVENTS, Event, Host, host_named

MOST_READ = 8_000_000
"""Bytes of standard input that are read; a payload that is longer is not looked at."""
BUSY_MILLISECONDS = 800
"""How long a hook waits for a store that another process holds: less than the shortest limit of any host."""
_LARGEST_LOG = 200_000


def main(typed: list[str]) -> int:
    """Answer one event of a host; the exit code is 0 unless the command itself was typed wrongly."""
    if "-h" in typed or "--help" in typed:
        from haversack.argument_parser import plain_parser

        example = "haversack hook session-start --client codex < payload.json"
        parser = plain_parser("hook", "Answer an event of a host; hosts run this. It never fails.", example)
        parser.add_argument("event", choices=EVENTS, help="what happened in the host")
        parser.add_argument("--client", metavar="HOST", help="the host that runs the hook")
        parser.add_argument("--home", metavar="FOLDER", help="the data folder, where it is not the usual one")
        parser.parse_args(typed)
    event, client = _arguments(typed)
    if not event:
        sys.stderr.write("usage: haversack hook EVENT --client HOST\nTry `haversack hook --help`.\n")
        return 2
    try:
        host = host_named(client)
        _note_run(host)
        text = _answered(host, event, _payload())
        if text:
            sys.stdout.write(output(host, event, text))
            sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the one boundary of this door
        _log(f"{event} {client}: {type(error).__name__}: {error}")
    return 0


def output(host: Host, event: Event, text: str) -> str:
    """A text in the host's format of hook output."""
    if host.output == "hook specific":
        hooks = host.hooks or (host.plugin.hooks if host.plugin else None)
        name = hooks.events.get(event, "") if hooks else ""
        shape: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
    elif host.output == "none":
        return ""
    else:
        shape = {host.output: text}
    return json.dumps(shape, ensure_ascii=False)


def _arguments(typed: list[str]) -> tuple[Event | None, str]:
    # Every import delays every hook; these few arguments need no parser.
    words = [word for word in typed if not word.startswith("-")]
    client = ""
    for place, word in enumerate(typed):
        if word in ("--client", "-c") and place + 1 < len(typed):
            client = typed[place + 1]
        elif word.startswith("--client="):
            client = word.partition("=")[2]
        elif word == "--home" and place + 1 < len(typed):
            os.environ["HAVERSACK_HOME"] = typed[place + 1]
    found = next((event for event in EVENTS if words and words[0] == event), None)
    return (found, client) if client else (None, "")


def _payload() -> dict[str, Any]:
    data = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(MOST_READ + 1)
    if len(data) > MOST_READ:
        raise ValueError(f"the payload is over {MOST_READ:,} bytes")
    sent = json.loads(data or b"{}")
    if not isinstance(sent, dict):
        raise ValueError("the payload is not an object")
    return sent


def _answered(host: Host, event: Event, sent: dict[str, Any]) -> str:
    from haversack.hosts.hooks.events import answer
    from haversack.hosts.hooks.payloads import read

    payload = read(host, event, sent)
    return answer(host, payload) if payload.session_id else ""


def _note_run(host: Host) -> None:
    """Note when a hook of the host ran last, for `haversack doctor hosts`."""
    from haversack.config import default_home

    path = os.path.join(default_home(os.environ), "hosts", "seen", host.name)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        os.utime(path)
    except OSError:
        return


def _log(line: str) -> None:
    """Add a line to the log of hooks; a log that cannot be written is ignored."""
    from haversack.config import default_home

    path = os.path.join(default_home(os.environ), "logs", "hooks.log")
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > _LARGEST_LOG:
            os.replace(path, f"{path}.1")
        import time

        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with open(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "a", encoding="utf-8") as file:
            file.write(f"{moment} {' '.join(line.split())[:500]}\n")
    except OSError:
        return
