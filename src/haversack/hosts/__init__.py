"""The hosts door: programs that agents live in call hooks here, and are connected and disconnected here."""
