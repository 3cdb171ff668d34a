"""The memory: saving, searching, sessions, relations; no rendering."""
