"""What a session leaves behind: its activity, its learnings, its digest, and the sessions that hosts kept."""
