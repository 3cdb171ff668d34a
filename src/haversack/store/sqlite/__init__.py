"""What is SQLite's own."""
