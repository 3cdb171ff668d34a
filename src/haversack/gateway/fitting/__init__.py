"""Foreign results within a budget."""
