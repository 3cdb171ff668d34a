"""Export and import of records: files, and stores of another engine."""
