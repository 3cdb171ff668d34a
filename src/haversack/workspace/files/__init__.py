"""Files: listing, reading, describing."""
