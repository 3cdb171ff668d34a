"""The MCP door: JSON-RPC on standard input and output, in both eras of the protocol."""

from haversack.mcp.selecting import select_tools
from haversack.mcp.serving import serve

__all__ = ["select_tools", "serve"]
