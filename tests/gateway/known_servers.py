"""Well-known servers of other people, as `make test-gateway` installs them: how each is started, and a harmless call."""

from pathlib import Path
from typing import Any

from haversack.values import record
from tests.gateway.packages import FOLDER, MODULES, NODE, node_server, python_server


@record
class Known:
    """One server: what it needs, its command, its environment, and calls that change nothing."""

    name: str
    needs: Path
    command: list[str]
    calls: tuple[tuple[str, dict[str, Any]], ...]
    variables: dict[str, str]


def _node(name: str, path: str, *arguments: str) -> tuple[Path, list[str]]:
    return MODULES / name, [str(NODE), str(MODULES / name / path), *arguments]


def _own(name: str, *arguments: str) -> tuple[Path, list[str]]:
    return MODULES / "@modelcontextprotocol" / name, node_server(name, *arguments)


def _python(module: str, *arguments: str) -> tuple[Path, list[str]]:
    return FOLDER / "python" / module, python_server(module, *arguments)


def known_servers(folder: Path) -> list[Known]:
    """Every server, with what it may touch below a folder."""
    made: list[tuple[str, tuple[Path, list[str]], tuple[tuple[str, dict[str, Any]], ...], dict[str, str]]] = [
        ("everything", _own("server-everything"), (("echo", {"message": "hi"}), ("get-tiny-image", {})), {}),
        ("filesystem", _own("server-filesystem", str(folder)), (("list_directory", {"path": str(folder)}),), {}),
        ("memory", _own("server-memory"), (("read_graph", {}),), {"MEMORY_FILE_PATH": str(folder / "graph.jsonl")}),
        (
            "sequential-thinking",
            _own("server-sequential-thinking"),
            (
                (
                    "sequentialthinking",
                    {"thought": "x", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
                ),
            ),
            {},
        ),
        ("playwright", _node("@playwright/mcp", "cli.js", "--headless"), (("browser_close", {}),), {}),
        ("context7", _node("@upstash/context7-mcp", "dist/index.js"), (), {}),
        (
            "chrome-devtools",
            _node("chrome-devtools-mcp", "build/src/bin/chrome-devtools-mcp.js", "--headless", "--no-usage-statistics"),
            (),
            {},
        ),
        ("notion", _node("@notionhq/notion-mcp-server", "bin/cli.mjs"), (), {"NOTION_TOKEN": "ntn_none"}),
        ("firecrawl", _node("firecrawl-mcp", "dist/index.js"), (), {"FIRECRAWL_API_KEY": "fc-none"}),
        (
            "mongodb",
            _node("mongodb-mcp-server", "dist/esm/index.js"),
            (),
            {"MDB_MCP_TELEMETRY": "disabled", "MDB_MCP_LOGGERS": "stderr", "HOME": str(folder)},
        ),
        ("github", _own("server-github"), (("search_code", {}),), {}),
        ("git", _python("mcp_server_git"), (("git_status", {"repo_path": str(folder / "none")}),), {}),
        ("time", _python("mcp_server_time", "--local-timezone", "UTC"), (("convert_time", {"time": "12:00"}),), {}),
        ("fetch", _python("mcp_server_fetch"), (("fetch", {"url": "not a url"}),), {}),
        ("duckdb", _python("mcp_server_motherduck", "--db-path", ":memory:", "--read-write"), (), {}),
        ("markdown", _python("markitdown_mcp.__main__"), (("convert_to_markdown", {"uri": "data:,words"}),), {}),
    ]
    return [Known(name, needs, command, calls, variables) for name, (needs, command), calls, variables in made]
