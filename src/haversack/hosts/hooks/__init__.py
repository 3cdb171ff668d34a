"""The hooks that hosts run at each event of a session, and their output."""
