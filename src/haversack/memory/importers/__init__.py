"""Memories of other programs, read from their own files and offered as records of this one."""
