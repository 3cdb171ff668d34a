"""The tools of the plan."""
