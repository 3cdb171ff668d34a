"""Projects: which one a folder belongs to, what it is called, and changing whole ones."""
