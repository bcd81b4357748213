"""Django's PostgreSQL with an end to waiting."""
