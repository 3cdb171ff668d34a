"""Upstream servers as processes."""
