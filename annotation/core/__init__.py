"""What annotation computes without a database: only Python here, no Django, no clock, no global
randomness (held by a test)."""
