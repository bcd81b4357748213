"""Annotation logic without database, Django, clock or global randomness (checked by a test)."""
