"""Everything that changes what is remembered."""
