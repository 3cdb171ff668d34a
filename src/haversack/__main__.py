"""The program: the command line, and the other doors it opens."""

import gc
import os
import sys
from typing import NoReturn

from haversack.cli.doors import Door

DOORS = (
    Door(
        "serve",
        "hosts and servers",
        "Serve the tools over MCP on standard input and output.",
        "haversack.__main__:serve",
    ),
    Door(
        "install",
        "hosts and servers",
        "Connect the agents' programs on this machine.",
        "haversack.hosts.commands:install",
    ),
    Door("uninstall", "hosts and servers", "Take back what install wrote.", "haversack.hosts.commands:uninstall"),
    Door(
        "backfill",
        "hosts and servers",
        "Remember the sessions that hosts have kept.",
        "haversack.hosts.sessions.backfill:run",
    ),
    Door(
        "doctor hosts",
        "hosts and servers",
        "Say whether hosts are connected and what was written for them works.",
        "haversack.hosts.examination:run",
    ),
    Door(
        "doctor",
        "upkeep",
        "Say what is wrong with this installation, its store and its hosts.",
        "haversack.__main__:doctor",
        listed=False,  # the tool of this name is
    ),
    Door(
        "hook", "hosts and servers", "Answer an event of a host; hosts run this.", "haversack.hosts.hooks.command:main"
    ),
    Door("web", "hosts and servers", "Serve the page, MCP and JSON over HTTP.", "haversack.web.commands:web"),
    Door("token", "hosts and servers", "Make, list and revoke HTTP tokens.", "haversack.web.commands:token"),
    Door(
        "wrap",
        "hosts and servers",
        "Run another MCP server so that its tool results fit a token budget.",
        "haversack.gateway.command:wrap",
    ),
    Door(
        "gateway",
        "hosts and servers",
        "Put several MCP servers behind one door, or import those of a client.",
        "haversack.gateway.command:gateway",
    ),
)
"""The commands of other rooms; a new one is one line here, and its function uses `haversack.argument_parser`."""

COLLECT_AFTER = 50_000
"""Objects after which a single command collects garbage: imports make none, and collecting costs time."""
SERVERS = ("serve", "web", "wrap", "gateway")
"""Commands that keep running: they end normally and run their exit handlers."""


def program() -> NoReturn:
    """Run the command typed and end the process; a single command skips the interpreter's clean-up."""
    lasts = sys.argv[1:2] and sys.argv[1] in SERVERS
    if not lasts:
        gc.set_threshold(COLLECT_AFTER)
    code = main()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the reader closed the pipe
    except OSError as error:
        os.write(2, f"haversack: the output could not be written: {error.strerror}\n".encode())
        code = code or 1
    if lasts:
        sys.exit(code)
    # Clean-up of a hundred modules takes a third of the time that importing them took.
    os._exit(code)


def main() -> int:
    """Run the command typed and return the exit code."""
    from haversack import cli

    return cli.main(doors=DOORS)


def serve(typed: list[str]) -> int:
    """Serve MCP clients until they leave, and return the exit code."""
    from haversack.app import open_caller
    from haversack.argument_parser import plain_parser
    from haversack.stdio.server import serve

    parser = plain_parser(
        "serve",
        "Serve the tools over MCP: on standard input and output, or with --http on a port.",
        "haversack serve",
        "haversack serve --tools memory,budget,read_file",
        "haversack serve --http 7420",
        "claude mcp add haversack -s user -- haversack serve",
    )
    parser.add_argument("--tools", default="", help="sets (memory, workspace, sdd, budget, all) or names, with commas")
    parser.add_argument("--log-file", default="", metavar="FILE", help="also keep a log here; it is rotated")
    parser.add_argument(
        "--http", nargs="?", const="", default=None, metavar="[HOST:]PORT", help="serve on a port (127.0.0.1:7420)"
    )
    if any(word.partition("=")[0] == "--http" for word in typed) or "--help" in typed or "-h" in typed:
        from haversack.web import commands

        commands.add_options(parser)
    parsed = parser.parse_args(typed)
    names = [name.strip() for name in parsed.tools.split(",") if name.strip()]
    if parsed.http is not None:
        return commands.serve_http(parsed.http, parsed, names)
    from haversack.hosts.hooks import server_notes

    caller = open_caller(own_account=True)
    home = caller.config.home
    # The hooks of the host that started this server report prompts and compactions to its account.
    caller.on_account = lambda account: server_notes.write(home, account)
    if caller.config.budget.account:
        server_notes.write(home, caller.config.budget.account)
    try:
        return serve(caller, tool_names=names, log_file=parsed.log_file)
    finally:
        server_notes.remove(home)


def doctor(typed: list[str]) -> int:
    """Run the tool `doctor` with the hosts examined too, and return the exit code."""
    from haversack.cli import tool_command
    from haversack.hosts.examination import examine_hosts
    from haversack.tools.registry import find_command
    from haversack.tools.upkeep.doctor import also_examined

    also_examined.append(examine_hosts)
    found = find_command("doctor")
    assert found is not None
    return tool_command.run(*found, typed)


if __name__ == "__main__":
    program()
