"""Search by meaning, where a model is installed."""
