"""Plain text: words, stems, times, clipping, and redaction of secrets."""
