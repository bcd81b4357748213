"""Read and write files. These modules use no Django, Celery, settings, clock or global
randomness."""
