"""One module per host, each with the facts about it in `HOST`; a new host is a new module here."""
