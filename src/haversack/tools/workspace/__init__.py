"""The tools that look around."""
