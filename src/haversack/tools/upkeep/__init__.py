"""The tools that keep the store in order."""
