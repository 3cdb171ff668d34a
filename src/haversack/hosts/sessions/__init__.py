"""The records of a session: its activity, its learnings, its digest, and sessions read from transcripts."""
