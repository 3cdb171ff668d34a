"""The door for foreign tools: it sits between a client and MCP servers on standard input and output."""
