"""What is remembered: saving, searching, sessions, relations; no rendering."""
