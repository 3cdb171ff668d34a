"""Measures what the gateway saves on three well-known servers and writes the table into docs/gateway.md."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from haversack.gateway.listing.lists import edited_page, front  # noqa: E402
from haversack.gateway.own_tools import definitions  # noqa: E402
from haversack.tokens import count_tokens  # noqa: E402
from tests.gateway.known_servers import known_servers  # noqa: E402
from tests.gateway.packages import node_server, python_server  # noqa: E402
from tests.gateway.wire import Wire, wrapped  # noqa: E402

BUDGET = 2_000
LISTS = "<!-- lists measured by tools/measure_gateway.py -->\n"
START, END = "<!-- measured by tools/measure_gateway.py -->\n", "<!-- end -->"
FILE = str(ROOT / "src/haversack/store/observations.py")
FOLDER = str(ROOT / "src/haversack")
REPOSITORY = str(ROOT)


def shown(result: dict[str, Any]) -> int:
    """The tokens a client sees that shows structuredContent where there is some."""
    structured = result.get("structuredContent")
    if structured is not None:
        return count_tokens(json.dumps(structured, ensure_ascii=False, separators=(",", ":")))
    return sum(count_tokens(block.get("text", "")) for block in result["content"])


def lists(folder: str) -> tuple[str, str]:
    """The tools of all servers that run here, as each mode shows them: a table and a line above it."""
    tools: list[dict[str, Any]] = []
    served = 0
    for server in known_servers(Path(folder)):
        if not server.needs.exists():
            continue
        with tempfile.TemporaryDirectory() as home:
            wire = Wire(server.command, Path(home), PATH=os.environ["PATH"], **server.variables)
            wire.greet("test")
            line = wire.ask("tools/list", {}, "list")
            while json.loads(line).get("id") != "list":
                line = wire.line()
            tools += json.loads(line)["result"]["tools"]
            served += 1
            wire.close()
    own = definitions((), 24)
    page = json.dumps({"tools": tools}, ensure_ascii=False)

    def edited(mode: str) -> object:
        text = edited_page(page, structured="widen", slim=mode == "slim", tokens=8_000, own=own)
        return json.loads(text)["tools"]

    shown = {
        "alone": tools,
        "`pass`": edited("pass"),
        "`slim`": edited("slim"),
        "`index`": [*front("index", tools), *own],
        "`search`": [*front("search", tools), *own],
    }
    counted = {
        mode: count_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        for mode, value in shown.items()
    }
    rows = [f"| {mode} | {count:,} | {count / counted['alone']:.0%} |" for mode, count in counted.items()]
    heading = f"The {len(tools)} tools of {served} servers, as a client that loads every tool sends them (o200k):"
    return "\n".join(["| list | tokens | of the whole |", "|---|---|---|", *rows]), heading


def main() -> int:
    """Run each call directly and through the gateway."""
    files, git = (
        node_server("server-filesystem", REPOSITORY),
        python_server("mcp_server_git", "--repository", REPOSITORY),
    )
    calls: list[tuple[str, list[str], str, dict[str, object]]] = [
        ("filesystem", files, "directory_tree", {"path": FOLDER}),
        ("filesystem", files, "read_text_file", {"path": FILE}),
        (
            "filesystem",
            files,
            "read_multiple_files",
            {"paths": [FILE, str(ROOT / "README.md"), str(ROOT / "Makefile")]},
        ),
        ("git", git, "git_log", {"repo_path": REPOSITORY, "max_count": 100}),
        ("git", git, "git_diff", {"repo_path": REPOSITORY, "target": "HEAD~20"}),
        ("everything", node_server("server-everything"), "get-env", {}),
    ]
    lines = [f"| server | call | direct | through `wrap --budget {BUDGET}` |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as home:
        for name, command, tool, arguments in calls:
            figures = []
            for way in (command, wrapped("--budget", str(BUDGET), command=command)):
                wire = Wire(way, Path(home), PATH=os.environ["PATH"])
                wire.greet("claude-code")
                line = wire.call(tool, "measured", **arguments)
                while json.loads(line).get("id") != "measured":
                    line = wire.line()
                figures.append(shown(json.loads(line)["result"]))
                wire.close()
            lines.append(f"| {name} | `{tool}` | {figures[0]:,} | {figures[1]:,} |")
    page = ROOT / "docs/gateway.md"
    modes, heading = lists(tempfile.gettempdir())
    before, rest = page.read_text(encoding="utf-8").split(START)
    table = "\n".join(lines)
    told = (
        "Tokens (o200k) of what Claude Code shows its model, on this repository; the rest of each is one `more` or\n"
        f"`find_in` away:\n\n{table}\n"
    )
    _, _, after = rest.partition(END)
    between, rest = after.split(LISTS)
    written = f"{before}{START}{told}{END}{between}{LISTS}{heading}\n\n{modes}\n{END}{rest.partition(END)[2]}"
    page.write_text(written, encoding="utf-8")
    sys.stdout.write(f"{table}\n{modes}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
