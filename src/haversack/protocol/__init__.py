"""JSON-RPC on lines: messages, and a client for any server."""
