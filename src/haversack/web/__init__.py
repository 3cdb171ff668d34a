"""The HTTP door: MCP over Streamable HTTP, a JSON interface to the tools, and a page."""
