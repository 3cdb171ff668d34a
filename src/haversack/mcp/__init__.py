"""The MCP door: JSON-RPC on standard input and output, in both eras of the protocol."""

from haversack.mcp.tool_sets import select_tools
from haversack.stdio.server import serve

__all__ = ["select_tools", "serve"]
