"""Files, text search and git under one root, read and never written; results are snapshots that can be resumed."""
