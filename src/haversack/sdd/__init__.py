"""Spec-driven development: intent kept as Markdown beside the code, moved by small state machines."""
