"""Git, read only."""
