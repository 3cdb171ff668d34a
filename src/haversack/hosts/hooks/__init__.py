"""What hosts call at each event of a session, and what they get for it."""
