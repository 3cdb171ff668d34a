"""Transcripts that hosts keep, one reader for each format, read into one shape."""
