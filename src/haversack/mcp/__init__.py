"""The server end of MCP without a transport: conversation, methods, definitions, in both eras of the protocol."""
