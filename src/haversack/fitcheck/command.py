"""`haversack fitcheck`: what is typed, and the report that is printed."""

from haversack import terminal
from haversack.argument_parser import plain_parser


def run(typed: list[str]) -> int:
    """Run `haversack fitcheck`."""
    parser = plain_parser(
        "fitcheck",
        "Try any MCP server's tools at many token budgets and report what does not fit. Only tools that read are\n"
        "called, by their annotations or, where they have none, by their names. Without a command it is this\n"
        "program's own server, on a store made up for the purpose. --prepare and --fill write to the server's\n"
        "store: start it on one made for that.",
        "haversack fitcheck --replies 10000",
        "haversack fitcheck -- uvx some-memory-server --db notes.db",
        "haversack fitcheck --fill save_note --tool ask -- uvx some-memory-server --db new.db",
    )
    parser.add_argument("--replies", type=int, default=1_000, metavar="N", help="how many to look at (1000)")
    parser.add_argument("--profile", default="o200k", help="how tokens are counted (o200k)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="other arguments are made up for another")
    parser.add_argument(
        "--tool", action="append", default=[], metavar="NAME", help="also call this one; may be given again"
    )
    parser.add_argument(
        "--prepare",
        default="",
        metavar="CALLS.jsonl",
        help='first make these: {"tool": ..., "arguments": {...}} a line',
    )
    parser.add_argument("--fill", default="", metavar="TOOL", help="first save made-up texts through this tool")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="after --, what starts the server")
    parsed = parser.parse_args(typed)
    from haversack.fitcheck import check

    options = check.CheckOptions(
        replies=parsed.replies, profile=parsed.profile, seed=parsed.seed,
        tools=parsed.tool, prepare=parsed.prepare, fill=parsed.fill,
    )  # fmt: skip
    report, violations = check.run(parsed.command, options, as_json=parsed.json)
    terminal.show(report)
    return 1 if violations else 0
