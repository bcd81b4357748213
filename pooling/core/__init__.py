"""Pure code of pooling: no Django, Celery, settings, clock or global randomness."""
