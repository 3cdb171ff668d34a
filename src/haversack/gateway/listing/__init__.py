"""Which tools the client is shown, and how."""
