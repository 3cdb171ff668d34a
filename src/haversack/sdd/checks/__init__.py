"""What a plan is checked for."""
