"""The checks of a plan."""
