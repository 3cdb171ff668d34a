"""Plain text: words, stems, times, and what must not be kept."""
