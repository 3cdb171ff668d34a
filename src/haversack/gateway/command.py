"""The commands `haversack wrap` and `haversack gateway`: what was typed, and the processes it starts."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty
from typing import TYPE_CHECKING

from haversack.argument_parser import Parser, plain_parser
from haversack.errors import InvalidArgument
from haversack.gateway.settings import MODES, Server, Settings
from haversack.processes import stop_signals, stopped_by

if TYPE_CHECKING:
    from queue import SimpleQueue

    from haversack.gateway.wrap import End

_LAST_WORDS_SECONDS = 5.0
_CTRL_C_SECONDS = 0.5


def wrap(typed: list[str]) -> int:
    """Stand between a client and a server, and return the server's exit code."""
    options, command = _split(typed)
    parsed = _wrap_parser().parse_args(options)
    if not command:
        raise InvalidArgument("no command to wrap", hint="haversack wrap [options] -- COMMAND ARGUMENTS...")
    settings = Settings(
        budget=_budget(parsed.budget),
        tools=parsed.tools,
        compress=parsed.compress == "safe",
        view=parsed.view,
        structured=parsed.structured,
        keep_in_memory=parsed.keep == "memory",
        account=parsed.account,
        cut_resources=False,
    )
    return run(settings, Server(tuple(command)))


def _split(typed: list[str]) -> tuple[list[str], list[str]]:
    """The options, and everything after the first `--` as it stands."""
    if "--" not in typed:
        return typed, []
    place = typed.index("--")
    return typed[:place], typed[place + 1 :]


def _wrap_parser() -> Parser:
    parser = plain_parser(
        "wrap",
        "Run an MCP server so that every tool result fits a token budget; what does not fit is one call away.",
        "haversack wrap -- npx -y @modelcontextprotocol/server-filesystem .",
        "haversack wrap --budget 2000 -- uvx mcp-server-git",
        "claude mcp add files -- haversack wrap -- npx -y @modelcontextprotocol/server-filesystem .",
        usage="haversack wrap [options] -- COMMAND ARGUMENTS...",
    )
    parser.add_argument("--budget", metavar="N", help="tokens of a tool result (default: what the account allows)")
    parser.add_argument("--tools", choices=MODES, default="pass", help="how the tool list is shown")
    parser.add_argument("--compress", choices=("safe", "off"), default="safe", help="shorter forms of long results")
    parser.add_argument(
        "--view", choices=("auto", "content", "structured", "both"), default="auto", help="what the client shows"
    )
    parser.add_argument(
        "--structured", choices=("widen", "strip", "keep"), default="widen", help="what happens to structuredContent"
    )
    parser.add_argument("--keep", choices=("store", "memory"), default="store", help="where cut results are kept")
    parser.add_argument("--account", default="", metavar="HANDLE", help="the budget account to debit")
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
            # What the server still had to say comes before its end.
            with suppress(Empty):
                pumps.ended.get(timeout=_LAST_WORDS_SECONDS)
        desk_code = code if end.reason == "server ended" else None
        desk.settle()
        pumps.finish(desk_code)
        desk.close()
        watchdog.close()
    if end.reason == "signal":
        return 128 + end.signal
    return code if end.reason == "server ended" else 0


def gateway(typed: list[str]) -> int:
    """Serve several servers at one door until the client leaves, or import a client's servers."""
    if typed[:1] == ["import"]:
        from haversack.gateway.client_servers import command

        return command(typed[1:])
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
