"""Saving, changing, deleting and compacting observations."""
