"""The tools of the account."""
