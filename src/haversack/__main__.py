"""The program: the command line, and the other doors it opens."""

import sys

from haversack import cli


def main() -> int:
    """Run what was typed and return the exit code."""
    return cli.main(doors={"serve": _serve})


def _serve(typed: list[str]) -> int:
    from haversack.app import App
    from haversack.cli.options import plain_parser
    from haversack.mcp import serve

    parser = plain_parser(
        "serve",
        "Serve the tools over MCP on standard input and output.",
        "haversack serve",
        "haversack serve --tools memory,budget,read_file",
        "claude mcp add haversack -s user -- haversack serve",
    )
    parser.add_argument("--tools", default="", help="sets (memory, workspace, sdd, budget, all) or names, with commas")
    parser.add_argument("--log-file", default="", metavar="FILE", help="also keep a log here; it is rotated")
    parsed = parser.parse_args(typed)
    names = [name.strip() for name in parsed.tools.split(",") if name.strip()]
    return serve(App(own_account=True), tool_names=names, log_file=parsed.log_file)


if __name__ == "__main__":
    sys.exit(main())
