"""Pooling logic without Django, Celery, settings, clock or global randomness."""
