"""The commands `haversack wrap` and `haversack gateway`: their options, and the processes they start."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import Empty
from typing import TYPE_CHECKING, Any

from haversack.errors import InvalidArgument
from haversack.gateway.settings import MODES, Server, Settings
from haversack.processes import stop_signals, stopped_by

if TYPE_CHECKING:
    from queue import SimpleQueue

    from haversack.argument_parser import Parser
    from haversack.gateway.wrap import End

_LAST_WORDS_SECONDS = 5.0
_CTRL_C_SECONDS = 0.5


def wrap(typed: list[str]) -> int:
    """Stand between a client and a server, and return the server's exit code."""
    options, command = _split(typed)
    given = _plainly_given(options) if command else None
    if given is None:
        given = vars(_wrap_parser().parse_args(options))
    if given["home"]:
        os.environ["HAVERSACK_HOME"] = given["home"]
    if not command:
        raise InvalidArgument("no command to wrap", hint="haversack wrap [options] -- COMMAND ARGUMENTS...")
    settings = Settings(
        budget=_budget(given["budget"]),
        tools=given["tools"],
        compress=given["compress"] == "safe",
        view=given["view"],
        structured=given["structured"],
        keep_in_memory=given["keep"] == "memory",
        account=given["account"],
        cut_resources=False,
    )
    return run(settings, Server(tuple(command)))


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "tools": MODES,
    "compress": ("safe", "off"),
    "view": ("auto", "content", "structured", "both"),
    "structured": ("widen", "strip", "keep"),
    "keep": ("store", "memory"),
}
"""What the options of `wrap` may be; the first of each is what it is when it is not given."""


def _plainly_given(options: Sequence[str]) -> dict[str, Any] | None:
    """The options if each is written in full before its value; None where a parser has to read them.

    The server is started first of all, and loading a parser takes as long as starting some servers.
    """
    given: dict[str, Any] = {"budget": None, "account": "", "home": ""}
    given |= {name: each[0] for name, each in _CHOICES.items()}
    for place in range(0, len(options), 2):
        name, value = options[place][2:], "".join(options[place + 1 : place + 2])
        is_known = options[place].startswith("--") and name in given
        if not is_known or value.startswith("-") or value not in _CHOICES.get(name, (value,)) or not value:
            return None
        given[name] = value
    return given


def _split(typed: list[str]) -> tuple[list[str], list[str]]:
    """The options, and everything after the first `--` as it stands."""
    if "--" not in typed:
        return typed, []
    place = typed.index("--")
    return typed[:place], typed[place + 1 :]


def _wrap_parser() -> "Parser":
    from haversack.argument_parser import plain_parser

    parser = plain_parser(
        "wrap",
        "Run an MCP server so that every tool result fits a token budget; what does not fit is one call away.",
        "haversack wrap -- npx -y @modelcontextprotocol/server-filesystem .",
        "haversack wrap --budget 2000 -- uvx mcp-server-git",
        "claude mcp add files -- haversack wrap -- npx -y @modelcontextprotocol/server-filesystem .",
        usage="haversack wrap [options] -- COMMAND ARGUMENTS...",
    )
    parser.add_argument("--budget", metavar="N", help="tokens of a tool result (default: what the account allows)")
    for name, about in {
        "tools": "how the tool list is shown",
        "compress": "shorter forms of long results",
        "view": "what the client shows",
        "structured": "what happens to structuredContent",
        "keep": "where cut results are kept",
    }.items():
        parser.add_argument(f"--{name}", choices=_CHOICES[name], default=_CHOICES[name][0], help=about)
    parser.add_argument("--account", default="", metavar="HANDLE", help="the budget account to debit")
    parser.add_argument("--home", default="", metavar="FOLDER", help="the data folder, where it is not the usual one")
    return parser


def _budget(text: str | None) -> int | None:
    if text is None:
        return None
    from haversack.tokens.budget import parse_max_tokens

    return parse_max_tokens(text, name="--budget")


