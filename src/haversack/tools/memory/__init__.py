"""The tools of the memory."""
