"""The tools that read files and git."""