def run(settings: Settings, server: Server) -> int:
    """Start the server, pump until one side ends, and return the exit code."""
    from haversack.gateway.upstream.child import Child
    from haversack.gateway.upstream.watchdog import Watchdog

    watchdog = Watchdog()
    # The server starts before the rest of this program is loaded: both take their time together.
    child = Child(server.command, watchdog)
    from haversack.app import App
    from haversack.gateway.desk import Desk
    from haversack.gateway.fitting.delivery import Delivery
    from haversack.gateway.wrap import End, Wrap

    delivery = Delivery(App, account=settings.account, keep_in_memory=settings.keep_in_memory)
    desk = Desk(settings, delivery, _own_output())
    pumps = Wrap(desk, server, child, 0)

    with stopped_by(lambda number, _: pumps.ended.put(End("signal", number)), stop_signals()):
        pumps.start()
        end = _awaited(pumps.ended)
        code = child.stop()
        if end.reason == "client left":
            # The server's last output is delivered before its end is reported.
            with suppress(Empty):
                pumps.ended.get(timeout=_LAST_WORDS_SECONDS)
        # A server may end by itself just when its client does; whoever still reads is told.
        is_own = end.reason == "server ended" or (end.reason == "client left" and not child.was_ended)
        desk.settle()
        pumps.finish(code if is_own else None)
        desk.close()
        watchdog.close()
    if end.reason == "signal":
        return 128 + end.signal
    return code if is_own else 0


def gateway(typed: list[str]) -> int:
    """Serve several servers at one door until the client leaves, or import a client's servers."""
    if typed[:1] == ["import"]:
        from haversack.gateway.client_servers import command

        return command(typed[1:])
    from haversack.argument_parser import plain_parser

    parser = plain_parser(
        "gateway",
        "Put several MCP servers behind one door, every tool result within a token budget.",
        "haversack gateway servers.toml",
        "haversack gateway import claude > servers.toml",
        "claude mcp add all -- haversack gateway",
    )
    parser.add_argument("file", nargs="?", default="", help="a TOML file; else [gateway] in config.toml")
    parsed = parser.parse_args(typed)
    from haversack.config import CONFIG_FILE, default_home
    from haversack.gateway.configuration import read

    home = default_home(os.environ)
    settings, servers = read(parsed.file or os.path.join(home, CONFIG_FILE), os.environ)
    return run_several(settings, servers, home)


def run_several(settings: Settings, servers: Sequence[Server], home: str) -> int:
    """Start the servers and pump until the client leaves."""
    from haversack.app import App
    from haversack.gateway.desk import Desk
    from haversack.gateway.fitting.delivery import Delivery
    from haversack.gateway.listing.last_lists import LastLists
    from haversack.gateway.several import Gateway
    from haversack.gateway.upstream.watchdog import Watchdog
    from haversack.gateway.wrap import End

    watchdog = Watchdog()
    delivery = Delivery(
        App,
        account=settings.account,
        keep_in_memory=settings.keep_in_memory,
        log_arguments=settings.log_arguments,
    )
    desk = Desk(settings, delivery, _own_output())
    door = Gateway(desk, list(servers), watchdog, 0, LastLists(home))
    with stopped_by(lambda number, _: door.stopped.put(End("signal", number)), stop_signals()):
        door.start()
        end = _awaited(door.stopped)
        door.stop()
        desk.settle()
        desk.close()
        watchdog.close()
    return 128 + end.signal if end.reason == "signal" else 0


def _awaited(ends: "SimpleQueue[End]") -> "End":
    """The first reason to end; looked for now and then, because Windows interrupts no wait for Ctrl-C."""
    while True:
        with suppress(Empty):
            return ends.get(timeout=_CTRL_C_SECONDS if sys.platform == "win32" else None)


def _own_output() -> int:
    """The descriptor of the client; whatever else is printed goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    return own
