"""Readers and writers of files: no Django, Celery, settings, clock or global randomness."""
