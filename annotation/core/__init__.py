"""Computations of annotation without database, Django, clock or global randomness (checked by a
test)."""
