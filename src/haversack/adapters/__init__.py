"""Haversack inside other frameworks: each module needs the framework it is named after, and nothing else does."""
