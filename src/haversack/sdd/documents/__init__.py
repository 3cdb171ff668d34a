"""Artifacts on disk."""
