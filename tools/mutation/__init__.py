"""Mutation testing: which small changes of the code no test notices."""
