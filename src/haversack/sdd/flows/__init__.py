"""State machines and their steps."""
