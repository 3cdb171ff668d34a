"""Records that leave the store and come into it: files, and stores of another engine."""
