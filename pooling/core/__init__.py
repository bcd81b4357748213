"""Pure numeric code of pooling: no Django, Celery, settings, clock or global randomness."""
