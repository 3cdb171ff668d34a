"""The door on standard input and output."""
