"""The door for other people's tools: it stands between a client and MCP servers on standard input and output."""
