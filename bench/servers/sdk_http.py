"""A trivial server of the official SDK over Streamable HTTP, on the port given."""

import logging
import sys

from mcp.server.mcpserver import MCPServer

logging.disable(logging.INFO)
server = MCPServer("sdk")


@server.tool()
async def echo(title: str) -> str:
    """Give back what was sent."""
    return title


server.run("streamable-http", port=int(sys.argv[1]), stateless_http=True, json_response=True)
